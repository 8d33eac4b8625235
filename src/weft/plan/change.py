"""Adds and drops queries of a plan by Incremental WeaveShare, one sharing group at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from weft.errors import PlanError
from weft.plan.cost import LinearCost
from weft.plan.incremental import Incremental
from weft.plan.optimizer import COVERAGE, assemble, plan_request
from weft.plan.plan import Plan
from weft.plan.request import Request, RowNames
from weft.plan.search.grouping import Grouping, SearchReport, number_by_first
from weft.query.table import WindowTable

if TYPE_CHECKING:
    from weft.query.query import Query
    from weft.query.window import Window

Rows = npt.NDArray[np.intp]
Curve = tuple[tuple[int, float], ...]


def add(plan: Plan, queries: Iterable[Query | Window] | WindowTable) -> Plan:
    """The plan with these queries woven in; sharing groups without new queries are unchanged."""
    request, known = _joined(plan.request, queries), len(plan.labels)
    if request.options.strategy in COVERAGE:
        return plan_request(request)
    position = _group_of(plan)

    def change(rows: Rows) -> Incremental:
        old, new = rows[rows < known], rows[rows >= known]
        cost = request.model(rows).linear
        before = _state(plan, old, replace(cost, weight=cost.weight[: len(old)]), position)
        if not len(new):
            return before
        return before.add(request.table.take(new), cost.weight[len(old) :])

    return _changed(request, change, f"{len(request.table) - known:,} added")


def drop(plan: Plan, names: Iterable[str]) -> Plan:
    """The plan without these queries; trees that lost queries are woven again."""
    gone = np.unique(np.array([plan.position(name) for name in names], dtype=np.intp))
    stay = np.delete(np.arange(len(plan.labels)), gone)
    request = replace(
        plan.request,
        names=[plan.request.names[int(row)] for row in stay],
        table=plan.request.table.take(stay),
        queries=None
        if plan.request.queries is None
        else tuple(plan.request.queries[row] for row in stay),
    )
    if request.options.strategy in COVERAGE:
        return plan_request(request)
    position, lost = _group_of(plan), np.isin(np.arange(len(plan.labels)), gone)

    def change(rows: Rows) -> Incremental:
        # All queries of the group before the drop; `rows` are the new positions of those kept.
        group = plan.groups[position[int(stay[rows[0]])]]
        before = _state(plan, group, plan.request.model(group).linear, position)
        return before.drop(np.flatnonzero(lost[group])) if lost[group].any() else before

    return _changed(request, change, f"{len(gone):,} dropped")


def _changed(request: Request, change: Callable[[Rows], Incremental], what: str) -> Plan:
    groups = request.groups()
    states = [change(rows) for rows in groups]
    found = [(rows, state.grouping) for rows, state in zip(groups, states, strict=True)]
    plan = assemble(request, found)
    reasons = dict.fromkeys(state.change.reason for state in states if state.change)
    report = replace(
        plan.report,
        stop_reason="; ".join(reasons) or "nothing changed",
        notes=(f"{what}: {'; '.join(reasons) or 'no tree was touched'}", *plan.report.notes),
    )
    return replace(
        plan,
        report=report,
        curves=tuple(state.curve for state in states),
        floors=tuple(state.floor for state in states),
    )


def _state(plan: Plan, rows: Rows, cost: LinearCost, position: dict[int, int]) -> Incremental:
    """The part of the plan that serves `rows` (all of one group), as a plan that can change."""
    labels, moved = number_by_first(plan.labels[rows])
    used = np.flatnonzero(moved >= 0)
    rate = np.zeros(len(used))
    rate[moved[used]] = plan.edge_rates[used]
    kept = SearchReport(
        plan.strategy, plan.report.edges, 0, 0, 0, 0.0, "kept as it was", plan.report.exact
    )
    curve: Curve = ()
    floor = None
    if len(rows) and plan.curves:
        curve = plan.curves[position[int(rows[0])]]
    if len(rows) and plan.floors:
        floor = plan.floors[position[int(rows[0])]]
    return Incremental.of(
        plan.request.table.take(rows),
        cost,
        Grouping(labels, rate, kept),
        tolerance=plan.request.options.tolerance,
        rule=plan.request.options.tolerance_rule,
        curve=curve,
        floor=floor,
    )


def _group_of(plan: Plan) -> dict[int, int]:
    """The sharing group of each query's position."""
    return {int(row): number for number, rows in enumerate(plan.groups) for row in rows}


def _joined(request: Request, queries: Iterable[Query | Window] | WindowTable) -> Request:
    """The request with more queries appended."""
    more = Request.of(queries, request.options)
    if not len(more.table):
        return request
    if (more.queries is None) != (request.queries is None) and len(request.table):
        raise PlanError("a plan of queries takes queries, and a plan of bare windows takes windows")
    if more.queries is not None:
        return Request.of([*(request.queries or ()), *more.queries], request.options)
    if len(request.table) and more.table.axis != request.table.axis:
        raise PlanError("windows on a time axis and on an integer axis cannot be mixed")
    pairs = [(request.table.range, more.table.range), (request.table.slide, more.table.slide)]
    pairs.append((request.table.offset, more.table.offset))
    ranges, slides, offsets = (np.concatenate(pair) for pair in pairs)
    table = WindowTable(range=ranges, slide=slides, offset=offsets, axis=more.table.axis)
    return Request(_names(request.names, len(table)), table, None, request.options)


def _names(names: Sequence[str], count: int) -> Sequence[str]:
    """Names for more bare windows; no name is reused, not even that of a dropped window."""
    if isinstance(names, RowNames):
        return RowNames(count)
    first = max((int(name[1:]) for name in names), default=0) + 1
    return [*names, *(f"q{first + more}" for more in range(count - len(names)))]
