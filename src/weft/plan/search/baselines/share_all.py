"""Shared: one tree for all queries (Shared Time Slices, SIGMOD'06)."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from weft.plan.cost import LinearCost
from weft.plan.search.classes import collapse
from weft.plan.search.grouping import Grouping, SearchReport
from weft.plan.search.rates import Rates
from weft.query.table import WindowTable


def search(
    table: WindowTable,
    cost: LinearCost,
    *,
    edges: str = "exact",
    seed: int = 0,
    progress: Any = None,
) -> Grouping:
    """All queries in one tree: the least work per row, the most edges per query.

    >>> table = WindowTable(range=[12, 10], slide=[9, 6])  # WeaveShare example 2
    >>> search(table, LinearCost(1.0, 0.0, table.overlap)).edge_rate * 18
    array([8.])
    """
    began = perf_counter()
    classes, rates = collapse(table, cost.weight), Rates(edges)
    labels = np.zeros(len(table), dtype=np.int64)
    rate = rates.of_trees(classes, labels, min(len(table), 1)) / classes.unit
    report = SearchReport(
        strategy="share_all",
        edges=edges,
        evaluations=rates.evaluations,
        merges=max(len(table) - 1, 0),
        iterations=0,
        seconds=perf_counter() - began,
        stop_reason="nothing to search",
        exact=rates.sampled == 0,
        notes=rates.notes(),
    )
    return Grouping(labels, rate, report)
