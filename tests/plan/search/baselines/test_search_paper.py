"""The paper's own algorithm: its three optimisations change the work, not the plan (figure 14)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from benchmarks.support.workloads import Setting
from tests.plan.search.search_reference import edge_rate, labels_of, workloads
from tests.plan.search.search_reference import weave as weave_naively
from weft.errors import BudgetError
from weft.plan.cost import LinearCost
from weft.plan.search.baselines import weave_paper
from weft.plan.search.baselines.probing import probe_bitmap, probe_queries
from weft.plan.search.weave import search as weave
from weft.query.table import WindowTable

Workload = tuple[WindowTable, LinearCost]


@settings(max_examples=60, deadline=None)
@given(workloads())
def test_every_variant_makes_the_choices_of_a_naive_reevaluation(workload: Workload) -> None:
    table, cost = workload
    expected = labels_of(weave_naively(table, cost), len(table))
    for edges in ("exact", "f1", "f1_table", "bitset"):
        for lookup in (True, False):
            found, _ = weave_paper.run(table, cost, edges=edges, lookup=lookup)
            assert found.labels.tolist() == expected
    for bitmap in (True, False):
        for smaller in (True, False):
            found, _ = weave_paper.run(table, cost, probe=True, bitmap=bitmap, smaller=smaller)
            assert found.labels.tolist() == expected


def test_each_optimisation_saves_comparisons() -> None:
    setting = Setting(60, 16, 20.0, 0.7, 10)
    table = setting.table(3)
    cost = LinearCost(20.0, 0.0, table.overlap)
    variants = (
        {"lookup": False, "bitmap": False, "smaller": False},
        {"lookup": True, "bitmap": False, "smaller": False},
        {"lookup": True, "bitmap": True, "smaller": False},
        {"lookup": True, "bitmap": True, "smaller": True},
    )
    runs = [weave_paper.run(table, cost, probe=True, **variant) for variant in variants]
    comparisons = [counts.comparisons for _, counts in runs]
    assert comparisons == sorted(comparisons, reverse=True)
    assert comparisons[0] > 20 * comparisons[-1]
    assert runs[0][1].evaluations > 5 * runs[1][1].evaluations
    assert runs[1][1].evaluations == runs[3][1].evaluations
    assert len({tuple(grouping.labels.tolist()) for grouping, _ in runs}) == 1


@settings(max_examples=80, deadline=None)
@given(workloads(most=5))
def test_probing_counts_the_edges_of_two_trees(workload: Workload) -> None:
    table, _ = workload
    rows = list(range(len(table)))
    half = max(1, len(rows) // 2)
    x, y = rows[:half], rows[half:] or rows[:half]
    sets = []
    for some in (x, y):
        offset = [start for row in some for start in (table.start[row], table.end[row])]
        step = [int(table.slide[row]) for row in some for _ in range(2)]
        sets.append((np.array(offset), np.array(step)))
    expected = float(edge_rate(table, x + y))
    assert probe_bitmap(*sets[0], *sets[1], 10**6)[0] == pytest.approx(expected)
    rate_x = float(edge_rate(table, x))
    assert probe_queries(rate_x, *sets[0], *sets[1], 10**6)[0] == pytest.approx(expected)


def test_collapsing_first_changes_no_plan() -> None:
    table = Setting(120, 20, 10.0, 0.5, 10, fragments=True).table(5)
    cost = LinearCost(10.0, 0.0, table.overlap)
    whole, apart = (
        weave_paper.run(table, cost, edges="exact", collapsed=collapsed)
        for collapsed in (True, False)
    )
    assert whole[0].labels.tolist() == apart[0].labels.tolist()
    assert whole[1].evaluations < apart[1].evaluations
    assert weave.search(table, cost).labels.tolist() == whole[0].labels.tolist()


@pytest.mark.parametrize(("edges", "limit"), [("f1", 2_000), ("bitset", 20_000)])
def test_a_search_past_its_limit_says_what_would_do(edges: str, limit: int) -> None:
    table = Setting(60, 60, 50.0, 0.0, 10).table()
    with pytest.raises(BudgetError, match=rf"budget of {limit:,} steps.*edges='exact' would do it"):
        weave_paper.search(table, LinearCost(50.0, 0.0, table.overlap), edges=edges, limit=limit)


def test_more_trees_than_a_table_of_pairs_holds_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(weave_paper, "MATRIX", 5)
    table = WindowTable(range=np.arange(1, 9), slide=np.arange(1, 9))
    with pytest.raises(BudgetError, match="strategy 'weave'"):
        weave_paper.search(table, LinearCost(1.0, 0.0, table.overlap))
