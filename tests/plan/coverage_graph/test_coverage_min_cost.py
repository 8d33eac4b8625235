"""Algorithm 1 finds the cheapest of all forests."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from coverage_cases import MODES, window_sets
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.plan.coverage.cost import cost_rate
from weft.plan.coverage.link import link
from weft.plan.coverage.min_cost import RAW, choose
from weft.plan.coverage.relation import feeds
from weft.query.table import WindowTable
from weft.query.window import Window

rates = st.sampled_from((0.25, 1.0, 3.0, 100.0))


def forests(windows, semantics, instances):
    """Every way to give each window an upstream, or None for the raw stream, without cycles."""
    options = [
        [None]
        + [
            up
            for up, upper in enumerate(windows)
            if up != low and feeds(upper, lower, semantics, instances)
        ]
        for low, lower in enumerate(windows)
    ]
    for chosen in product(*options):
        if not any(_returns(chosen, node) for node in range(len(windows))):
            yield chosen


def _returns(chosen, node):
    at = chosen[node]
    for _ in chosen:
        if at is None:
            return False
        at = chosen[at]
    return True


def forest_cost(windows, chosen, rate, semantics, instances):
    total = Fraction(0)
    for window, up in zip(windows, chosen, strict=True):
        pieces = (
            None
            if up is None
            else link(windows[up], window, semantics=semantics, instances=instances).count
        )
        total += cost_rate(window, pieces, rate)
    return total


@pytest.mark.parametrize(("semantics", "instances"), MODES)
@settings(deadline=None, max_examples=80)
@given(windows=window_sets(most=6, longest=12, sizes=(1, 5)), rate=rates)
def test_no_choice_of_upstreams_is_cheaper(semantics, instances, windows, rate):
    table = WindowTable.of_windows(windows)
    made = choose(table, table, rate=rate, semantics=semantics, instances=instances)
    chosen = tuple(None if up == RAW else up for up in made.best.tolist())
    every = {
        forest: forest_cost(windows, forest, rate, semantics, instances)
        for forest in forests(windows, semantics, instances)
    }
    assert every[chosen] == min(every.values())
    assert sum(made.cost / table.slide) == pytest.approx(float(every[chosen]))


@pytest.mark.parametrize(("semantics", "instances"), MODES)
@settings(deadline=None, max_examples=80)
@given(windows=window_sets(most=4, sizes=(1, 8)), rate=rates)
def test_the_second_is_the_best_without_the_best(semantics, instances, windows, rate):
    table = WindowTable.of_windows(windows)
    made = choose(table, table, rate=rate, semantics=semantics, instances=instances)
    for low, lower in enumerate(windows):
        costs = {RAW: float(rate * lower.range)}
        for up, upper in enumerate(windows):
            if up != low and feeds(upper, lower, semantics, instances):
                costs[up] = link(upper, lower, semantics=semantics, instances=instances).count
        best = min(costs.values())
        assert costs[int(made.best[low])] == made.cost[low] == best
        if made.best[low] != RAW:
            del costs[int(made.best[low])]
            assert costs[int(made.second[low])] == made.second_cost[low] == min(costs.values())


def test_example_6_chooses_the_forest_of_figure_6():
    table = WindowTable(range=[10, 20, 30, 40])
    made = choose(table, table, rate=1.0, semantics="covered", instances="all")
    assert made.best.tolist() == [RAW, 0, 0, 1]


def test_sparse_rows_are_read_raw_where_that_is_less_to_read():
    table = WindowTable(range=[10, 100])
    for rate, upstream in ((0.05, RAW), (0.1, RAW), (0.2, 0)):
        made = choose(table, table, rate=rate, semantics="covered", instances="all")
        assert made.best[1] == upstream


def test_equally_cheap_upstreams_the_first_is_taken():
    windows = [Window(range=4, slide=2), Window(range=4, slide=1), Window(range=8, slide=2)]
    for order in (windows, [windows[1], windows[0], windows[2]]):
        table = WindowTable.of_windows(order)
        made = choose(table, table, rate=9.0, semantics="covered", instances="fewest")
        assert made.best[2] == 0
