"""Insert-then-Weave: queries one at a time into the tree that suits best, then weaving."""

from __future__ import annotations

from time import perf_counter

import numpy as np
import numpy.typing as npt

from weft.errors import BudgetError, PlanError
from weft.plan.cost import LinearCost
from weft.plan.search.classes import collapse, tolerance
from weft.plan.search.grouping import Grouping, SearchReport, number_by_first
from weft.plan.search.rates import Rates
from weft.plan.search.trees import Trees
from weft.plan.search.weave.weaving import Progress, weave_trees
from weft.query.table import WindowTable

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]

MATRIX = 10_000
"""Distinct edge sets beyond which inserting them one by one takes too long."""


def search(
    table: WindowTable,
    cost: LinearCost,
    *,
    edges: str = "exact",
    seed: int = 0,
    progress: Progress | None = None,
    order: str = "given",
) -> Grouping:
    """Insert each query into the tree with which it saves the most, then weave the trees.

    WeaveShare section 6 leaves the order open: here it is that of the table, or `"random"`.
    Queries with equal edges are inserted together; the first one decides where, and the others
    would never save more elsewhere. An iteration is one insertion or one merge.

    >>> table = WindowTable(range=[16, 10, 8], slide=[4, 5, 4])
    >>> search(table, LinearCost(fixed=1.2, per_edge=0.0, weight=table.overlap)).labels
    array([0, 1, 0])
    """
    began = perf_counter()
    classes, rates = collapse(table, cost.weight), Rates(edges)
    if len(classes) > MATRIX:
        raise BudgetError(
            f"strategy='insert_then_weave' inserts at most {MATRIX:,} distinct edge sets one by "
            f"one, not {len(classes):,}; strategy='weave' would do it"
        )
    sequence = np.arange(len(classes))
    if order == "random":
        sequence = np.random.default_rng(seed).permutation(len(classes))
    elif order != "given":
        raise PlanError(f"order={order!r}: accepted are 'given' and 'random'")
    tie = tolerance(classes, cost)
    least = tie - cost.fixed * classes.unit
    own = cost.weight[classes.first]
    trees, of_class = _insert(Trees.of_classes(classes, cost.per_edge), own, sequence, rates, least)
    inserted = len(trees)
    woven = weave_trees(trees, rates, least=least, tie=tie, progress=progress)
    labels, moved = number_by_first(woven.ended[of_class][classes.of_query])
    rate = np.empty(len(woven.number))
    rate[moved[woven.number]] = woven.trees.rate / classes.unit
    report = SearchReport(
        strategy="insert_then_weave",
        edges=edges,
        evaluations=rates.evaluations,
        merges=len(table) - len(rate),
        iterations=len(table) + inserted - len(rate),
        seconds=perf_counter() - began,
        stop_reason="no merge saves anything" if len(rate) > 1 else "one tree is left",
        exact=rates.sampled == 0,
        notes=rates.notes(),
    )
    return Grouping(labels, rate, report)


def _insert(
    single: Trees, own: Float64, sequence: Int64, rates: Rates, least: float
) -> tuple[Trees, Int64]:
    """Insert classes in this order; `own`, the weight of its first query, decides for a class."""
    trees = single.take(sequence)  # the slots beyond `made` are still empty
    of_class = np.empty(len(single), dtype=np.int64)
    made = 0
    for c in sequence:
        parts, rate_c = single.progressions(c), single.rate[c]
        weight = single.per_edge + own[c]
        here = slice(0, made)
        low = np.maximum(trees.rate[here], rate_c)
        bound = trees.charge[here] + rate_c * weight - low * (weight + trees.weight[here])
        best, score, found = -1, least, 0.0
        for t in np.argsort(-bound, kind="stable"):
            if bound[t] <= score:
                break
            both = rates.added(trees.rate[t], trees.progressions(t), rate_c, parts, low[t])
            gain = trees.charge[t] + rate_c * weight - both * (weight + trees.weight[t])
            if gain > score:
                best, score, found = int(t), gain, both
        if best >= 0:
            trees.absorb(best, parts, single.weight[c], found)
        else:
            best, made = made, made + 1
            trees.put(np.array([best]), single.take(np.array([c])))
        of_class[c] = best
    return trees.take(np.arange(made)), of_class
