"""One function for all methods: they agree, report how, and refuse what they cannot do."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from edge_cases import SMOOTH, random_windows, true_rate, window_sets
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import BudgetError, PlanError
from weft.plan.edges import METHODS, Rate, edge_rate, measure, weaveability
from weft.query.table import WindowTable
from weft.query.window import Window


def test_all_methods_agree_with_bit_set_on_thousands_of_sets():
    chance = np.random.default_rng(11)
    for _ in range(1500):
        n = int(chance.integers(1, 9))
        slide = chance.choice(SMOOTH, n)
        table = WindowTable(
            range=chance.integers(1, 200, n), slide=slide, offset=chance.integers(-60, 60, n)
        )
        truth = edge_rate(table, "bitset")
        for method in METHODS:
            assert edge_rate(table, method) == pytest.approx(truth, rel=1e-11)
        assert edge_rate(table, budget=0) == pytest.approx(truth, rel=1e-12)  # by elimination


@settings(deadline=None, max_examples=250)
@given(window_sets)
def test_fractions_are_exact_by_every_method(windows):
    truth = true_rate(windows)
    for method in METHODS:
        assert edge_rate(windows, method, fractions=True) == truth
    assert edge_rate(windows) == pytest.approx(float(truth), rel=1e-12)


@settings(deadline=None, max_examples=100)
@given(window_sets, st.sampled_from(("pairs", "panes")))
def test_methods_agree_on_panes_as_on_pairs(windows, pieces):
    truth = edge_rate(windows, "bitset", fractions=True, pieces=pieces)
    for method in METHODS:
        assert edge_rate(windows, method, fractions=True, pieces=pieces) == truth


def test_the_answer_says_how_it_was_found():
    windows = [Window(range=13, slide=s) for s in (12, 18, 20, 15, 28)]
    assert measure(windows[:1]).how == "closed form"
    assert measure(windows).how == "recursion"
    assert measure(windows, budget=0).how == "elimination"
    assert measure(windows, "f1").how == "inclusion-exclusion"
    assert measure(windows, "bitset").how == "bit set"
    for method in METHODS:
        rate = measure(windows, method)
        assert rate.exact
        assert rate.work > 0
        assert (rate.interval, rate.confidence) == (None, None)
        assert float(rate) == edge_rate(windows, method)


def test_on_a_time_axis_edge_rate_is_per_second_and_measure_per_microsecond():
    windows = [
        Window(range="1 hour", slide="10 minutes"),
        Window(range="1 hour", slide="15 minutes"),
    ]
    for method in METHODS:
        assert edge_rate(windows, method, fractions=True) == Fraction(4, 30 * 60)
        assert edge_rate(windows, method) == pytest.approx(4 / 1800, rel=1e-12)
        exactly = measure(windows, method, fractions=True).value
        assert exactly == Fraction(4, 30 * 60 * 1_000_000)
        assert measure(windows, method).value == pytest.approx(float(exactly), rel=1e-12)


def test_no_windows_have_no_edges():
    for method in METHODS:
        assert edge_rate([], method) == 0.0
        assert edge_rate([], method, fractions=True) == Fraction(0)


def test_past_its_budget_bit_set_names_the_method_that_would_do_it():
    windows = [Window(range=p) for p in (9973, 9967, 9949, 9941)]
    with pytest.raises(BudgetError, match=r"'bitset' needs [\d,]+ bytes.*method='exact'"):
        edge_rate(windows, "bitset")
    with pytest.raises(BudgetError, match="budget=8;"):
        edge_rate(windows[:2], "bitset", budget=8)
    assert edge_rate(windows[:2], "bitset") == pytest.approx(edge_rate(windows[:2]))


@pytest.mark.parametrize("fractions", [False, True])
@pytest.mark.parametrize("method", ["f1", "f1_table"])
def test_past_its_budget_f1_names_the_method_that_would_do_it(method, fractions):
    windows = [Window(range=p) for p in (2, 3, 5, 7, 11, 13, 17, 19, 23)]
    with pytest.raises(BudgetError, match=f"'{method}' .*budget=100 groups.*method='exact'"):
        edge_rate(windows, method, budget=100, fractions=fractions)
    assert edge_rate(windows, method, budget=511, fractions=fractions) > 0.8


def test_exact_degrades_and_never_crashes():
    table = random_windows(40, 1000)
    by_recursion = measure(table, budget=10**7)
    by_elimination = measure(table)
    assert (by_recursion.how, by_elimination.how) == ("recursion", "elimination")
    assert by_elimination.value == pytest.approx(by_recursion.value, rel=1e-12)


def test_a_fraction_past_its_budget_is_refused_not_sampled():
    table = random_windows(60, 1000, offsets=True)
    with pytest.raises(BudgetError, match="fractions=False"):
        edge_rate(table, fractions=True, budget=1000)


def test_memory_of_the_gcd_table_is_an_option():
    windows = [Window(range=r, slide=s) for r, s in ((700, 360), (900, 480), (1000, 630))]
    rates = {edge_rate(windows, "f1_table", table_memory=memory) for memory in (0, 1000, 10**6)}
    assert rates == {edge_rate(windows, "f1")}


def test_wrong_options_are_named():
    with pytest.raises(
        PlanError, match=r"method='sieve': accepted are exact, f1, f1_table, bitset"
    ):
        edge_rate([Window(range=2)], "sieve")
    with pytest.raises(PlanError, match="budget=-1"):
        edge_rate([Window(range=2)], budget=-1)


@settings(deadline=None, max_examples=150)
@given(window_sets, window_sets)
def test_weaveability_is_common_edges_of_all_edges(x, y):
    both = true_rate(x + y)
    common = true_rate(x) + true_rate(y) - both
    assert weaveability(x, y) == pytest.approx(float(common / both), abs=1e-12)
    assert weaveability(x, x) == pytest.approx(1.0)


def test_weaveability_needs_two_sets_on_one_axis():
    with pytest.raises(PlanError, match="empty"):
        weaveability([], [Window(range=2)])
    with pytest.raises(PlanError, match="axis"):
        weaveability([Window(range="2 seconds")], [Window(range=2)])


def test_a_rate_in_other_units():
    rate = Rate(0.5, "sampled", 10, exact=False, interval=(0.4, 0.6), confidence=0.99)
    assert rate.per(1) is rate
    assert rate.per(2) == Rate(0.25, "sampled", 10, False, (0.2, 0.3), 0.99)
