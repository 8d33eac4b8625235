"""Compares the plan found with one tree for all queries, which a greedy search can miss."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

from weft.errors import BudgetError
from weft.plan.cost import LinearCost
from weft.plan.search.baselines import share_all
from weft.plan.search.grouping import Grouping
from weft.query.table import WindowTable


def or_one_tree(found: Grouping, table: WindowTable, cost: LinearCost, began: float) -> Grouping:
    """The grouping, or one tree for all where that costs less; greedy searches can miss it."""
    price = found.cost(cost)
    if len(found) > 1:
        # One tree for all has at least as many edges as the tree with the most.
        least = cost.tree(float(found.edge_rate.max()), float(cost.weight.sum()))
        if least < price:
            try:
                shared = share_all.search(table, cost, edges=found.report.edges)
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
