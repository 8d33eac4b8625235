"""A plan as text: which queries share a tree, and what that saves."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from weft.plan.tree import Tree
from weft.query import html
from weft.query.calendar import Calendar
from weft.query.duration import format_duration
from weft.query.window import Session, Window

if TYPE_CHECKING:
    from weft.plan.plan import Plan

QUERIES_SHOWN = 12


def explain(plan: Plan, limit: int) -> str:
    """The plan as lines of text: its cost, its trees, and their queries."""
    return "\n".join([*_heading(plan), *_trees(plan, limit), *_notes(plan)])


def summary(plan: Plan) -> str:
    """The plan in a line, however many queries it has."""
    unit, trees = unit_name(plan), len(plan.trees)
    what = "ns of work" if plan.request.options.cost == "engine" else "cost"
    return (
        f"{plan.strategy}: {_count(len(plan.labels), 'query', 'queries')} at "
        f"{plan.rate:,.6g} rows per {unit} -> {_count(trees, 'tree', 'trees')}, "
        f"{what} {plan.cost:,.6g} per {unit}"
    )


def as_html(plan: Plan) -> str:
    """The plan as a table of its costliest trees, for notebooks."""
    order = np.argsort(-plan._priced[0], kind="stable")[: html.SHOWN]
    rows = []
    for tree in (plan.trees[int(number)] for number in order):
        names = ", ".join(tree.queries[:QUERIES_SHOWN])
        names += ", ..." if len(tree.queries) > QUERIES_SHOWN else ""
        rows.append(
            {
                "tree": str(tree.number),
                "queries": len(tree.queries),
                "names": names,
                f"edges per {unit_name(plan)}": tree.edge_rate,
                "cost": tree.cost,
                "saves": tree.saved,
            }
        )
    return html.table(summary(plan), rows, more=len(plan.trees) - len(rows))


def _heading(plan: Plan) -> list[str]:
    costs = plan.costs
    against = ", ".join(
        f"{name} costs {costs[key]:,.6g} ({_ratio(costs[key], plan.cost)})"
        for name, key in (("no sharing", "no_share"), ("sharing all", "share_all"))
    )
    return [summary(plan), f"  {against}"]


def _trees(plan: Plan, limit: int) -> list[str]:
    lines: list[str] = []
    shown = list(range(len(plan.trees)))
    if len(shown) > limit:
        shown = sorted(shown, key=lambda number: -plan._priced[0][number])[:limit]
        lines.append(f"(the {limit} costliest of {len(plan.trees)} trees)")
    for number in shown:
        lines += _tree(plan, plan.trees[number])
    return lines


def _tree(plan: Plan, tree: Tree) -> list[str]:
    unit = unit_name(plan)
    terms = [_count(len(tree.queries), "query", "queries")]
    if tree.edge_rate is not None:
        terms.append(f"{tree.edge_rate:,.6g} edges per {unit}")
    terms += [f"overlap {tree.overlap:,.6g}", f"cost {tree.cost:,.6g}"]
    if tree.saved > 1e-9 * abs(tree.unshared_cost):
        terms.append(f"saves {tree.saved:,.6g}")
    lines = [f"tree {tree.number}: {', '.join(terms)}"]
    if tree.coverage is not None:
        return lines + [f"   {line}" for line in tree.coverage.explain_lines()]
    shown = tree.rows[:QUERIES_SHOWN]
    entries = [
        f"{plan.request.names[int(row)]}: {describe_window(_window(plan, int(row)))}"
        + _asked(plan, int(row))
        for row in shown
    ]
    if len(tree.rows) > len(shown):
        entries.append(f"and {len(tree.rows) - len(shown):,} more")
    marks = ["├─"] * (len(entries) - 1) + ["└─"]
    return lines + [f"{mark} {entry}" for mark, entry in zip(marks, entries, strict=True)]


def _window(plan: Plan, row: int) -> Window:
    return plan.request.table[row] if plan.request.queries is None else plan.queries[row].window


def _asked(plan: Plan, row: int) -> str:
    if plan.request.queries is None:
        return ""
    query = plan.request.queries[row]
    text = ", " + ", ".join(f"{call} as {name}" for name, call in query.aggs.items())
    text += f" where {query.where}" if query.where else ""
    text += f" by {', '.join(query.by)}" if query.by else ""
    return text + (f", open for {query.lateness_given} longer" if query.lateness else "")


def _notes(plan: Plan) -> list[str]:
    """Why the trees were not merged, and the notes of the search."""
    notes = [f"note: {note}" for note in plan.report.notes]
    if not plan.report.exact:
        notes.append("note: an edge rate was too hard to count and was sampled")
    groups = plan.groups
    if len(groups) > 1 and plan.request.queries is not None:
        first = [plan.request.names[int(rows[0])] for rows in groups[:4]]
        for a, b in pairwise(first):
            notes.append(f"note: {plan.why(a, b)}")
    return notes


def describe_window(window: Window) -> str:
    """A window in words.

    >>> describe_window(Window(range="12 minutes", slide="5 minutes"))
    '12 minutes every 5 minutes'
    >>> describe_window(Calendar(range="1 quarter", slide="1 month", zone="Asia/Tokyo"))
    '3 months every 1 month, Asia/Tokyo'
    >>> describe_window(Session(gap="5 minutes", maximum="1 hour"))
    'sessions with gaps of 5 minutes and a maximum of 1 hour'
    """
    if isinstance(window, Session):
        gaps = f"sessions with gaps of {format_duration(window.gap)}"
        most = window.maximum
        return gaps if most is None else f"{gaps} and a maximum of {format_duration(most)}"
    if isinstance(window, Calendar):
        told = window.to_dict()
        moved = "" if told["offset"].startswith("0 ") else f" from {told['offset']}"
        return f"{told['range']} every {told['slide']}{moved}, {told['zone']}"
    show = format_duration if window.axis == "time" else str
    text = f"{show(window.range)} every {show(window.slide)}"
    return text + (f" from {show(window.offset)}" if window.phase else "")


def unit_name(plan: Plan) -> str:
    """The unit that rates are given per: a second, or a unit of an integer axis."""
    return "second" if plan.request.table.axis == "time" else "unit"


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def _ratio(other: float, cost: float) -> str:
    return f"{other / cost:,.3g}x" if cost > 0 else "no cost"
