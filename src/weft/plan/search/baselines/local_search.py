"""Local Search: moves one query at a time to the tree where it saves the most."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

import numpy as np

from weft.errors import BudgetError, PlanError
from weft.plan.cost import LinearCost
from weft.plan.search.baselines import no_share, randomly
from weft.plan.search.baselines.moving import Moves
from weft.plan.search.classes import collapse, tolerance
from weft.plan.search.grouping import Grouping, SearchReport, number_by_first
from weft.plan.search.rates import Rates
from weft.plan.search.weave import search as weave
from weft.plan.search.weave.weaving import Progress
from weft.query.table import WindowTable

MOST = 12_000_000
"""Most pairs kept in memory, of movable things and trees or of distinct edge sets."""


def search(
    table: WindowTable,
    cost: LinearCost,
    *,
    edges: str = "exact",
    seed: int = 0,
    progress: Progress | None = None,
    start: str | Grouping = "no_share",
    times: float = 10,
    most_hard: int = 2**62,
) -> Grouping:
    """Repeatedly move the query that saves the most to another tree or to a new one.

    It starts from `"no_share"`, `"random"`, or a given grouping, such as that of `weave`, and never
    returns anything worse than its start. A query moves together with those of equal edges in its
    tree, because leaving some of them behind never costs less. An iteration is one move. There
    are at most `times` (2, 5 and 10 in the paper) as many as `weave` needs; the search also stops
    once `most_hard` edge rates were too hard for the recursion, because each of those is slow.

    >>> table = WindowTable(range=[16, 10, 8], slide=[4, 5, 4])
    >>> search(table, LinearCost(fixed=1.2, per_edge=0.0, weight=table.overlap)).labels
    array([0, 1, 0])
    """
    began = perf_counter()
    if not times >= 0:
        raise PlanError(f"times={times!r} must be 0 or more")
    if isinstance(start, Grouping):
        begin = start
    elif start in ("no_share", "random"):
        first = no_share.search if start == "no_share" else randomly.search
        begin = first(table, cost, edges=edges, seed=seed)
    else:
        raise PlanError(f"start={start!r}: accepted are 'no_share', 'random' and a Grouping")
    classes, rates = collapse(table, cost.weight), Rates(edges)
    things = len(np.unique(begin.labels * max(len(classes), 1) + classes.of_query))
    if not things:
        return replace(begin, report=replace(begin.report, strategy="local_search"))
    size = max(things * (len(begin) + 1), len(classes) ** 2)
    if size > MOST:
        said = (
            f"a local search keeps {size:,} pairs here, more than the {MOST:,} that it may: "
            f"{len(classes):,} distinct edge sets in {len(begin):,} trees"
        )
        if not isinstance(start, Grouping):
            raise BudgetError(f"{said}; strategy='weave' would do it")
        return replace(begin, report=replace(begin.report, notes=(*begin.report.notes, said)))
    woven = begin if begin.report.strategy == "weave" else weave.search(table, cost)
    most = int(times * woven.report.iterations)
    moves = Moves(classes, cost, begin, rates, most_hard)
    made, stop = 0, f"{most:,} moves were made, {times:g} times what weave needs"
    while made < most:
        if not moves.make(tolerance(classes, cost)):
            stop = "no move saves anything"
            if rates.hard >= most_hard:
                stop = f"{rates.hard:,} edge rates were hard to compute"
            break
        made += 1
        if progress is not None and made % 16 == 0:
            progress(made, most, "moving queries")
    labels, moved = number_by_first(moves.labels())
    rate = np.empty(int(labels.max(initial=-1)) + 1)
    used = np.flatnonzero(moved >= 0)
    rate[moved[used]] = moves.rate[used] / classes.unit
    report = SearchReport(
        strategy="local_search",
        edges=edges,
        evaluations=begin.report.evaluations + rates.evaluations,
        merges=len(table) - len(rate),
        iterations=made,
        seconds=perf_counter() - began,
        stop_reason=stop,
        exact=begin.report.exact and rates.sampled == 0,
        notes=(*begin.report.notes, *rates.notes()),
    )
    found = Grouping(labels, rate, report)
    if found.cost(cost) > begin.cost(cost):  # rates are rounded, or were sampled
        return Grouping(begin.labels, begin.edge_rate, report)
    return found
