"""Slow, independent answers: edges listed one by one, every pair compared every time."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from math import lcm

import numpy as np
from hypothesis import strategies as st

from weft.plan.cost import LinearCost
from weft.plan.search.grouping import Grouping
from weft.query.table import WindowTable


def edge_rate(table: WindowTable, rows: list[int]) -> Fraction:
    """Edges per unit of time of some windows, by listing the edges of a common period."""
    period = lcm(*(int(table.slide[row]) for row in rows))
    edges: set[int] = set()
    for row in rows:
        slide, offset = int(table.slide[row]), int(table.offset[row])
        for start in range(offset % slide, offset % slide + period, slide):
            edges.add(start % period)
            edges.add((start + int(table.range[row])) % period)
    return Fraction(len(edges), period)


def price(table: WindowTable, cost: LinearCost, trees: list[list[int]]) -> Fraction:
    """What a partition costs, exactly."""
    return sum((tree_price(table, cost, tree) for tree in trees), Fraction(0))


def tree_price(table: WindowTable, cost: LinearCost, rows: list[int]) -> Fraction:
    weight = sum((Fraction(float(cost.weight[row])) for row in rows), Fraction(cost.per_edge))
    return Fraction(cost.fixed) + edge_rate(table, rows) * weight


def edge_sets(table: WindowTable) -> list[list[int]]:
    """Groups of queries with equal edges, whose common tree has the rate of each."""
    found: list[list[int]] = []
    for row in range(len(table)):
        for rows in found:
            alone, other = edge_rate(table, [row]), edge_rate(table, rows[:1])
            if alone == other == edge_rate(table, [rows[0], row]):
                rows.append(row)
                break
        else:
            found.append([row])
    return found


def weave(table: WindowTable, cost: LinearCost) -> list[list[int]]:
    """WeaveShare by its figure 2, with the tie rule that `weft.plan.search.weave` states."""
    trees = [[row] for row in range(len(table))]
    apart = sum(
        tree_price(table, LinearCost(0.0, cost.per_edge, cost.weight), rows)
        for rows in edge_sets(table)
    )
    tie = Fraction(1, 10**12) * apart
    known: dict[tuple[int, ...], Fraction] = {}

    def priced(rows: list[int]) -> Fraction:
        key = tuple(sorted(rows))
        if key not in known:
            known[key] = tree_price(table, cost, rows)
        return known[key]

    while True:
        saved = {
            (i, j): priced(trees[i]) + priced(trees[j]) - priced(trees[i] + trees[j])
            for i, j in combinations(range(len(trees)), 2)
        }
        best = max(saved.values(), default=Fraction(0))
        if best <= tie:
            return trees
        i, j = min(pair for pair, gain in saved.items() if gain >= best - tie)
        trees[i] += trees.pop(j)


def partitions(items: list[int]) -> Iterator[list[list[int]]]:
    """Every partition."""
    if not items:
        yield []
        return
    head, *tail = items
    for rest in partitions(tail):
        yield [[head], *rest]
        for k, tree in enumerate(rest):
            yield [*rest[:k], [head, *tree], *rest[k + 1 :]]


def labels_of(trees: list[list[int]], queries: int) -> list[int]:
    """The tree of each query, trees numbered by first query."""
    labels = np.empty(queries, dtype=np.int64)
    for number, rows in enumerate(sorted(trees, key=min)):
        labels[rows] = number
    return labels.tolist()


def trees_of(grouping: Grouping) -> list[list[int]]:
    """The queries of each tree."""
    return [np.flatnonzero(grouping.labels == tree).tolist() for tree in range(len(grouping))]


SLIDES = (1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 15, 16, 18, 20, 24, 30)
"""Their least common multiple is 720, so that listing edges is quick."""


@st.composite
def workloads(draw: st.DrawFn, most: int = 8) -> tuple[WindowTable, LinearCost]:
    """A few windows with fragments and offsets, and a cost for which sharing may or may not pay."""
    n = draw(st.integers(1, most))
    slides = draw(st.lists(st.sampled_from(SLIDES), min_size=n, max_size=n))
    ranges = draw(st.lists(st.integers(1, 60), min_size=n, max_size=n))
    offset: list[int] | int = 0
    if draw(st.booleans()):
        offset = draw(st.lists(st.integers(-40, 40), min_size=n, max_size=n))
    table = WindowTable(range=ranges, slide=slides, offset=offset)
    fixed = draw(st.sampled_from([0.01, 0.05, 0.3, 1.2, 4.0, 20.0, 1e6]))
    per_edge = draw(st.sampled_from([0.0, 0.0, 0.5, 7.0]))
    return table, LinearCost(fixed, per_edge, table.overlap)


def assert_partition(grouping: Grouping, table: WindowTable) -> None:
    """Check that each query is in one tree, that trees are numbered in order, and their rates."""
    trees = trees_of(grouping)
    assert sorted(row for rows in trees for row in rows) == list(range(len(table)))
    firsts = [rows[0] for rows in trees]
    assert firsts == sorted(firsts)
    rates = [float(edge_rate(table, rows)) for rows in trees]
    np.testing.assert_allclose(grouping.edge_rate, rates, rtol=1e-12)
