"""WeaveShare, quickly: the paper's greedy choices without computing every pair."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

import numpy as np
import numpy.typing as npt

from weft.plan.cost import LinearCost
from weft.plan.search.baselines import weave_paper
from weft.plan.search.classes import Classes, collapse, tolerance
from weft.plan.search.grouping import Grouping, SearchReport
from weft.plan.search.rates import Rates
from weft.plan.search.trees import Trees
from weft.plan.search.weave.one_tree import or_one_tree
from weft.plan.search.weave.partners import Shelves, join, with_partners
from weft.plan.search.weave.weaving import Progress, Woven, roots, weave_trees
from weft.query.table import WindowTable

Int64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

MATRIX = 10_000
"""Trees whose pairs are all bounded at once; the bounds then take 400 MB."""
BLOCK = 4_096
_SMALL = 256  # with so few trees, looking for those with partners first does not pay
_ATTEMPTS = 8


def search(
    table: WindowTable,
    cost: LinearCost,
    *,
    edges: str = "exact",
    seed: int = 0,
    progress: Progress | None = None,
) -> Grouping:
    """Repeatedly merge the two trees that save the most, while any merge saves.

    The choices are those of WeaveShare (figure 2), but queries with equal edges start in one tree,
    and edge rates are computed only for pairs whose bound is the best. Of pairs whose savings tie,
    the one with the smallest numbers is merged, trees being numbered by their first query. Savings
    tie when they differ by no more than 1e-12 of the cost of the edges of all distinct edge sets
    without sharing, `sum of E * (per_edge + w)`, and a merge must save more than that. An iteration
    is one merge, or the final step that finds none.

    More than 10,000 distinct edge sets that can gain from each other are first woven in blocks of
    similar slides, and the report says so. In the end the plan is compared with one tree for all
    queries, and the cheaper one is returned. Methods of counting edges other than `exact` use the
    paper's own algorithm.

    >>> table = WindowTable(range=[16, 10, 8], slide=[4, 5, 4])  # WeaveShare example 3
    >>> cost = LinearCost(fixed=1.2, per_edge=0.0, weight=table.overlap)
    >>> grouping = search(table, cost)
    >>> grouping.labels, round(grouping.cost(cost), 9)
    (array([0, 1, 0]), 4.3)
    """
    began = perf_counter()
    if edges != "exact":
        found = weave_paper.search(table, cost, edges=edges, seed=seed, progress=progress)
        found = replace(found, report=replace(found.report, strategy="weave"))
        return or_one_tree(found, table, cost, began)
    classes, rates = collapse(table, cost.weight), Rates()
    trees, of_class, notes = weave_classes(classes, cost, rates, progress)
    labels, rate = of_class[classes.of_query], trees.rate / classes.unit
    merges = len(labels) - len(rate)
    report = SearchReport(
        strategy="weave",
        edges=edges,
        evaluations=rates.evaluations,
        merges=merges,
        iterations=merges + 1,
        seconds=perf_counter() - began,
        stop_reason="no merge saves anything" if len(rate) > 1 else "one tree is left",
        exact=rates.sampled == 0,
        notes=(*notes, *rates.notes()),
    )
    return or_one_tree(Grouping(labels, rate, report), table, cost, began)


def weave_classes(
    classes: Classes, cost: LinearCost, rates: Rates, progress: Progress | None
) -> tuple[Trees, Int64, tuple[str, ...]]:
    """The trees woven from classes, the tree of each class, and notes for the report."""
    trees = Trees.of_classes(classes, cost.per_edge)
    tie = tolerance(classes, cost)
    least = tie - cost.fixed * classes.unit
    woven, notes = weave_many(trees, rates, least=least, tie=tie, progress=progress)
    rates.better(woven.trees)
    # Trees are numbered by their first class, which is that of their first query.
    place = np.empty(len(classes), dtype=np.int64)
    place[woven.number] = np.arange(len(woven.number))
    return woven.trees, place[woven.ended], notes


def weave_many(
    trees: Trees, rates: Rates, *, least: float, tie: float, progress: Progress | None
) -> tuple[Woven, tuple[str, ...]]:
    """`weave_trees` for any number of single-class trees; skips those without a partner."""
    has = None
    if len(trees) > _SMALL:
        shelves = Shelves.of(trees)
        has = with_partners(trees, shelves, least)
        few = min(MATRIX, max(len(trees) // 4, min(len(trees) // 2, MATRIX // 2)))
        for _ in range(_ATTEMPTS):
            if has is None or has.sum() > few:
                break
            # A merged tree may be a partner for a tree that had none before. This is checked for
            # every merged tree; if it finds one, that tree is included and the weaving starts
            # again, so that the choices are the same as with all trees.
            keep, watch = np.flatnonzero(has), _Watch(trees, shelves, has, least)
            woven = weave_trees(
                trees.take(keep), rates, least=least, tie=tie, progress=progress, merged=watch
            )
            if not len(watch.missed):
                return _among(trees, keep, woven), ()
            has[watch.missed] = True
    if len(trees) <= MATRIX:
        return weave_trees(trees, rates, least=least, tie=tie, progress=progress), ()
    keep = np.arange(len(trees)) if has is None else np.flatnonzero(has)
    woven = _weave_blocks(trees.take(keep), rates, least, tie, progress)
    note = (
        f"{len(trees):,} distinct edge sets are more than the {MATRIX:,} that can be compared all "
        f"with all: the {len(keep):,} that may share were woven in blocks of neighbouring slides"
    )
    return _among(trees, keep, woven), (note,)


class _Watch:
    """Looks for trees that had no partner but could gain from a merge with a merged tree."""

    def __init__(self, trees: Trees, shelves: Shelves, has: Bool, least: float) -> None:
        self.trees, self.shelves, self.has, self.least = trees, shelves, has, least
        self.missed = np.empty(0, dtype=np.int64)

    def __call__(self, woven: Trees, tree: int) -> bool:
        found = join(woven, tree, self.trees, self.shelves, self.least)
        self.missed = found[~self.has[found]]
        return len(self.missed) == 0


def _among(trees: Trees, keep: Int64, woven: Woven) -> Woven:
    """The result of weaving the trees `keep`, renumbered among all trees."""
    ended = np.arange(len(trees), dtype=np.int64)
    ended[keep] = keep[woven.ended]
    number = np.flatnonzero(ended == np.arange(len(trees)))
    left = trees.take(number)
    left.put(np.searchsorted(number, keep[woven.number]), woven.trees)
    return Woven(left, number, ended)


def _weave_blocks(
    trees: Trees, rates: Rates, least: float, tie: float, progress: Progress | None
) -> Woven:
    """Weave blocks of trees with similar steps, and again while too many trees are left."""
    ended = np.arange(len(trees), dtype=np.int64)
    number = ended.copy()
    shift = 0
    while len(trees) > MATRIX:
        order = np.lexsort((trees.low, trees.rate))
        before = len(trees)
        here = np.arange(before, dtype=np.int64)
        cuts = np.arange(shift, before, BLOCK)[1 if shift == 0 else 0 :]
        for block in np.split(order, cuts):
            keep = np.sort(block)
            woven = weave_trees(trees.take(keep), rates, least=least, tie=tie, progress=progress)
            here[keep] = keep[woven.ended]
            trees.put(keep[woven.number], woven.trees)
        ended = _follow(ended, number, here)
        left = np.flatnonzero(here == np.arange(before))
        trees, number = trees.take(left), number[left]
        shift = 0 if shift else BLOCK // 2  # other neighbours the next time
        if len(trees) > 0.95 * before:
            return Woven(trees, number, ended)
    woven = weave_trees(trees, rates, least=least, tie=tie, progress=progress)
    return Woven(woven.trees, number[woven.number], _follow(ended, number, woven.ended))


def _follow(ended: Int64, number: Int64, here: Int64) -> Int64:
    """Update where trees ended after the trees `number` were woven among themselves into `here`."""
    moved = ended.copy()
    moved[number] = number[here]
    return roots(moved[ended])
