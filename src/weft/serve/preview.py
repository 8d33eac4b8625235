"""What a query would join and what it would cost, before anybody adds it."""

from __future__ import annotations

import re

from weft.errors import EngineError
from weft.job.asked import asked_queries
from weft.plan.explain import describe_window
from weft.query.calendar import SESSION, Calendar
from weft.query.query import Query
from weft.serve.costs import query_costs
from weft.serve.models import Joined, Place, Preview
from weft.serve.source import Snapshot

NAMED = 12
"""The number of queries to name of those that a new query would share with."""
_PLACE = re.compile(r"\(line (\d+), column (\d+)\)")


def read_queries(sql: str, name: str | None, time: str | None, snapshot: Snapshot) -> list[Query]:
    """Parse queries to add to a plan, and check that they are on its axis and have new names."""
    queries = asked_queries(sql, time or "ts", name=name, files=False)
    axis = snapshot.plan.request.table.axis
    known = {name.lower() for name in snapshot.plan.request.names}
    for query in queries:
        if query.window.axis != axis:
            raise EngineError(
                f"query {query.name!r}: its window is on a {query.window.axis} axis, and the "
                f"stream's is {axis}"
            )
        if query.name.lower() in known:
            raise EngineError(f"query {query.name!r} runs already; drop it first")
        known.add(query.name.lower())
    return queries


def _estimated(query: Query) -> Query:
    window = query.window
    if isinstance(window, Calendar) and window.zone == SESSION:
        return query.over(window.in_zone("UTC"))
    return query


def preview(snapshot: Snapshot, queries: list[Query]) -> Preview:
    """Compare the plan with these queries to the plan without them."""
    now = snapshot.plan
    # Only the stream knows the session's time zone; for an estimate any zone will do.
    then = now.add([_estimated(query) for query in queries])
    alone = query_costs(then)[1]
    labels = zip(now.request.names, now.labels, strict=True)
    before = {name.lower(): int(label) for name, label in labels}
    found = []
    for query in queries:
        row = then.position(query.name)
        tree = then.trees[int(then.labels[row])]
        mates = [name for name in tree.queries if name.lower() != query.name.lower()]
        joined = {before[name.lower()] for name in mates if name.lower() in before}
        rates = [now.trees[label].edge_rate for label in joined]
        found.append(
            Joined(
                name=query.name,
                window=describe_window(query.window),
                tree=tree.number,
                joins=mates[:NAMED],
                others=len(mates),
                alone=float(alone[row]),
                edges_before=rates[0] if len(rates) == 1 else None,
                edges_after=tree.edge_rate,
            )
        )
    return Preview(
        queries=found,
        cost_before=now.cost,
        cost_after=then.cost,
        trees_before=len(now.trees),
        trees_after=len(then.trees),
        note=then.report.notes[0] if then.report.notes else "",
    )


def place_of(message: str) -> Place | None:
    """The place in the text that an error names.

    >>> place_of("'1 hor': unknown unit (line 3, column 33):")
    Place(line=3, column=33)
    """
    found = _PLACE.search(message)
    return Place(line=int(found[1]), column=int(found[2])) if found else None
