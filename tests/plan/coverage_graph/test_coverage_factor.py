"""Algorithms 2 to 4, the paper's examples 7 and 8, and where the paper is wrong."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from coverage_cases import MODES, window_sets
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from weft.plan.coverage.candidates import candidates
from weft.plan.coverage.cost import common_period, recurrence_count
from weft.plan.coverage.factor import (
    add_factors,
    benefits,
    best_factor,
    best_tumbling,
    helps,
    overlap_sum,
)
from weft.plan.coverage.forest import Forest
from weft.plan.coverage.graph import CoverageGraph
from weft.plan.coverage.relation import feeds
from weft.query.table import WindowTable
from weft.query.window import Window

TENS = WindowTable(range=[20, 30, 40])


def tumbling_candidates(
    upstream: Window | None, downstream: WindowTable, rate: float
) -> WindowTable:
    """Algorithm 4, lines 1 to 10: the tumbling candidates that help, longest first.

    A candidate's range divides every downstream range, slide and difference of phases. (The paper
    mentions only the ranges, which is not enough for hopping windows.)
    """
    found = candidates(upstream, downstream, semantics="partitioned", instances="all")
    overlap = overlap_sum(downstream)
    below = 1.0 / rate if upstream is None else float(upstream.range)
    keep = [
        row
        for row, window in enumerate(found)
        if window.range == window.slide and helps(window.range, below, overlap)
    ]
    return found.take(np.array(keep, dtype=np.intp))


def period_difference(factor, upstream, downstream, period):
    """Equation 2 as printed, for tumbling `factor` and `upstream` ranges: c - c'."""
    gain = sum(
        recurrence_count(low, period)
        * (Fraction(low.range, factor) - Fraction(low.range, upstream))
        for low in downstream
    )
    return gain + Fraction(period, factor) * Fraction(factor, upstream)


def printed_algorithm_3(factor, upstream, downstream, period):
    """Algorithm 3 as printed, in numbers of one period."""
    if len(downstream) >= 2:
        return True
    (only,) = downstream
    k, m = Fraction(only.range, only.slide), Fraction(period, only.range)
    if k == 1:
        return False
    if k >= 3 and m >= 3:
        return True
    return Fraction(factor, upstream) >= 1 + m / ((m - 1) * (k - 1))


@st.composite
def tumbling_patterns(draw):
    """Figure 9 with tumbling W and W_f: ranges of both, and what they feed (no gaps)."""
    upstream = draw(st.integers(1, 4))
    factor = upstream * draw(st.integers(2, 4))
    low = st.builds(
        lambda slides, more: Window(range=factor * slides * more, slide=factor * slides),
        st.integers(1, 4),
        st.integers(1, 5),
    )
    return upstream, factor, draw(st.lists(low, min_size=1, max_size=3, unique=True))


@settings(deadline=None, max_examples=300)
@given(tumbling_patterns(), st.integers(2, 50))
def test_printed_algorithm_3_is_equation_3_and_ours_is_it_in_the_long_run(pattern, times):
    upstream, factor, downstream = pattern
    period = common_period(downstream) * times
    difference = period_difference(factor, upstream, downstream, period)
    assert printed_algorithm_3(factor, upstream, downstream, period) == (difference <= 0)
    table = WindowTable.of_windows(downstream)
    ours = helps(factor, float(upstream), overlap_sum(table))
    long_run = period_difference(factor, upstream, downstream, period * 10**9) / 10**9
    if abs(long_run) > Fraction(1, 10**6) * period:
        assert ours == (long_run < 0)


@settings(deadline=None, max_examples=300)
@given(window_sets(most=8, longest=24, sizes=(1, 3)), st.sampled_from((0.3, 1.0, 5.0)))
def test_helps_is_the_sign_of_the_benefit_with_gaps_and_any_rate(downstream, rate):
    table = WindowTable.of_windows(downstream)
    found, saved = benefits(None, table, rate=rate, semantics="partitioned", instances="all")
    for window, gain in zip(found, saved, strict=True):
        if window.range == window.slide and abs(gain) > 1e-9:
            assert helps(window.range, 1 / rate, overlap_sum(table)) == (gain > 0)


