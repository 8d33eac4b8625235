"""Exhaustive: the cheapest of all partitions."""

from __future__ import annotations

from time import perf_counter

import numpy as np
import numpy.typing as npt
from numba import njit

from weft.errors import BudgetError
from weft.plan.cost import LinearCost
from weft.plan.search.classes import collapse
from weft.plan.search.grouping import Grouping, SearchReport, number_by_first
from weft.plan.search.rates import Rates
from weft.plan.search.trees import Trees, union
from weft.plan.search.weave.weaving import Progress
from weft.query.table import WindowTable

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]

LIMIT = 16
"""Default limit of distinct edge sets: 65,536 trees, 21 million choices."""


def search(
    table: WindowTable,
    cost: LinearCost,
    *,
    edges: str = "exact",
    seed: int = 0,
    progress: Progress | None = None,
    limit: int = LIMIT,
) -> Grouping:
    """Price every possible tree, then combine trees into the cheapest partition.

    Queries with equal edges stay together, which never costs more (see `Classes`). The cheapest
    partition of a set of classes consists of some tree that contains the first class, and the
    cheapest partition of the remaining classes: 3^n/2 choices instead of the Bell number of
    partitions, with the same result. An iteration is one such choice.

    >>> table = WindowTable(range=[16, 10, 8], slide=[4, 5, 4])
    >>> cost = LinearCost(fixed=1.2, per_edge=0.0, weight=table.overlap)
    >>> search(table, cost).labels
    array([0, 1, 0])
    """
    began = perf_counter()
    classes, rates = collapse(table, cost.weight), Rates(edges)
    n = len(classes)
    if n > limit:
        raise BudgetError(
            f"strategy='exhaustive' looks at every partition of at most limit={limit} distinct "
            f"edge sets, not of {n:,}; strategy 'weave' comes close, 'local_search' may come closer"
        )
    rate = _subset_rates(Trees.of_classes(classes, cost.per_edge), rates, progress)
    weight = np.zeros(1)
    for class_weight in classes.weight:  # summed over the members of each subset
        weight = np.concatenate([weight, weight + class_weight])
    price = cost.fixed * classes.unit + rate * (cost.per_edge + weight)
    chosen, choices = _cheapest(price, n)
    of_class = np.empty(n, dtype=np.int64)
    tree_rate: list[float] = []
    rest = (1 << n) - 1
    while rest:
        tree = int(chosen[rest])
        members = [k for k in range(n) if tree >> k & 1]
        of_class[members] = len(tree_rate)
        tree_rate.append(rate[tree] / classes.unit)
        rest ^= tree
    labels, moved = number_by_first(of_class[classes.of_query])
    edge_rate = np.empty(len(tree_rate))
    edge_rate[moved] = tree_rate
    report = SearchReport(
        strategy="exhaustive",
        edges=edges,
        evaluations=rates.evaluations,
        merges=len(table) - len(tree_rate),
        iterations=choices,
        seconds=perf_counter() - began,
        stop_reason="every partition was considered",
        exact=rates.sampled == 0,
        notes=rates.notes(),
    )
    return Grouping(labels, edge_rate, report)


def _subset_rates(trees: Trees, rates: Rates, progress: Progress | None) -> Float64:
    """The edge rate of every subset of the trees, subsets being bit masks."""
    n = len(trees)
    rate = np.zeros(1 << n)
    sets = [trees.progressions(tree) for tree in range(n)]
    held = {0: (np.empty(0, np.int64), np.empty(0, np.int64))}
    # Depth first, the highest class last: at most n sets are in memory at a time.
    waiting = [(1 << k, k, 0) for k in range(n)]
    done = 0
    while waiting:
        mask, k, parent = waiting.pop()
        if parent == 0:
            rate[mask], held[mask] = trees.rate[k], sets[k]
        else:
            low = max(rate[parent], trees.rate[k])
            rate[mask] = rates.added(rate[parent], held[parent], trees.rate[k], sets[k], low)
            held[mask] = union(held[parent], sets[k])
        waiting.extend((mask | 1 << more, more, mask) for more in range(k + 1, n))
        done += 1
        if progress is not None and done % 1024 == 0:
            progress(done, 1 << n, "pricing trees")
    return rate


@njit(cache=True, error_model="numpy")
def _cheapest(price: Float64, n: int) -> tuple[Int64, int]:
    """For each subset, the tree of its first class in its cheapest partition; and the number of
    choices compared."""
    best = np.zeros(1 << n, np.float64)
    chosen = np.zeros(1 << n, np.int64)
    choices = 0
    for mask in range(1, 1 << n):
        first = mask & -mask
        others = mask ^ first
        best[mask] = np.inf
        some = others
        while True:  # the tree is `first` and any subset of the others
            tree = first | some
            cost = price[tree] + best[mask ^ tree]
            choices += 1
            if cost < best[mask]:
                best[mask], chosen[mask] = cost, tree
            if some == 0:
                break
            some = (some - 1) & others
    return chosen, choices
