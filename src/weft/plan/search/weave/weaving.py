"""The greedy merging of trees, with bounds of edge rates instead of a table of costs.

A lower bound of an edge rate gives an upper bound of what the merge saves, so the rate of a pair
is computed only when its bound is the best; for most pairs it never is.

The *score* of a pair is what merging it saves without `fixed`, which every merge saves:
`charge_i + charge_j - E_ij * (per_edge + w_i + w_j)`. It stays precise even when `fixed` is a
million times larger.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import njit

from weft.plan.edges.arithmetic import INNER
from weft.plan.search.rates import Rates
from weft.plan.search.trees import GONE, Trees
from weft.plan.search.weave.bounds import Bool, bound_all, rebound, rows

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]
Progress = Callable[[int, int, str], None]

UNSEEN = 1e300
"""The best score of a row that was not computed yet."""
DONE, EVALUATE, MERGE = 0, 1, 2


@dataclass(frozen=True, eq=False)
class Woven:
    """The result of a weaving."""

    trees: Trees
    """The trees that are left."""
    number: Int64
    """Their numbers among those given."""
    ended: Int64
    """For each tree given, the number of the one that it ended in."""


def weave_trees(
    trees: Trees,
    rates: Rates,
    *,
    least: float,
    tie: float,
    opened: Bool | None = None,
    progress: Progress | None = None,
    merged: Callable[[Trees, int], bool] | None = None,
) -> Woven:
    """Repeatedly merge the best pair of trees, until none scores more than `least`.

    Of the pairs whose scores are within `tie` of the best, the one with the smallest numbers is
    merged. With `opened`, two trees that are not open are never merged; a merged tree is open.
    `merged` is called with every new tree and stops the weaving by returning False. `trees` is
    modified.

    >>> from weft.plan.search.classes import collapse
    >>> from weft.query.table import WindowTable
    >>> table = WindowTable(range=[12, 6, 10], slide=[6, 3, 5])
    >>> trees = Trees.of_classes(collapse(table, table.overlap), 0.0)
    >>> woven = weave_trees(trees, Rates(), least=-0.5, tie=1e-12)
    >>> woven.ended, woven.trees.rate.round(3)
    (array([0, 0, 2]), array([0.333, 0.2 ]))
    """
    total = len(trees)
    ended = np.arange(total, dtype=np.int64)
    number = ended
    bound, row = bound_all(trees, opened), rows(total)
    row_best = np.full(total, UNSEEN)
    gone = 0
    while True:
        code, i, j = select(
            bound, row, row_best, trees.weight, trees.charge, trees.per_edge, least, tie
        )
        if code == DONE:
            break
        at = row[i] + j
        if code == EVALUATE:
            bound[at] = -rates.together(trees, i, j, bound[at])
            continue
        before = (trees.rate[i], trees.rate[j], trees.anchor[i], trees.anchor[j])
        trees.unite(i, j, -bound[at])
        state = (trees.rate, trees.weight, trees.charge, trees.anchor)
        rebound(bound, row, row_best, i, j, *state, before, trees.per_edge)
        ended[number[j]] = number[i]
        gone += 1
        if progress is not None and gone % 64 == 0:
            progress(total - len(trees) + gone, total, "merging trees")
        if merged is not None and not merged(trees, i):
            break
        if gone > 64 and 2 * gone > len(trees):
            # Drop merged trees: rows half as long are searched in half the time.
            keep = trees.alive()
            bound, row = _pack(bound, row, keep), rows(len(keep))
            trees, number, row_best, gone = trees.take(keep), number[keep], row_best[keep], 0
    keep = trees.alive()
    return Woven(trees.take(keep), number[keep], roots(ended))


def roots(ended: Int64) -> Int64:
    """The final tree of each tree, given the tree that each was merged into.

    >>> roots(np.array([0, 0, 1, 3, 2]))
    array([0, 0, 0, 3, 0])
    """
    while True:
        further: Int64 = ended[ended]
        if np.array_equal(further, ended):
            return ended
        ended = further


@njit(cache=True, error_model="numpy")
def select(
    bound: Float64,
    row: Int64,
    row_best: Float64,
    weight: Float64,
    charge: Float64,
    per_edge: float,
    least: float,
    tie: float,
) -> tuple[int, int, int]:
    """What to do next: nothing, compute the edge rate of a pair, or merge it.

    `row_best` is an upper bound for each row, recomputed only when it is the highest.
    """
    if len(row_best) == 0:
        return DONE, 0, 0
    while True:
        i = _top(row_best)
        top = row_best[i]
        if top <= least:
            return DONE, 0, 0
        row_best[i] = _row_best(bound, row, weight, charge, i, per_edge)
        if row_best[i] < top:
            continue
        j = _first(bound, row, weight, charge, i, per_edge, top)
        if bound[row[i] + j] > 0.0:
            return EVALUATE, i, j
        # `top` is the best score. Of the pairs that tie with it, take the first.
        for k in range(len(row_best)):
            if row_best[k] >= top - tie:
                j = _first(bound, row, weight, charge, k, per_edge, top - tie)
                if j >= 0:
                    return (EVALUATE if bound[row[k] + j] > 0.0 else MERGE), k, j
                row_best[k] = _row_best(bound, row, weight, charge, k, per_edge)


@njit(**INNER)
def _top(row_best: Float64) -> int:
    best = 0
    for i in range(len(row_best)):
        if row_best[i] > row_best[best]:
            best = i
    return best


@njit(**INNER, fastmath={"nnan", "nsz"})
def _row_best(
    bound: Float64, row: Int64, weight: Float64, charge: Float64, i: int, per_edge: float
) -> float:
    """The greatest score bound of tree i with a later tree."""
    best = GONE
    at, charge_i, weight_i = row[i], charge[i], per_edge + weight[i]
    for j in range(i + 1, len(weight)):
        score = charge_i + charge[j] - abs(bound[at + j]) * (weight_i + weight[j])
        best = max(best, score)
    return best


@njit(**INNER)
def _first(
    bound: Float64,
    row: Int64,
    weight: Float64,
    charge: Float64,
    i: int,
    per_edge: float,
    least: float,
) -> int:
    """The first later tree with which tree i's score bound reaches `least`; -1 if none does."""
    at, charge_i, weight_i = row[i], charge[i], per_edge + weight[i]
    for j in range(i + 1, len(weight)):
        if charge_i + charge[j] - abs(bound[at + j]) * (weight_i + weight[j]) >= least:
            return j
    return -1


@njit(cache=True, error_model="numpy")
def _pack(bound: Float64, row: Int64, keep: Int64) -> Float64:
    """The bounds among the trees `keep` alone."""
    n = len(keep)
    packed = np.empty(n * (n - 1) // 2, np.float64)
    at = 0
    for x in range(n):
        here = row[keep[x]]
        for y in range(x + 1, n):
            packed[at] = bound[here + keep[y]]
            at += 1
    return packed
