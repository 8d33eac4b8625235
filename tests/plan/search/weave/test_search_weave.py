"""`weave`: the paper's greedy choices and examples, and no plan worse than the simple ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from benchmarks.support.workloads import Setting
from tests.plan.search.search_reference import (
    assert_partition,
    edge_rate,
    labels_of,
    price,
    trees_of,
    workloads,
)
from tests.plan.search.search_reference import weave as weave_naively
from weft.errors import BudgetError, PlanError
from weft.plan.cost import LinearCost
from weft.plan.search import SEARCHES
from weft.plan.search.classes import collapse
from weft.plan.search.rates import Rates
from weft.plan.search.weave import search as weave
from weft.query.table import WindowTable


@settings(max_examples=300, deadline=None)
@given(workloads())
def test_makes_the_choices_of_a_naive_reevaluation(
    workload: tuple[WindowTable, LinearCost],
) -> None:
    table, cost = workload
    found, naive = weave.search(table, cost), weave_naively(table, cost)
    assert_partition(found, table)
    one_tree = [list(range(len(table)))]
    if price(table, cost, one_tree) < price(table, cost, naive):
        assert found.labels.tolist() == [0] * len(table)
        assert "was taken" in found.report.notes[-1]
    else:
        assert found.labels.tolist() == labels_of(naive, len(table))
    assert found.cost(cost) == pytest.approx(float(price(table, cost, trees_of(found))), rel=1e-9)


@settings(max_examples=100, deadline=None)
@given(workloads())
def test_is_never_worse_than_sharing_nothing_or_all(
    workload: tuple[WindowTable, LinearCost],
) -> None:
    table, cost = workload
    simple = [SEARCHES[name](table, cost).cost(cost) for name in ("no_share", "share_all")]
    assert weave.search(table, cost).cost(cost) <= min(simple) * (1 + 1e-12)


def test_example_2_edges_and_weaveability() -> None:
    table = WindowTable(range=[12, 10], slide=[9, 6])
    together = SEARCHES["share_all"](table, LinearCost(0.0, 0.0, table.overlap))
    apart = SEARCHES["no_share"](table, LinearCost(0.0, 0.0, table.overlap))
    assert together.edge_rate[0] * 18 == pytest.approx(8)
    common = apart.edge_rate.sum() - together.edge_rate[0]
    assert common / together.edge_rate[0] == pytest.approx(0.25)
    assert edge_rate(table, [0, 1]) * 18 == 8


def test_example_3_ends_at_4_3_with_two_trees() -> None:
    table = WindowTable(range=[16, 10, 8], slide=[4, 5, 4])
    cost = LinearCost(1.2, 0.0, table.overlap)
    found = weave.search(table, cost)
    assert SEARCHES["no_share"](table, cost).cost(cost) == pytest.approx(5.5)
    assert found.cost(cost) == pytest.approx(4.3)
    assert found.labels.tolist() == [0, 1, 0]
    assert SEARCHES["share_all"](table, cost).cost(cost) == pytest.approx(4.4)
    assert found.report.merges == 1
    assert found.report.iterations == 2


def test_a_charge_per_edge_makes_sharing_pay() -> None:
    table = WindowTable(range=[16, 10, 8], slide=[4, 5, 4])
    dear = LinearCost(0.0, 100.0, table.overlap)
    assert len(weave.search(table, LinearCost(0.0, 0.0, table.overlap))) == 2
    assert len(weave.search(table, dear)) == 1


def test_windows_in_microseconds_give_the_same_plan() -> None:
    table = Setting(200, 60, 20.0, 0.5, 10, fragments=True).table(3)
    cost = LinearCost(20.0, 0.1, table.overlap)
    micros = 7_000_000
    same = WindowTable(range=table.range * micros, slide=table.slide * micros, offset=12_345)
    there = weave.search(same, LinearCost(20.0 / micros, 0.1, table.overlap))
    here = weave.search(table, cost)
    assert there.labels.tolist() == here.labels.tolist()
    np.testing.assert_allclose(there.edge_rate * micros, here.edge_rate, rtol=1e-12)


@pytest.mark.parametrize("rate", [0.5, 30.0])
def test_blocks_and_partners_leave_the_plan_as_good(
    rate: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The methods for very many edge sets, tested on few."""
    table = Setting(900, 60, rate, 0.5, 10, fragments=True).table(5)
    cost = LinearCost(rate, 0.0, table.overlap)
    whole = weave.search(table, cost)
    for small in (10, 10**9):  # with and without a search for partners
        monkeypatch.setattr(weave, "_SMALL", small)
        monkeypatch.setattr(weave, "MATRIX", 10_000)
        assert weave.search(table, cost).labels.tolist() == whole.labels.tolist()
        monkeypatch.setattr(weave, "MATRIX", 200)
        monkeypatch.setattr(weave, "BLOCK", 64)
        blocks = weave.search(table, cost)
        assert "in blocks" in blocks.report.notes[0]
        assert sorted(np.unique(blocks.labels)) == list(range(len(blocks)))
        classes = collapse(table, cost.weight)
        anew = Rates().of_trees(classes, blocks.labels, len(blocks)) / classes.unit
        np.testing.assert_allclose(blocks.edge_rate, anew, rtol=1e-9)
        assert whole.cost(cost) <= blocks.cost(cost) * (1 + 1e-9) <= 1.2 * whole.cost(cost)


