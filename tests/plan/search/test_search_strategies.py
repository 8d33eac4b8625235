"""Every strategy: a partition with true edge rates; none beats `exhaustive`; errors help."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.support.workloads import Setting
from tests.plan.search.search_reference import (
    assert_partition,
    edge_rate,
    partitions,
    price,
    trees_of,
    workloads,
)
from weft.errors import BudgetError, PlanError
from weft.plan.cost import LinearCost
from weft.plan.search import SEARCHES
from weft.plan.search.baselines import exhaustive, local_search
from weft.plan.search.grouping import number_by_first
from weft.plan.search.weave import search as weave
from weft.query.table import WindowTable

Workload = tuple[WindowTable, LinearCost]


@settings(max_examples=60, deadline=None)
@given(workloads(most=9), st.integers(0, 99))
def test_every_strategy_gives_a_partition_and_none_beats_exhaustive(
    workload: Workload, seed: int
) -> None:
    table, cost = workload
    best = exhaustive.search(table, cost).cost(cost)
    for name, search in SEARCHES.items():
        found = search(table, cost, seed=seed)
        assert_partition(found, table)
        assert found.report.strategy == name
        assert found.report.exact
        assert found.report.merges == len(table) - len(found)
        exact = float(price(table, cost, trees_of(found)))
        assert found.cost(cost) == pytest.approx(exact, rel=1e-9)
        assert found.cost(cost) >= best * (1 - 1e-12), name


@settings(max_examples=40, deadline=None)
@given(workloads(most=6))
def test_exhaustive_finds_the_cheapest_of_all_partitions(workload: Workload) -> None:
    table, cost = workload
    cheapest = min(price(table, cost, trees) for trees in partitions(list(range(len(table)))))
    assert exhaustive.search(table, cost).cost(cost) == pytest.approx(float(cheapest), rel=1e-12)


@settings(max_examples=60, deadline=None)
@given(workloads(most=9), st.sampled_from(["weave", "random", "share_all"]), st.integers(0, 9))
def test_a_polish_is_never_worse_than_its_start(workload: Workload, name: str, seed: int) -> None:
    table, cost = workload
    start = SEARCHES[name](table, cost, seed=seed)
    polished = local_search.search(table, cost, start=start)
    assert_partition(polished, table)
    assert polished.cost(cost) <= start.cost(cost) * (1 + 1e-12)


@settings(max_examples=40, deadline=None)
@given(workloads(most=7))
def test_local_search_ends_where_no_single_move_saves(workload: Workload) -> None:
    table, cost = workload
    found = local_search.search(table, cost, times=1e6)
    trees = trees_of(found)
    before = price(table, cost, trees)
    for source, rows in enumerate(trees):
        for row in rows:
            for goal in range(len(trees) + 1):
                moved = [list(rows) for rows in [*trees, []]]
                moved[source].remove(row)
                moved[goal].append(row)
                after = price(table, cost, [rows for rows in moved if rows])
                assert after >= before * (1 - 1e-9)


def test_weave_is_near_the_cheapest_plan() -> None:
    """In 200 workloads of up to 9 queries, within 3% on average; the worst is bounded, too."""
    draw = np.random.default_rng(2)
    excess = []
    for seed in range(200):
        rate = float(draw.choice([0.3, 1.0, 3.0, 10.0, 30.0]))
        setting = Setting(
            queries=int(draw.integers(2, 10)),
            max_slide=int(draw.integers(4, 60)),
            rate=rate,
            skew=float(draw.uniform(0, 1)),
            max_overlap=10,
            fragments=bool(seed % 2),
        )
        table = setting.table(seed)
        cost = LinearCost(rate, 0.0, table.overlap)
        best = exhaustive.search(table, cost).cost(cost)
        excess.append(weave.search(table, cost).cost(cost) / best - 1.0)
    print(f"weave over exhaustive: {np.mean(excess):.3%} on average, {np.max(excess):.2%} at worst")
    assert min(excess) >= -1e-12
    assert np.mean(excess) < 0.03
    assert np.max(excess) < 0.25


def test_exhaustive_refuses_more_than_it_can_do_and_says_what_can() -> None:
    table = WindowTable(range=np.arange(2, 40), slide=np.arange(2, 40))
    with pytest.raises(BudgetError, match=r"at most limit=16 distinct edge sets, not of 38.*weave"):
        exhaustive.search(table, LinearCost(1.0, 0.0, table.overlap))


def test_exhaustive_counts_edge_sets_not_queries() -> None:
    table = WindowTable(range=[12, 10] * 50, slide=[6, 5] * 50)
    found = exhaustive.search(table, LinearCost(1000.0, 0.0, table.overlap))
    assert found.labels.tolist() == [0] * 100


def test_local_search_starts_where_it_is_told_and_stops_in_time() -> None:
    table = Setting(60, 40, 30.0, 0.3, 10).table(1)
    cost = LinearCost(30.0, 0.0, table.overlap)
    woven = weave.search(table, cost)
    for start in ("no_share", "random"):
        begin = SEARCHES[start](table, cost)
        few = local_search.search(table, cost, start=start, times=0.1)
        many = local_search.search(table, cost, start=start, times=10)
        assert many.cost(cost) <= few.cost(cost) <= begin.cost(cost)
        assert few.report.iterations <= 0.1 * woven.report.iterations
        assert "0.1 times what weave needs" in few.report.stop_reason


def test_local_search_says_what_it_cannot_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_search, "MOST", 10)
    table = WindowTable(range=[4, 6, 9, 10], slide=[4, 6, 9, 10])
    cost = LinearCost(1.0, 0.0, table.overlap)
    with pytest.raises(BudgetError, match="strategy='weave' would do it"):
        local_search.search(table, cost)
    start = weave.search(table, cost)
    unpolished = local_search.search(table, cost, start=start)
    assert unpolished.labels is start.labels
    assert "more than the 10" in unpolished.report.notes[-1]


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("local_search", {"start": "share_all"}, "start='share_all': accepted are"),
        ("local_search", {"times": -1}, "times=-1 must be 0 or more"),
        ("random", {"trees": 0}, "trees=0 must be 1 or more"),
        ("insert_then_weave", {"order": "reversed"}, "order='reversed': accepted are"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    name: str, options: dict[str, object], said: str
) -> None:
    table = WindowTable(range=[4], slide=[4])
    with pytest.raises(PlanError, match=said):
        SEARCHES[name](table, LinearCost(1.0, 0.0, table.overlap), **options)


def test_insert_then_weave_takes_any_order() -> None:
    table = Setting(80, 40, 20.0, 0.3, 10, fragments=True).table(4)
    cost = LinearCost(20.0, 0.0, table.overlap)
    costs = {
        round(SEARCHES["insert_then_weave"](table, cost, order="random", seed=seed).cost(cost), 6)
        for seed in range(5)
    }
    assert len(costs) > 1
    assert max(costs) <= SEARCHES["no_share"](table, cost).cost(cost)


def test_random_is_the_same_for_the_same_seed() -> None:
    table = Setting(50, 40, 20.0, 0.3, 10).table()
    cost = LinearCost(20.0, 0.0, table.overlap)
    first, again, other = (SEARCHES["random"](table, cost, seed=seed) for seed in (1, 1, 2))
    assert first.labels.tolist() == again.labels.tolist() != other.labels.tolist()
    assert len(SEARCHES["random"](table, cost, trees=1)) == 1


@pytest.mark.parametrize("edges", ["bitset", "f1", "f1_table"])
def test_other_ways_of_counting_edges_change_no_plan(edges: str) -> None:
    table = Setting(40, 12, 5.0, 0.3, 6, fragments=True).table(7)
    cost = LinearCost(5.0, 0.0, table.overlap)
    for name, search in SEARCHES.items():
        if name == "exhaustive":
            continue
        found, exact = search(table, cost, edges=edges), search(table, cost)
        assert found.report.edges == edges
        assert found.labels.tolist() == exact.labels.tolist(), name
        np.testing.assert_allclose(found.edge_rate, exact.edge_rate, rtol=1e-12)


def test_trees_of_a_million_queries_are_priced_in_arrays() -> None:
    table = Setting(200_000, 50, 1.0, 0.0, 5, fragments=True).table()
    found = SEARCHES["random"](table, LinearCost(1.0, 0.0, table.overlap), trees=100_000)
    assert found.report.seconds < 20
    some = np.flatnonzero(found.labels == 17)
    assert found.edge_rate[17] == pytest.approx(float(edge_rate(table, some.tolist())))


@given(st.lists(st.integers(0, 12), max_size=30))
def test_numbering_by_first_query(labels: list[int]) -> None:
    given_labels = np.array(labels, dtype=np.int64)
    numbered, moved = number_by_first(given_labels)
    seen: list[int] = []
    for label in labels:
        if label not in seen:
            seen.append(label)
    assert numbered.tolist() == [seen.index(label) for label in labels]
    assert [int(moved[label]) for label in seen] == list(range(len(seen)))
