"""Weaves a few (open) trees into many others that are not compared with one another."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from weft.plan.cost import LinearCost
from weft.plan.edges.kernels import clean
from weft.plan.search.classes import Classes
from weft.plan.search.rates import Rates
from weft.plan.search.trees import Trees
from weft.plan.search.weave.weaving import Woven, roots, weave_trees

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]

MATRIX = 10_000
"""Most trees compared at once; if there are more, the most promising ones."""


def trees_of(
    classes: Classes, cost: LinearCost, of_query: Int64, rate: Float64, rates: Rates
) -> Trees:
    """The trees of a given assignment of queries; a `rate` that is NaN is computed.

    >>> from weft.plan.search.classes import collapse
    >>> from weft.query.table import WindowTable
    >>> table = WindowTable(range=[2, 9, 3], slide=[2, 9, 3])
    >>> labels, unknown = np.array([0, 1, 0]), np.full(2, np.nan)
    >>> cost = LinearCost(1.0, 0.0, table.overlap)
    >>> trees = trees_of(collapse(table, table.overlap), cost, labels, unknown, Rates())
    >>> trees.rate * 18, trees.progressions(0)
    (array([12., 2.]), (array([0, 0]), array([2, 3])))
    """
    unknown = np.flatnonzero(np.isnan(rate))
    if len(unknown):
        rate = rate.copy()
        number = np.full(len(rate), -1, dtype=np.int64)
        number[unknown] = np.arange(len(unknown))
        mine = np.flatnonzero(number[of_query] >= 0)
        some = replace(classes, of_query=classes.of_query[mine])
        rate[unknown] = rates.of_trees(some, number[of_query[mine]], len(unknown))
    k = max(len(classes), 1)
    pairs = np.unique(of_query * k + classes.of_query)
    tree, member = pairs // k, pairs % k
    start = np.searchsorted(tree, np.arange(len(rate) + 1))
    first, many = member[start[:-1]], np.diff(start) > 1
    single = Trees.of_classes(classes, cost.per_edge)
    weight = np.bincount(of_query, weights=cost.weight, minlength=len(rate)).astype(np.float64)
    anchor, step = single.anchor[first], single.step[first]
    step[many] = 0
    woven = {}
    for t in np.flatnonzero(many):
        parts = [single.progressions(c) for c in member[start[t] : start[t + 1]]]
        offsets, steps = (np.concatenate(some) for some in zip(*parts, strict=True))
        woven[int(t)] = clean(offsets, steps)
        through = woven[int(t)][1][woven[int(t)][0] == 0]
        anchor[t] = through[0] if len(through) else 0
    return Trees(
        rate=rate,
        weight=weight,
        charge=rate * (cost.per_edge + weight),
        anchor=anchor,
        low=single.low[first],
        high=single.high[first],
        step=step,
        woven=woven,
        per_edge=cost.per_edge,
    )


def weave_open(trees: Trees, opened: Bool, rates: Rates, *, least: float, tie: float) -> Woven:
    """Merge open trees with any trees while that scores more than `least`; merged ones are open.

    Trees whose merge with any open tree cannot reach that score are left out of the comparison,
    and reconsidered after each round of merges.
    """
    total = len(trees)
    ended = np.arange(total, dtype=np.int64)
    number, opened = ended, opened.copy()
    while opened.any():
        keep = _promising(trees, opened, least)
        woven = weave_trees(trees.take(keep), rates, least=least, tie=tie, opened=opened[keep])
        ended[number[keep]] = number[keep[woven.ended]]
        if len(woven.number) == len(keep):
            break
        # Merged trees are open in the next round; open trees that were not merged are closed.
        left = np.ones(len(trees), dtype=np.bool_)
        left[keep] = False
        left[keep[woven.number]] = True
        opened[:] = False
        opened[keep[_targets(woven)]] = True
        trees.put(keep[woven.number], woven.trees)
        if len(keep) == len(trees):  # everything was compared: nothing is left to find
            opened[:] = False
        trees, number, opened = trees.take(np.flatnonzero(left)), number[left], opened[left]
    return Woven(trees, number, roots(ended))


def _targets(woven: Woven) -> Int64:
    """The trees that others were merged into."""
    return np.unique(woven.ended[woven.ended != np.arange(len(woven.ended))])


def _promising(trees: Trees, opened: Bool, least: float) -> Int64:
    """The open trees, and those that may score with one of them."""
    best = np.full(len(trees), -np.inf)
    for tree in np.flatnonzero(opened):
        # Two trees have at most as many common edges as the smaller one has edges.
        fewer = np.minimum(trees.rate, trees.rate[tree])
        score = trees.per_edge * fewer
        score -= trees.weight * (trees.rate[tree] - fewer)
        score -= trees.weight[tree] * (trees.rate - fewer)
        np.maximum(best, score, out=best)
    best[opened] = np.inf
    order = np.argsort(-best, kind="stable")[:MATRIX]
    keep: Int64 = np.sort(order[best[order] > least])
    return keep
