"""No Share: one tree for each query."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from weft.plan.cost import LinearCost
from weft.plan.search.grouping import Grouping, SearchReport
from weft.query.table import WindowTable


def search(
    table: WindowTable,
    cost: LinearCost,
    *,
    edges: str = "exact",
    seed: int = 0,
    progress: Any = None,
) -> Grouping:
    """One tree per query: the baseline of every comparison.

    A single query has one edge per slide, or two if its slide does not divide its range, so there
    is nothing to compute.

    >>> table = WindowTable(range=[12, 10], slide=[9, 6])
    >>> search(table, LinearCost(1.0, 0.0, table.overlap)).edge_rate * 18
    array([4., 6.])
    """
    began = perf_counter()
    rate = np.where(table.range % table.slide == 0, 1.0, 2.0) / table.slide
    report = SearchReport(
        strategy="no_share",
        edges=edges,
        evaluations=0,
        merges=0,
        iterations=0,
        seconds=perf_counter() - began,
        stop_reason="nothing to search",
        exact=True,
    )
    return Grouping(np.arange(len(table), dtype=np.int64), rate, report)