@settings(deadline=None, max_examples=200)
@given(
    st.integers(1, 4), window_sets(most=4, longest=8, sizes=(1, 3)), st.sampled_from((0.5, 1, 4))
)
def test_algorithm_4_takes_the_tumbling_candidate_that_saves_most(grid, shapes, rate):
    downstream = [
        Window(range=w.range * grid, slide=w.slide * grid, offset=w.offset * grid) for w in shapes
    ]
    for upstream in (None, Window(range=grid, offset=0)):
        if upstream and not all(
            upstream != low and feeds(upstream, low, "partitioned", "all") for low in downstream
        ):
            continue
        table = WindowTable.of_windows(downstream)
        found, saved = benefits(
            upstream, table, rate=rate, semantics="partitioned", instances="all"
        )
        tumbling = np.where(found.range == found.slide, saved, -np.inf)
        best = best_tumbling(upstream, table, rate)
        listed = list(tumbling_candidates(upstream, table, rate))
        if best is not None and best not in downstream:
            assert best == listed[0]
            assert tumbling.max() == pytest.approx(saved[list(found).index(best)])
        if not len(tumbling) or tumbling.max() < -1e-9:
            assert listed == []


def test_example_7_without_the_10_minute_window():
    forest = Forest(TENS, rate=1.0, semantics="partitioned", instances="all")
    assert forest.cost * 120 == pytest.approx(246)
    add_factors(forest, CoverageGraph.of(list(TENS), "partitioned", "all"))
    assert forest.factors() == (Window(range=10),)
    assert forest.cost * 120 == pytest.approx(150)


def test_example_8_candidates_10_5_2_and_their_costs():
    roots = WindowTable(range=[20, 30])  # W_4 hangs below W_2, so that the raw stream feeds two
    assert tumbling_candidates(None, roots, rate=1.0).range.tolist() == [10, 5, 2]
    assert best_tumbling(None, roots, rate=1.0) == Window(range=10)
    found, saved = benefits(None, roots, rate=1.0, semantics="partitioned", instances="all")
    costs = {r: 240 - 120 * s for r, s in zip(found.range.tolist(), saved.tolist(), strict=True)}
    # Footnote 8 says 240, 168 and 150; only the last includes W_4's 6.
    assert costs[2] == pytest.approx(240)
    assert costs[5] == pytest.approx(168)
    assert costs[10] == pytest.approx(144)


def test_theorem_9_turns_its_sign_and_would_prefer_5_to_10():
    best, other, overlap = 10, 5, 2
    printed = Fraction(best, other) >= Fraction(overlap - best, overlap - other)
    assert not printed
    roots = [Window(range=20), Window(range=30)]
    assert period_difference(best, 1, roots, 60) < period_difference(other, 1, roots, 60)


def test_one_hopping_window_is_worth_a_factor_window_though_its_period_holds_but_one_instance():
    hop = WindowTable(range=[10], slide=[2])
    assert best_factor(None, hop, rate=1.0, semantics="partitioned", instances="all") == Window(
        range=2
    )


@pytest.mark.parametrize(("semantics", "instances"), MODES)
@settings(deadline=None, max_examples=60)
@given(windows=window_sets(most=8, sizes=(1, 6)), rate=st.sampled_from((0.3, 1.0, 50.0)))
def test_factor_windows_left_in_the_forest_all_feed_something(semantics, instances, windows, rate):
    table = WindowTable.of_windows(windows)
    forest = Forest(table, rate=rate, semantics=semantics, instances=instances)
    add_factors(forest, CoverageGraph.of(windows, semantics, instances))
    fed = set(forest.choices.best[forest.nodes()].tolist())
    assert {node for node in forest.nodes().tolist() if node >= len(windows)} <= fed
    assert not set(forest.factors()) & set(windows)


@settings(deadline=None, max_examples=60)
@given(window_sets(most=8, sizes=(2, 5)))
def test_the_best_factor_saves_what_adding_it_saves(windows):
    table = WindowTable.of_windows(windows)
    graph = CoverageGraph.of(windows, "covered", "all")
    assume(len(graph.roots) == len(windows))
    factor = best_factor(None, table, rate=2.0, semantics="covered", instances="all")
    assume(factor is not None)
    forest = Forest(table, rate=2.0, semantics="covered", instances="all")
    before = forest.cost
    found, saved = benefits(None, table, rate=2.0, semantics="covered", instances="all")
    forest.add(WindowTable.of_windows([factor]))
    assert before - forest.cost >= saved[list(found).index(factor)] - 1e-9
