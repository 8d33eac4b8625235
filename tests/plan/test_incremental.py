"""Incremental WeaveShare: partitions stay within their tolerance, whatever the changes."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.support.workloads import Setting
from tests.plan.search.search_reference import SLIDES, assert_partition, price, trees_of
from weft.errors import PlanError
from weft.plan import incremental
from weft.plan.cost import LinearCost
from weft.plan.incremental import Incremental
from weft.plan.request import ToleranceRule
from weft.plan.search import SEARCHES
from weft.plan.search.weave import opening
from weft.plan.search.weave import search as weave
from weft.query.table import WindowTable

windows = st.tuples(st.sampled_from(SLIDES), st.integers(1, 60))


def table_of(drawn: list[tuple[int, int]]) -> WindowTable:
    return WindowTable(
        range=np.array([range_ for _, range_ in drawn], dtype=np.int64),
        slide=np.array([slide for slide, _ in drawn], dtype=np.int64),
    )


def start(
    drawn: list[tuple[int, int]],
    rate: float,
    tolerance: float,
    rule: ToleranceRule = "middle",
) -> Incremental:
    table = table_of(drawn)
    cost = LinearCost(rate, 0.0, table.overlap)
    return Incremental.of(table, cost, tolerance=tolerance, rule=rule)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(windows, max_size=4),
    st.lists(st.one_of(st.lists(windows, min_size=1, max_size=3), st.integers(0, 9)), max_size=5),
    st.sampled_from([0.05, 0.5, 2.0, 10.0]),
    st.sampled_from([0.0, 0.1, 0.3, inf]),
    st.sampled_from(["middle", "slope"]),
)
def test_plans_stay_partitions_within_their_tolerance(
    first: list[tuple[int, int]],
    changes: list[list[tuple[int, int]] | int],
    rate: float,
    tolerance: float,
    rule: ToleranceRule,
) -> None:
    state = start(first, rate, tolerance, rule)
    expected_rows = list(first)
    for change in changes:
        if isinstance(change, list):
            more = table_of(change)
            state = state.add(more, more.overlap)
            expected_rows += change
        elif expected_rows:
            row = change % len(expected_rows)
            state = state.drop([row])
            expected_rows.pop(row)
        else:
            continue
        table = table_of(expected_rows)
        assert state.table.slide.tolist() == table.slide.tolist()
        assert state.table.range.tolist() == table.range.tolist()
        assert_partition(state.grouping, table)
        exact = float(price(table, state.cost, trees_of(state.grouping)))
        assert state.plan_cost == pytest.approx(exact, rel=1e-9)
        assert state.change is not None
        assert state.change.cost == state.plan_cost
        scratch = weave.search(table, state.cost).cost(state.cost)
        if state.change.rebuilt:
            assert tolerance < inf or len(state.curve) == 1
            assert state.plan_cost <= scratch * (1 + 1e-12)
            assert state.curve[-1] == (len(table), pytest.approx(scratch))
        elif len(table):
            assert tolerance > 0.0
            assert state.plan_cost <= (1 + tolerance) * state.change.expected * (1 + 1e-12)
            if rule == "middle" and tolerance < inf:
                most = (1 + tolerance) / (1 - tolerance)
                assert state.plan_cost <= most * state.floor * (1 + 1e-9)


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 10_000),
    st.sampled_from([0.5, 5.0, 20.0, 300.0]),
    st.sampled_from([0.05, 0.1, 0.2, 0.3, 0.5]),
    st.lists(st.tuples(st.booleans(), st.integers(1, 6)), min_size=4, max_size=16),
)
def test_the_mean_error_stays_below_the_tolerance(
    seed: int, rate: float, tolerance: float, changes: list[tuple[bool, int]]
) -> None:
    """The error relative to plans from scratch, for any changes, by the default rule."""
    table = Setting(140, 200, rate, 0.6, 20, fragments=bool(seed % 2)).table(seed)
    random = np.random.default_rng(seed)
    state = Incremental.of(
        table.take(np.arange(40)),
        LinearCost(rate, 0.0, table.overlap[:40]),
        tolerance=tolerance,
    )
    at, errors = 40, []
    for grows, count in changes:
        if grows:
            rows = np.arange(at, at + count)
            state, at = state.add(table.take(rows), table.overlap[rows]), at + count
        else:
            few = min(count, len(state.table) - 1)
            state = state.drop(random.choice(len(state.table), few, replace=False))
        scratch = weave.search(state.table, state.cost).cost(state.cost)
        errors.append(state.plan_cost / scratch - 1.0)
    assert np.mean(np.maximum(errors, 0.0)) <= tolerance


@settings(max_examples=60, deadline=None)
@given(
    st.lists(windows, min_size=1, max_size=5),
    st.lists(windows, min_size=1, max_size=3),
    st.sampled_from([0.05, 0.5, 2.0, 10.0]),
)
def test_no_plan_goes_below_the_floor_after_an_add(
    first: list[tuple[int, int]], more: list[tuple[int, int]], rate: float
) -> None:
    """Compared with the best plan, added queries pay at least for their own edges."""
    table, added = table_of(first), table_of(more)
    cost = LinearCost(rate, 0.0, table.overlap)
    best = SEARCHES["exhaustive"]
    state = Incremental.of(table, cost, best(table, cost), tolerance=inf)
    grown = state.add(added, added.overlap)
    cheapest = best(grown.table, grown.cost).cost(grown.cost)
    assert grown.floor <= cheapest * (1 + 1e-9)


def test_a_new_query_joins_the_tree_that_it_weaves_best_with() -> None:
    state = start([(4, 16), (5, 10), (4, 8)], 1.2, inf)
    assert state.grouping.labels.tolist() == [0, 1, 0]
    for window, tree in (((5, 20), 1), ((8, 8), 0)):
        more = table_of([window])
        grown = state.add(more, more.overlap)
        assert grown.grouping.labels.tolist() == [0, 1, 0, tree]
        assert grown.change is not None
        assert (grown.change.merges, grown.change.touched, grown.change.added) == (1, 1, 1)


def test_existing_trees_merge_only_through_a_changed_one() -> None:
    """Two trees that were not merged stay separate until one of them changes."""
    table = table_of([(4, 4), (4, 8), (8, 8)])
    cost = LinearCost(5.0, 0.0, table.overlap)
    apart = SEARCHES["no_share"](table, cost)
    state = Incremental.of(table, cost, apart, tolerance=inf)
    more = table_of([(997, 997 * 9)])
    light = LinearCost(0.001, 0.0, table.overlap)
    lonely = Incremental.of(table, light, SEARCHES["no_share"](table, light), tolerance=inf)
    assert lonely.add(more, more.overlap).grouping.labels.tolist() == [0, 1, 2, 3]
    # With a rate at which everything merges, the new tree absorbs one after the other.
    assert state.add(more, more.overlap).grouping.labels.tolist() == [0, 0, 0, 0]


def test_trees_that_lost_queries_are_woven_again() -> None:
    # With slide 3 in its tree, slide 4 is too expensive for slide 8; without, it fits.
    state = start([(8, 40), (4, 4), (3, 3)], 0.9, inf)
    before = state.grouping.labels.tolist()
    after = state.drop([2])
    assert before == [0, 1, 1]
    assert after.grouping.labels.tolist() == [0, 0]
    assert after.change is not None
    assert (after.change.touched, after.change.dropped, after.change.merges) == (1, 1, 1)


def test_tolerance_zero_rebuilds_at_every_change_and_infinity_never() -> None:
    setting = Setting(60, 40, 20.0, 0.3, 10, fragments=True)
    table = setting.table(1)
    for tolerance, rebuilt in ((0.0, True), (inf, False)):
        state = Incremental.of(
            table.take(np.arange(30)),
            LinearCost(20.0, 0.0, table.overlap[:30]),
            tolerance=tolerance,
        )
        for row in range(30, 40):
            state = state.add(table.take(np.array([row])), table.overlap[row : row + 1])
            assert state.change is not None
            assert state.change.rebuilt is rebuilt
        assert len(state.curve) == (11 if rebuilt else 1)


def test_deviation_from_the_plan_from_scratch_is_small_for_small_tolerances() -> None:
    """Figure 11: the relative error does not exceed the tolerance; the work falls as it grows."""
    setting = Setting(400, 40, 20.0, 0.6, 20, fragments=True)
    table = setting.table(3)
    rebuilds, errors = [], []
    for tolerance in (0.0, 0.1, 0.3, inf):
        at = 100
        state = Incremental.of(
            table.take(np.arange(at)),
            LinearCost(20.0, 0.0, table.overlap[:at]),
            tolerance=tolerance,
        )
        count, error = 0, []
        for stop in range(120, 401, 20):
            rows = np.arange(at, stop)
            state, at = state.add(table.take(rows), table.overlap[rows]), stop
            scratch = weave.search(state.table, state.cost).cost(state.cost)
            error.append(state.plan_cost / scratch - 1.0)
            assert state.change is not None
            count += state.change.rebuilt
        rebuilds.append(count)
        errors.append(float(np.mean(error)))
    assert rebuilds[0] == 15
    assert rebuilds[-1] == 0
    assert rebuilds == sorted(rebuilds, reverse=True)
    assert errors[0] <= 1e-12
    assert errors[1] <= 0.1
    assert errors[2] <= 0.3


def test_the_slope_extrapolates_the_last_two_points() -> None:
    state = start([(4, 16)], 1.0, 0.2)
    assert state.by_slope(3) == pytest.approx(3 * state.plan_cost)
    table, cost = state.table, state.cost
    curve = ((10, 100.0), (20, 150.0))
    steep = Incremental.of(table, cost, state.grouping, curve=curve, rule="slope")
    assert steep.by_slope(26) == pytest.approx(180.0)
    assert steep.by_slope(0) == pytest.approx(50.0)
    falling = Incremental.of(table, cost, state.grouping, curve=((10, 10.0), (20, 150.0)))
    assert falling.by_slope(5) == pytest.approx(150.0 * 5 / 20)  # the line is below zero there


def test_a_change_says_what_happened_and_why() -> None:
    state = start([(4, 16), (5, 10)], 1.2, 0.2, "slope")
    more = table_of([(1, 60)] * 3)
    grown = state.add(more, more.overlap)
    assert grown.change is not None
    assert grown.change.rebuilt
    assert "more than the 20.0% tolerated" in grown.change.reason
    gone = grown.drop(np.arange(5))
    assert gone.change is not None
    assert gone.change.reason == "no queries are left"
    assert len(gone.grouping) == 0


def test_too_many_changes_are_a_new_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incremental, "OPEN", 5)
    table = Setting(40, 80, 4.0, 0.3, 10, fragments=True).table(2)
    for tolerance, rebuilt in ((0.3, True), (inf, False)):
        cost = LinearCost(4.0, 0.0, table.overlap[:20])
        state = Incremental.of(table.take(np.arange(20)), cost, tolerance=tolerance)
        rows = np.arange(20, 40)
        grown = state.add(table.take(rows), table.overlap[rows])
        assert grown.change is not None
        assert grown.change.rebuilt is rebuilt
        assert ("more than 5 trees" if rebuilt else "only 5 trees") in grown.change.reason
        assert sorted(np.unique(grown.grouping.labels)) == list(range(len(grown.grouping)))


def test_many_trees_are_narrowed_to_the_promising_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Setting(300, 80, 4.0, 0.3, 10, fragments=True).table(2)
    cost = LinearCost(4.0, 0.0, table.overlap[:290])
    state = Incremental.of(table.take(np.arange(290)), cost, tolerance=inf)
    rows = np.arange(290, 300)
    whole = state.add(table.take(rows), table.overlap[rows])
    monkeypatch.setattr(opening, "MATRIX", 40)
    few = state.add(table.take(rows), table.overlap[rows])
    assert len(np.unique(few.grouping.labels)) == len(few.grouping)
    assert few.plan_cost <= 1.05 * whole.plan_cost


@pytest.mark.parametrize("rows", [[3], [-1]])
def test_queries_that_are_not_there_cannot_be_dropped(rows: list[int]) -> None:
    with pytest.raises(PlanError, match=r"this plan has queries 0 to 1"):
        start([(4, 16), (5, 10)], 1.2, 0.2).drop(rows)


def test_tolerances_and_axes_that_make_no_sense_are_refused() -> None:
    with pytest.raises(PlanError, match="tolerance=-1 must be 0 or more"):
        start([(4, 16)], 1.2, -1)
    with pytest.raises(PlanError, match="rule='line': accepted are middle, slope"):
        start([(4, 16)], 1.2, 0.2, "line")  # type: ignore[arg-type]
    more = WindowTable(range=[4], slide=[4], axis="time")
    with pytest.raises(PlanError, match="time axis"):
        start([(4, 16)], 1.2, 0.2).add(more, more.overlap)