@pytest.mark.parametrize("fragments", [False, True])
def test_looking_for_partners_first_changes_no_choice(
    fragments: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(6):
        rate = (0.002, 0.01, 0.05)[seed % 3]
        table = Setting(700, 300, rate, 0.5, 6, fragments=fragments).table(seed)
        cost = LinearCost(rate, 0.0, table.overlap)
        monkeypatch.setattr(weave, "_SMALL", 10)
        few = weave.search(table, cost)
        monkeypatch.setattr(weave, "_SMALL", 10**9)
        assert weave.search(table, cost).labels.tolist() == few.labels.tolist()


def test_a_tree_without_partner_is_taken_in_when_a_merged_tree_suits_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """{1, 2} mod 100 saves with neither {0, 1} nor {0, 2}, but with both of them together."""
    others = 300  # too heavy to merge with anything, and enough for partners to be looked for
    table = WindowTable(
        range=[1, 2, 1, *([997] * others)],
        slide=[100, 100, 100, *([997] * others)],
        offset=[0, 0, 1, *range(others)],
    )
    weight = np.array([1.0, 1.0, 1.5, *([100.0] * others)])
    cost = LinearCost(0.022, 0.0, weight)
    assert weave_naively(table.take(np.arange(3)), cost) == [[0, 1, 2]]
    assert weave.search(table, cost).labels[:3].tolist() == [0, 0, 0]
    monkeypatch.setattr(weave, "join", lambda *_: np.empty(0, np.int64))
    assert weave.search(table, cost).labels[:3].tolist() == [0, 0, 1]


def test_progress_is_told() -> None:
    table = Setting(600, 40, 100.0, 0.5, 10, fragments=True).table()
    told: list[tuple[int, int, str]] = []
    weave.search(table, LinearCost(100.0, 0.0, table.overlap), progress=lambda *at: told.append(at))
    assert told
    assert all(done <= total for done, total, _ in told)


def test_no_queries_make_no_trees() -> None:
    table = WindowTable(range=np.empty(0, np.int64), slide=np.empty(0, np.int64))
    for name, search in SEARCHES.items():
        grouping = search(table, LinearCost(1.0, 0.0, np.empty(0)))
        assert len(grouping) == 0, name
        assert grouping.cost(LinearCost(1.0, 0.0, np.empty(0))) == 0.0


def test_unknown_ways_of_counting_edges_are_refused() -> None:
    table = WindowTable(range=[4], slide=[2])
    with pytest.raises(PlanError, match="edges='guess': accepted are 'exact', 'f1'"):
        weave.search(table, LinearCost(1.0, 0.0, table.overlap), edges="guess")


def test_methods_past_their_budget_say_which_would_do() -> None:
    table = WindowTable(range=[101, 103, 107, 109, 113], slide=[101, 103, 107, 109, 113])
    with pytest.raises(BudgetError, match="edges='exact' would do it"):
        weave.search(table, LinearCost(1e6, 0.0, table.overlap), edges="bitset")
