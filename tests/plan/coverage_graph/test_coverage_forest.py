"""While factor windows are added and removed, the forest stays the cheapest over its windows."""

from __future__ import annotations

import numpy as np
import pytest
from coverage_cases import MODES, window_sets
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.plan.coverage.forest import Forest
from weft.plan.coverage.min_cost import RAW, choose
from weft.query.table import WindowTable
from weft.query.window import Window

rates = st.sampled_from((0.3, 1.0, 20.0))


def assert_as_from_scratch(forest: Forest) -> None:
    nodes = forest.nodes()
    present = forest.table.take(nodes)
    fresh = choose(
        present,
        present,
        rate=forest.rate,
        semantics=forest.semantics,
        instances=forest.instances,
    )
    whole = np.append(nodes, RAW)
    mine = forest.choices
    np.testing.assert_array_equal(mine.best[nodes], whole[fresh.best])
    np.testing.assert_array_equal(mine.cost[nodes], fresh.cost)
    np.testing.assert_array_equal(mine.second_cost[nodes], fresh.second_cost)


@pytest.mark.parametrize(("semantics", "instances"), MODES)
@settings(deadline=None, max_examples=60)
@given(windows=window_sets(most=6, sizes=(4, 10)), rate=rates, data=st.data())
def test_adding_and_dropping_end_where_a_fresh_start_would(
    semantics, instances, windows, rate, data
):
    asked, extra = windows[:2], windows[2:]
    forest = Forest(
        WindowTable.of_windows(asked), rate=rate, semantics=semantics, instances=instances
    )
    cut = data.draw(st.integers(1, len(extra)))
    for group in (extra[:cut], extra[cut:]):
        if group:
            forest.add(WindowTable.of_windows(group))
            assert_as_from_scratch(forest)
    for node in data.draw(st.permutations(range(2, len(windows)))):
        forest.drop(node)
        assert_as_from_scratch(forest)
    assert forest.factors() == ()


@pytest.mark.parametrize(("semantics", "instances"), MODES)
@settings(deadline=None, max_examples=60)
@given(windows=window_sets(most=6, sizes=(2, 8)), rate=rates)
def test_the_benefit_is_the_fall_in_cost(semantics, instances, windows, rate):
    asked, candidates = windows[:-1], windows[-1:]
    forest = Forest(
        WindowTable.of_windows(asked), rate=rate, semantics=semantics, instances=instances
    )
    before = forest.cost
    (benefit,) = forest.benefits(WindowTable.of_windows(candidates))
    forest.add(WindowTable.of_windows(candidates))
    assert benefit == pytest.approx(before - forest.cost, abs=1e-9)


@pytest.mark.parametrize(("semantics", "instances"), MODES)
@settings(deadline=None, max_examples=60)
@given(windows=window_sets(most=6, sizes=(3, 10)), rate=rates)
def test_pruning_lowers_the_cost_until_every_factor_window_pays(
    semantics, instances, windows, rate
):
    asked, extra = windows[:2], windows[2:]
    forest = Forest(
        WindowTable.of_windows(asked), rate=rate, semantics=semantics, instances=instances
    )
    forest.add(WindowTable.of_windows(extra))
    before = forest.cost
    forest.prune()
    after = forest.cost
    assert after <= before + 1e-12
    assert_as_from_scratch(forest)
    kept = forest.factors()
    for left_out in kept:
        rest = [window for window in kept if window != left_out]
        without = Forest(
            WindowTable.of_windows(asked + rest),
            rate=rate,
            semantics=semantics,
            instances=instances,
        )
        assert without.cost > after - 1e-12


def test_a_dropped_factor_window_is_no_upstream_and_no_cost():
    forest = Forest(WindowTable(range=[20, 30]), rate=1.0, semantics="partitioned")
    alone = forest.cost
    forest.add(WindowTable(range=[10, 7]))
    assert forest.factors() == (Window(range=10), Window(range=7))
    forest.drop(3)
    assert forest.choices.best.tolist()[:2] == [2, 2]
    forest.drop(2)
    assert forest.cost == alone
    assert forest.choices.best.tolist()[:2] == [RAW, RAW]


def test_a_factor_window_that_saves_nothing_is_pruned():
    # Example 8, footnote 8: the window of range 2 leaves the cost of 20 and 30 at 240.
    forest = Forest(WindowTable(range=[20, 30]), rate=1.0, semantics="partitioned")
    forest.add(WindowTable(range=[2]))
    assert forest.cost * 120 == pytest.approx(240)
    assert forest.prune() == 1
    assert forest.factors() == ()
