"""How `weave` skips most pairs: bounds never exceed the true rate, and no partner is missed."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.support.workloads import Setting
from tests.plan.search.search_reference import edge_rate, edge_sets, workloads
from weft.plan.cost import LinearCost
from weft.plan.edges import Rate
from weft.plan.search import rates
from weft.plan.search.classes import collapse
from weft.plan.search.rates import Rates
from weft.plan.search.trees import FORBIDDEN, GONE, Trees
from weft.plan.search.weave import bounds
from weft.plan.search.weave import search as weave
from weft.plan.search.weave.bounds import bound_all, rebound, rows
from weft.plan.search.weave.partners import Shelves, join, with_partners
from weft.plan.search.weave.weaving import _pack
from weft.query.table import WindowTable

Workload = tuple[WindowTable, LinearCost]


def trees_of(table: WindowTable, per_edge: float = 0.0) -> tuple[Trees, WindowTable, int]:
    """One tree per class, a window of each, and their unit."""
    classes = collapse(table, table.overlap)
    return Trees.of_classes(classes, per_edge), table.take(classes.first), classes.unit


@settings(max_examples=150, deadline=None)
@given(workloads(most=10))
def test_classes_are_the_distinct_edge_sets(workload: Workload) -> None:
    table, cost = workload
    classes = collapse(table, cost.weight)
    sets = edge_sets(table)
    assert [int(classes.of_query[rows[0]]) for rows in sets] == list(range(len(classes)))
    for number, rows_ in enumerate(sets):
        assert set(classes.of_query[rows_].tolist()) == {number}
        assert classes.weight[number] == pytest.approx(cost.weight[rows_].sum())
        assert classes.rate[number] == pytest.approx(float(edge_rate(table, rows_)) * classes.unit)
    apart = collapse(table, cost.weight, equal=False)
    assert apart.of_query.tolist() == list(range(len(table)))


@pytest.mark.parametrize("way", ["few", "classes", "trees"])
@settings(max_examples=80, deadline=None)
@given(workload=workloads(most=9))
def test_pairs_of_classes_are_exact(way: str, workload: Workload) -> None:
    trees, windows, unit = trees_of(workload[0])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bounds, "_SMALL", 100 if way == "few" else 0)
        opened = np.ones(len(trees), dtype=np.bool_) if way == "trees" else None
        bound = bound_all(trees, opened)
    for i, j in combinations(range(len(trees)), 2):
        true = float(edge_rate(windows, [i, j])) * unit
        assert -bound[rows(len(trees))[i] + j] == pytest.approx(true, rel=1e-12)


@settings(max_examples=300, deadline=None)
@given(workloads(most=9), st.data())
def test_bounds_after_a_merge_never_exceed_the_truth(
    workload: Workload, data: st.DataObject
) -> None:
    trees, windows, unit = trees_of(workload[0])
    n = len(trees)
    bound, row, row_best = bound_all(trees), rows(n), np.full(n, 1e300)
    members = {tree: [tree] for tree in range(n)}
    while len(members) > 1:
        i, j = sorted(data.draw(st.permutations(sorted(members)))[:2])
        before = (trees.rate[i], trees.rate[j], trees.anchor[i], trees.anchor[j])
        members[i] += members.pop(j)
        trees.unite(i, j, float(edge_rate(windows, members[i])) * unit)
        state = (trees.rate, trees.weight, trees.charge, trees.anchor)
        rebound(bound, row, row_best, i, j, *state, before, 0.0)
        assert trees.charge[j] == row_best[j] == GONE
        for a, b in combinations(sorted(members), 2):
            true = float(edge_rate(windows, members[a] + members[b])) * unit
            held = bound[row[a] + b]
            assert abs(held) <= true * (1 + 1e-12)
            if held < 0.0:
                assert -held == pytest.approx(true, rel=1e-12)


def test_pairs_that_are_both_closed_are_forbidden() -> None:
    table = WindowTable(range=[2, 3, 4], slide=[2, 3, 4])
    trees, _, _ = trees_of(table)
    bound = bound_all(trees, np.array([False, False, True]))
    assert (bound == FORBIDDEN).tolist() == [True, False, False]


def test_packing_keeps_the_pairs_of_those_kept() -> None:
    n, keep = 7, np.array([0, 2, 3, 6])
    pairs = list(combinations(range(n), 2))
    packed = _pack(np.arange(float(len(pairs))), rows(n), keep)
    assert [pairs[int(at)] for at in packed] == list(combinations(keep.tolist(), 2))


@settings(max_examples=150, deadline=None)
@given(workloads(most=10))
def test_no_tree_with_a_partner_is_missed(workload: Workload) -> None:
    table, cost = workload
    trees, windows, unit = trees_of(table, cost.per_edge)
    least = -cost.fixed * unit
    shelves = Shelves.of(trees)
    has = with_partners(trees, shelves, least)
    assert has is not None
    expected = np.zeros(len(trees), dtype=np.bool_)
    for i, j in combinations(range(len(trees)), 2):
        both = float(edge_rate(windows, [i, j])) * unit
        weight = cost.per_edge + trees.weight[i] + trees.weight[j]
        score = trees.charge[i] + trees.charge[j] - both * weight
        if abs(score - least) > 1e-9:
            expected[[i, j]] |= score > least
            if score > least:
                assert j in join(trees, i, trees, shelves, least)
    assert (has >= expected).all()


def test_hard_rates_change_no_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Setting(60, 30, 20.0, 0.3, 10, fragments=True).table(2)
    cost = LinearCost(20.0, 0.0, table.overlap)
    usual = weave.search(table, cost)
    monkeypatch.setattr(rates, "NODES", 0)
    hard = weave.search(table, cost)
    assert hard.labels.tolist() == usual.labels.tolist()
    np.testing.assert_allclose(hard.edge_rate, usual.edge_rate, rtol=1e-12)
    assert hard.report.exact
    monkeypatch.setattr(rates, "HARD", 0)
    refused = weave.search(table, cost)
    assert "merges were not considered" in refused.report.notes[0]
    assert len(refused) > len(usual)


def test_sampled_rates_are_said_and_measured_again(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Setting(60, 30, 20.0, 0.3, 10, fragments=True).table(2)
    cost = LinearCost(20.0, 0.0, table.overlap)
    usual = weave.search(table, cost)
    truth = rates.hard_rate
    hasty: list[bool] = []

    def sampled(offset: np.ndarray, step: np.ndarray, *, work: int | None = None) -> Rate:
        exact = truth(offset, step)
        hasty.append(work is not None)
        off = 1e-7 if work is not None else 0.0
        return Rate(float(exact) * (1 - off), "sampled", 1, exact=False)

    monkeypatch.setattr(rates, "NODES", 0)
    monkeypatch.setattr(rates, "hard_rate", sampled)
    found = weave.search(table, cost)
    assert not found.report.exact
    assert "were sampled" in found.report.notes[0]
    assert True in hasty
    assert False in hasty
    assert found.labels.tolist() == usual.labels.tolist()
    np.testing.assert_allclose(found.edge_rate, usual.edge_rate, rtol=1e-12)


def test_later_hard_rates_get_less_work(monkeypatch: pytest.MonkeyPatch) -> None:
    given_work: list[int] = []

    def costly(offset: np.ndarray, step: np.ndarray, *, work: int) -> Rate:
        given_work.append(work)
        return Rate(0.5, "elimination", work)

    monkeypatch.setattr(rates, "NODES", 0)
    monkeypatch.setattr(rates, "hard_rate", costly)
    counted = Rates()
    for _ in range(60):
        counted.of_set(np.array([0, 3, 0, 1]), np.array([12, 15, 18, 20]))
    assert given_work == sorted(given_work, reverse=True)
    assert given_work[-1] < given_work[0] / 10
