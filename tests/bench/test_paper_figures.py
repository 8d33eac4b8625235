"""The papers' formulas and counts in the benchmarks, on inputs small enough to check by hand."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.support import counting, covering, experiments, operations, weaving
from benchmarks.support.harness import Bench, WrongAnswer
from weft.demo.trades import market, workload
from weft.plan.search import SEARCHES
from weft.query.query import Query
from weft.query.window import Window

QUICK = (
    "sigmod06_table2",
    "sigmod06_table3",
    "sigmod06_figure04",
    "flatfit_table1",
    "flatfit_figure10",
    "factor_example",
    "factor_figure13",
    "f1_figure03",
)
"""The benchmarks whose quick form takes a second or less; they are run in full."""


@pytest.mark.parametrize("name", QUICK)
def test_the_quick_form_runs_and_its_shape_holds(name: str) -> None:
    assert Bench(name).measure(False).claim.holds


def test_slices_of_pairs_and_panes() -> None:
    window = Window(range=18, slide=15)  # SIGMOD'06 figure 1: pairs (3, 12), panes of 3
    pairs = counting.slices([window], 0, 29)
    assert [edge for edge in pairs.tolist() if 0 <= edge <= 30] == [0, 3, 15, 18, 30]
    panes = counting.slices([window], 0, 29, "panes")
    assert [edge for edge in panes.tolist() if 0 <= edge <= 15] == [0, 3, 6, 9, 12, 15]
    starts = np.array([0, 3])
    assert counting.windows_with(window, starts).tolist() == [2, 1]


def test_a_slice_between_windows_is_in_none() -> None:
    window = Window(range=2, slide=5)
    assert counting.windows_with(window, np.array([0, 1, 2, 4])).tolist() == [1, 1, 0, 0]


def test_predicates_are_those_of_the_queries() -> None:
    table = market(2_000).joined()
    for query in workload("B", 24):
        taken = counting.satisfied(table, query.where)
        assert 0 <= taken.sum() <= table.num_rows
    frame = table.to_pandas()
    wanted = (~frame.r2000) & (frame.price * frame.volume > 5_000)
    where = "NOT r2000 AND price * volume > 5000"
    assert (counting.satisfied(table, where) == wanted.to_numpy()).all()


def test_trades_in_a_row_are_alike_as_often_as_asked_for() -> None:
    trades = market(20_000, prints=2.75).trades
    columns = (trades[name].to_numpy() for name in ("symbol", "price", "volume"))
    alike = np.logical_and.reduce([column[1:] == column[:-1] for column in columns])
    assert alike.mean() == pytest.approx(1 - 1 / 2.75, abs=0.02)
    assert trades.num_rows == 20_000


def test_signatures_tell_the_queries_of_each_row() -> None:
    table = market(500).joined()
    queries = workload("C", 16)
    number, members = counting.signatures(table, queries)
    for column, query in enumerate(queries):
        assert (members[number, column] > 0).tolist() == counting.satisfied(
            table, query.where
        ).tolist()


@pytest.mark.parametrize("kind", ["A", "B", "C", "C_low"])
def test_counts_are_those_of_going_through_rows_and_windows(kind: str) -> None:
    table = market(400).joined()
    queries = workload(kind, 4)
    at = counting.times(table)
    shared = counting.shared(table, queries)
    masks = {query.name: counting.satisfied(table, query.where) for query in queries}
    edges = counting.slices([query.window for query in queries], int(at[0]), int(at[-1]))
    slice_of = np.searchsorted(edges, at, side="right") - 1
    shards = {
        (int(slice_of[row]), tuple(masks[query.name][row] for query in queries))
        for row in range(len(at))
        if any(masks[query.name][row] for query in queries)
    }
    final = 0
    for slice_, members in shards:
        start = int(edges[slice_])
        for query, taken in zip(queries, members, strict=True):
            first = start - query.window.range + 1
            starts = range(-(-first // query.window.slide), start // query.window.slide + 1)
            final += len(starts) if taken else 0
    assert (shared.shards, shared.final) == (len(shards), final)
    alone = counting.unshared(table, queries)
    assert alone.partial == sum(int(mask.sum()) for mask in masks.values())


def test_one_query_alone_is_the_same_shared_and_unshared() -> None:
    table = market(300).joined()
    (query,) = workload("A", 1)
    assert counting.shared(table, [query]) == counting.unshared(table, [query])
    assert isinstance(query, Query)


def test_factor_windows_cost_no_more_than_the_graph_and_that_no_more_than_nothing() -> None:
    windows = [Window(range=length) for length in (20, 30, 40)]
    found = covering.costs(windows, 1.0, tumbling=True)
    per_120 = {way: round(cost * 120) for way, cost in found.items()}
    assert per_120["BL"] == 360
    assert per_120["WCG"] == 246
    assert per_120["WCG-FW"] == per_120["WCG-FW greedy"] == 150
    # Pairs by Table 1: 3 rows each, and 2 finals per window; there are 6, 4 and 3 windows.
    assert per_120["UP"] == 360 + 2 * (6 + 4 + 3)
    assert per_120["SP"] == 120 + 3 * 8  # edges at multiples of 20 or 30: 8 in 120


def test_gain_compares_set_by_set() -> None:
    rows = [
        {"set": number, "way": way, "cost": cost}
        for number, costs in enumerate([(4.0, 2.0), (9.0, 3.0)])
        for way, cost in zip(("BL", "SP"), costs, strict=True)
    ]
    assert covering.gain(rows, "BL", "SP") == [2.0, 3.0]


def test_flatfit_takes_three_operations_and_its_wrong_answer_would_be_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert operations.single("flatfit", 8)["operations"] == pytest.approx(3 * 7 / 9)
    assert operations.every("flatfit", 8)["operations"] == 7
    assert operations.single("naive", 8)["operations"] == 7
    monkeypatch.setattr("weft.engine.finals.naive.Naive.answer", lambda self, since: (-1,))
    with pytest.raises(WrongAnswer, match="naive"):
        operations.single("naive", 4)


def test_plans_with_untrue_rates_are_found() -> None:
    table, cost = weaving.workload(20, 50)
    grouping = SEARCHES["weave"](table, cost)
    weaving.check_rates(table, cost, grouping, "weave")
    grouping.edge_rate[0] *= 1.001
    with pytest.raises(WrongAnswer, match="not those of its trees"):
        weaving.check_rates(table, cost, grouping, "weave")


def test_weave_is_normalised_by_one_tree_for_all() -> None:
    weave, shared, ratio, trees = weaving.normalised(20, 50)
    assert ratio == pytest.approx(weave / shared)
    assert weave <= shared
    assert trees >= 1


def test_a_budget_that_was_spent_counts_only_where_it_says_something() -> None:
    def row(method: str, seconds: float, status: str = "ok") -> dict[str, object]:
        return {"value": 1, "fragments": False, "method": method, "seconds": seconds,
                "status": status}  # fmt: skip

    rows = [row("bitset", 0.5, "past"), row("f1", 2.0), row("f1_table", 1.0), row("exact", 0.1)]
    times = experiments.speedups(rows)
    assert times["bitset/f1"] == []  # it gave up before F1 was done
    assert times["bitset/exact"] == [5.0]
    assert times["f1/exact"] == [20.0]
    assert times["f1/f1_table"] == [2.0]
