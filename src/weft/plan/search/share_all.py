"""Shared: one tree for all queries (Shared Time Slices, SIGMOD'06)."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from weft.errors import BudgetError
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


def if_better(found: Grouping, table: WindowTable, cost: LinearCost, began: float) -> Grouping:
    """The grouping, or one tree for all where that costs less; greedy searches can miss it."""
    price = found.cost(cost)
    if len(found) > 1:
        # All in one tree make at least the edges of the tree with the most.
        least = cost.tree(float(found.edge_rate.max()), float(cost.weight.sum()))
        if least < price:
            try:
                shared = search(table, cost, edges=found.report.edges)
            except BudgetError as past:
                notes = (*found.report.notes, f"one tree for all was not compared: {past}")
                return replace(found, report=replace(found.report, notes=notes))
            report = replace(
                found.report,
                evaluations=found.report.evaluations + shared.report.evaluations,
                seconds=perf_counter() - began,
            )
            together = shared.cost(cost)
            if together < price:
                note = (
                    f"one tree for all costs {together:,.6g}, less than the {price:,.6g} of the "
                    f"{len(found):,} trees that {report.strategy} found, and was taken"
                )
                report = replace(
                    report,
                    merges=shared.report.merges,
                    exact=shared.report.exact,
                    notes=(*report.notes, note),
                )
                return Grouping(shared.labels, shared.edge_rate, report)
            return Grouping(found.labels, found.edge_rate, report)
    return found
