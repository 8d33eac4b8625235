"""Requests that came together, as the one change that they amount to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weft.errors import EngineError
from weft.plan.plan import Plan
from weft.query.query import Query
from weft.query.trust import check_untrusted


@dataclass(frozen=True)
class Burst:
    """What some adds and drops, one after the other, come to."""

    added: tuple[Query, ...]
    dropped: tuple[str, ...]
    backfill: tuple[str, ...]

    @classmethod
    def of(cls, queries: Sequence[Query], asked: Sequence[Mapping[str, Any]]) -> Burst:
        """From the queries that run and the requests; an error if any request would meet one.

        >>> from weft.query.window import Window
        >>> a, b = (Query(n, aggs={"n": "count(*)"}, window=Window(range="1 hour")) for n in "ab")
        >>> add = {"op": "add", "query": b.to_dict(), "backfill": True}
        >>> Burst.of([a], [add, {"op": "drop", "name": "A"}]).dropped
        ('a',)
        >>> Burst.of([a], [add, {"op": "drop", "name": "b"}]).changes
        False
        """
        running = {query.name.lower(): query for query in queries}
        known = dict(running)
        filled: set[str] = set()
        for request in asked:
            if request["op"] == "add":
                query = Query.from_dict(request["query"], trusted=False)
                check_untrusted([query])
                name = query.name.lower()
                if name in known or query.window.axis != queries[0].window.axis:
                    raise EngineError(f"query {query.name!r} cannot be added")
                known[name] = query
                filled = filled | {name} if request["backfill"] else filled - {name}
            elif request["op"] == "drop":
                del known[request["name"].lower()]
            else:
                raise EngineError(f"op={request['op']!r} goes alone")
        if not known:
            raise EngineError("the last query of a stream cannot be dropped")
        added = [query for name, query in known.items() if running.get(name) is not query]
        return cls(
            tuple(added),
            tuple(q.name for name, q in running.items() if known.get(name) is not q),
            tuple(query.name for query in added if query.name.lower() in filled),
        )

    @property
    def changes(self) -> bool:
        """Whether anything is other than before."""
        return bool(self.added or self.dropped)

    def applied(self, plan: Plan) -> Plan:
        """The plan with the change made; queries come before others go, so that one is there."""
        replaced = {query.name.lower() for query in self.added}
        before = [name for name in self.dropped if name.lower() in replaced]
        if before and len(before) == len(plan.queries):
            raise EngineError("every query of the plan is replaced")
        after = [name for name in self.dropped if name.lower() not in replaced]
        plan = plan.drop(before) if before else plan
        plan = plan.add(list(self.added)) if self.added else plan
        return plan.drop(after) if after else plan
