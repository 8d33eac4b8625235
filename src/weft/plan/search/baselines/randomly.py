"""Random: queries assigned at random to a random number of trees."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from weft.errors import PlanError
from weft.plan.cost import LinearCost
from weft.plan.search.classes import collapse
from weft.plan.search.grouping import Grouping, SearchReport, number_by_first
from weft.plan.search.rates import Rates
from weft.query.table import WindowTable


def search(
    table: WindowTable,
    cost: LinearCost,
    *,
    edges: str = "exact",
    seed: int = 0,
    progress: Any = None,
    trees: int | None = None,
) -> Grouping:
    """Put each query into one of `trees` trees, or of a random number of them.

    Trees without a query are left out.

    >>> table = WindowTable(range=[4, 5, 6, 7], slide=[2, 3, 4, 5])
    >>> search(table, LinearCost(1.0, 0.0, table.overlap), seed=1).labels
    array([0, 0, 0, 1])
    """
    began = perf_counter()
    draw = np.random.default_rng(seed)
    if trees is not None and trees < 1:
        raise PlanError(f"trees={trees!r} must be 1 or more")
    most = int(draw.integers(1, max(len(table), 1) + 1)) if trees is None else trees
    labels, _ = number_by_first(draw.integers(0, most, size=len(table)))
    classes, rates = collapse(table, cost.weight), Rates(edges)
    rate = rates.of_trees(classes, labels, int(labels.max(initial=-1)) + 1) / classes.unit
    report = SearchReport(
        strategy="random",
        edges=edges,
        evaluations=rates.evaluations,
        merges=len(table) - len(rate),
        iterations=0,
        seconds=perf_counter() - began,
        stop_reason="nothing to search",
        exact=rates.sampled == 0,
        notes=rates.notes(),
    )
    return Grouping(labels, rate, report)
