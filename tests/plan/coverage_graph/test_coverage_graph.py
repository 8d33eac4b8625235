"""The graph has exactly the edges that the relations define, at any size."""

from __future__ import annotations

import numpy as np
import pytest
from coverage_cases import MODES, window_sets
from hypothesis import given, settings

from weft.errors import PlanError, WindowError
from weft.plan.coverage import graph as graph_module
from weft.plan.coverage.graph import CoverageGraph, edge_blocks, piece_matrix
from weft.plan.coverage.link import link
from weft.plan.coverage.relation import feeds
from weft.query.table import WindowTable
from weft.query.window import Window


def edges_one_by_one(windows, semantics, instances):
    return tuple(
        (up, low, link(upper, lower, semantics=semantics, instances=instances).count)
        for low, lower in enumerate(windows)
        for up, upper in enumerate(windows)
        if up != low and feeds(upper, lower, semantics, instances)
    )


@pytest.mark.parametrize(("semantics", "instances"), MODES)
@settings(deadline=None, max_examples=150)
@given(windows=window_sets(most=6, sizes=(1, 10)))
def test_edges_are_those_of_the_relation_with_the_links_count(semantics, instances, windows):
    graph = CoverageGraph.of(windows, semantics, instances)
    expected = edges_one_by_one(windows, semantics, instances)
    assert graph.edges() == expected
    assert graph.roots == tuple(sorted(set(range(len(windows))) - {low for _, low, _ in expected}))
    assert graph.downstream(None) == graph.roots
    for node in range(len(windows)):
        assert graph.downstream(node) == tuple(low for up, low, _ in expected if up == node)
    table = WindowTable.of_windows(windows)
    matrix = piece_matrix(table, table, semantics, instances)
    assert {(u, w, int(matrix[w, u])) for w, u in zip(*np.nonzero(matrix), strict=True)} == set(
        expected
    )


def test_blocks_together_are_the_whole(monkeypatch):
    rng = np.random.default_rng(5)
    slide = rng.integers(1, 9, 60)
    table = WindowTable(range=slide * rng.integers(1, 5, 60), slide=slide)
    whole = next(iter(edge_blocks(table, table, "covered", "fewest")))
    monkeypatch.setattr(graph_module, "_BLOCK", 200)
    blocks = list(edge_blocks(table, table, "covered", "fewest"))
    assert len(blocks) == 20
    for name in ("window", "upstream", "count"):
        parts = np.concatenate([getattr(block, name) for block in blocks])
        np.testing.assert_array_equal(parts, getattr(whole, name))


def test_example_6_the_graph_of_figure_6():
    graph = CoverageGraph.of([Window(range=r) for r in (10, 20, 30, 40)], "partitioned", "all")
    assert graph.edges() == ((0, 1, 2), (0, 2, 3), (0, 3, 4), (1, 3, 2))
    assert graph.roots == (0,)


def test_equal_windows_are_one_node():
    twice = [Window(range=4, slide=2, offset=1), Window(range=4, slide=2, offset=-1)]
    assert len(CoverageGraph.of(twice, "covered").windows) == 1


def test_no_windows_have_no_edges():
    graph = CoverageGraph.of([], "covered")
    assert graph.edges() == ()
    assert graph.roots == ()


def test_2000_windows_of_microseconds():
    rng = np.random.default_rng(11)
    slide = rng.choice([1, 5, 10, 15, 30, 60, 300, 3600], 2000) * 1_000_000
    table = WindowTable(range=slide * rng.integers(1, 61, 2000), slide=slide, axis="time")
    windows = list(dict.fromkeys(table))
    graph = CoverageGraph.of(windows, "partitioned")
    some = rng.integers(0, len(graph.columns), 200)
    for edge in some.tolist():
        up, low = int(graph.columns.upstream[edge]), int(graph.columns.window[edge])
        made = link(windows[up], windows[low], semantics="partitioned")
        assert made.count == graph.columns.count[edge]


def test_values_near_the_largest_do_not_overflow():
    huge = [Window(range=2**61, slide=2**60), Window(range=2**62, slide=2**61)]
    assert CoverageGraph.of(huge, "covered").edges() == ((0, 1, 2),)


def test_mixed_axes_and_unknown_semantics_are_refused():
    with pytest.raises(WindowError, match="cannot be mixed"):
        CoverageGraph.of([Window(range=1), Window(range="1 second")], "covered")
    with pytest.raises(PlanError, match="semantics"):
        CoverageGraph.of([Window(range=1)], "overlapping")
