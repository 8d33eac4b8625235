"""Changes that are requested together, merged into one change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from weft.errors import CheckpointError, EngineError
from weft.plan.plan import Plan
from weft.query.one_source import check_source
from weft.query.query import Query
from weft.query.query_limits import QueryLimits
from weft.query.trust import check_untrusted
from weft.stream.catalogue import Catalogue, Failure
from weft.stream.evolve import next_catalogue, with_history
from weft.stream.progress import Progress

NONE_LEFT = "no query is left to answer"
Change = Mapping[str, Any]
"""A change: `op` and its arguments; `all` has several `changes`, all made or none."""


class NeedsRestart(Exception):
    """A change needs columns that the stream does not project."""


@dataclass(frozen=True)
class ReadQuery:
    """The query of a request, parsed and checked once, because waiting requests are read again."""

    query: Query


@dataclass(frozen=True)
class Burst:
    """The combined effect of several changes, made one after the other."""

    added: tuple[Query, ...] = ()
    dropped: tuple[str, ...] = ()
    backfill: tuple[str, ...] = ()
    pausing: Mapping[str, bool] = field(default_factory=dict)
    """By name in lower case, whether a query is paused (True) or resumed (False)."""
    plan: Plan | None = None
    """A new plan of the same queries."""
    failed: tuple[Failure, ...] = ()
    """The failed queries after the change."""
    why: Mapping[str, str] = field(default_factory=dict)
    """The reasons for pausing queries that were not paused by request."""
    limits: Mapping[str, QueryLimits | None] = field(default_factory=dict)
    """By name in lower case, the new limits of a query."""
    history: tuple[str, ...] = ()
    """The added queries that wait for their history."""
    arrived: Mapping[str, str] = field(default_factory=dict)
    """By name in lower case, the folder with the history of a query."""

    @classmethod
    def of(cls, catalogue: Catalogue, asked: Sequence[Change]) -> Burst:
        """The effect of changes on a catalogue; an error if any of them is invalid."""
        running = {query.name.lower(): query for query in catalogue.queries}
        axis = catalogue.queries[0].window.axis
        known = dict(running)
        filled: set[str] = set()
        waiting: set[str] = set()
        arrived: dict[str, str] = {}
        pausing: dict[str, bool] = {}
        why: dict[str, str] = {}
        limits: dict[str, QueryLimits | None] = {}
        failed = {failure.query.name.lower(): failure for failure in catalogue.failed}
        plan = None
        for change in _with_parts(_flat(asked), catalogue):
            op = change["op"]
            if op == "add":
                query = _query(change["query"])
                name = query.name.lower()
                if name in known:
                    raise EngineError(f"query {query.name!r} runs already; drop it first")
                if query.window.axis != axis:
                    raise EngineError(
                        f"query {query.name!r}: its window is on a {query.window.axis} axis, and "
                        f"the stream's on a {axis} axis: its time column is "
                        f"{catalogue.settings.time!r}, of kind {catalogue.settings.kind}"
                    )
                check_source(query, catalogue.queries, catalogue.settings.time, "stream")
                known[name] = query
                filled = filled | {name} if change.get("backfill") else filled - {name}
                waiting = waiting | {name} if change.get("history") else waiting - {name}
                pausing.pop(name, None)
                limits.pop(name, None)
                failed.pop(name, None)
            elif op == "fail" and isinstance(change["failure"], Failure):
                failure = change["failure"]
                name = failure.query.name.lower()
                if name in known or name not in failed:
                    del known[_known(known, name)]
                    failed[name] = failure
            elif op in ("drop", "resume") and change["name"].lower() in failed:
                failure = failed.pop(change["name"].lower())
                if op == "resume":
                    known[failure.query.name.lower()] = failure.query
            elif op in ("drop", "pause", "resume"):
                name = _known(known, change["name"])
                if op == "drop":
                    del known[name]
                    pausing.pop(name, None)
                    limits.pop(name, None)
                elif pausing.get(name) and change.get("why"):
                    continue  # it exceeds two limits
                elif pausing.get(name) == (op == "pause"):
                    raise EngineError(f"query {name!r}: {op} is requested twice")
                else:
                    pausing[name] = op == "pause"
                    why[name] = _cleaned(change.get("why"))
            elif op == "limit" and change["name"].lower() in failed:
                name = change["name"].lower()
                query = failed[name].query.limited(QueryLimits.of(change["limits"]))
                failed[name] = replace(failed[name], query=query)
            elif op == "limit":
                limits[_known(known, change["name"])] = QueryLimits.of(change["limits"])
            elif op == "history":
                arrived[_known(known, change["name"])] = _place(change["place"])
            elif op == "plan" and isinstance(change["plan"], Plan):
                plan = change["plan"]
            else:
                raise CheckpointError(
                    f"op={op!r}: accepted are add, drop, pause, resume, limit, all"
                )
        if not known and any(q.name.lower() not in failed for q in running.values()):
            last = ", ".join(repr(query.name) for query in running.values())
            raise EngineError(f"{last} is the last query of the stream: stop() it instead")
        _check_parts(known, running)
        added = [query for name, query in known.items() if running.get(name) is not query]
        dropped = tuple(q.name for name, q in running.items() if known.get(name) is not q)
        if plan is not None and {q.name.lower() for q in plan.queries} != set(known):
            raise EngineError("the plan was made for other queries than those that run")
        backfill = tuple(query.name for query in added if query.name.lower() in filled)
        if not known:
            causes = "; ".join(failure.said for failure in failed.values())
            raise EngineError(f"{NONE_LEFT}: {causes}")
        why = {name: said for name, said in why.items() if said}
        burst = cls(
            tuple(added), dropped, backfill, pausing, plan, tuple(failed.values()), why, limits,
            tuple(query.name for query in added if query.name.lower() in waiting), arrived,
        )  # fmt: skip
        if burst.replans and catalogue.settings.engine != "operator":
            raise EngineError(
                "queries of engine='rewrite' are fixed, because Spark ties their state to the "
                "plan: use engine='operator' to add and drop them"
            )
        return burst

    @property
    def replans(self) -> bool:
        """Whether the set of queries or the plan changes."""
        return bool(self.added or self.dropped or self.plan is not None)

    def changes(self, catalogue: Catalogue) -> bool:
        """Whether anything changes."""
        before, after = ([f.to_dict() for f in some] for some in (catalogue.failed, self.failed))
        told = bool(self.pausing or self.limits or self.arrived)
        return self.replans or told or before != after

    def made_of(
        self,
        catalogue: Catalogue,
        progress: Progress,
        types: Mapping[str, str],
        hashed: Sequence[tuple[str, ...]] = (),
    ) -> Catalogue:
        """The catalogue with the change made; its number is always one higher."""
        made = replace(catalogue, number=catalogue.number + 1, batch=progress.batch + 1)
        if self.replans:
            plan = self.plan or self._applied(catalogue.planned)
            made = next_catalogue(
                catalogue, plan, progress, self.backfill, types, hashed, self.history
            )
        if self.pausing:
            made = made.with_paused(self.pausing, self.why)
        if self.limits:
            made = made.with_limits(self.limits)
        if self.arrived:
            made = with_history(made, self.arrived, progress)
        return replace(made, failed=self.failed)

    def _applied(self, plan: Plan) -> Plan:
        """The plan with the change made; adds before it drops, so that the plan is never empty."""
        replaced = {query.name.lower() for query in self.added}
        before = [name for name in self.dropped if name.lower() in replaced]
        if before and len(before) == len(plan.queries):
            raise EngineError("this would replace every query: stop the stream and start a new one")
        after = [name for name in self.dropped if name.lower() not in replaced]
        plan = plan.drop(before) if before else plan
        plan = plan.add(list(self.added)) if self.added else plan
        return plan.drop(after) if after else plan


def _flat(asked: Sequence[Change]) -> Iterator[Change]:
    for change in asked:
        if change["op"] == "all":
            yield from _flat(change["changes"])
        else:
            yield change


def _with_parts(changes: Iterable[Change], catalogue: Catalogue) -> Iterator[Change]:
    """Expands a change of a statement's query to all its queries, which change together."""
    numbers = {entry.query.name: entry.number for entry in catalogue.entries}
    known = {q.name: q for q in (*catalogue.queries, *(f.query for f in catalogue.failed))}
    for change in changes:
        op = change["op"]
        if op in ("add", "plan", "history"):
            if op == "add":
                query = _query(change["query"])
                known[query.name] = query
            yield change
            continue
        name = change["failure"].query.name if op == "fail" else change["name"]
        whole = next((q for q in known.values() if _is_whole(q, name)), None)
        if whole is None or whole.finish is None:
            yield change
            continue
        if op == "drop" and name.lower() != whole.name.lower():
            raise EngineError(f"query {name!r} is a part of {whole.name!r}: drop that one")
        for member in (whole.name, *whole.finish.parts):
            if op != "fail":
                yield {**change, "name": member}
            elif member in known:
                number = numbers.get(member, change["failure"].number)
                failure = replace(change["failure"], query=known[member], number=number)
                yield {**change, "failure": failure}


def _check_parts(known: Mapping[str, Query], running: Mapping[str, Query]) -> None:
    """Refuse a statement that uses queries of other statements as its parts."""
    taken: set[str] = set()
    for query in known.values():
        for name in query.finish.parts if query.finish is not None else ():
            part = known.get(name.lower())
            if part is None:
                raise EngineError(f"query {query.name!r} is SQL over {name!r}, which does not run")
            is_new = running.get(query.name.lower()) is not query
            stranger = is_new and running.get(name.lower()) is part
            if stranger or part.finish is not None or name.lower() in taken:
                raise EngineError(f"query {query.name!r}: {name!r} is no part of its statement")
            taken.add(name.lower())


def _is_whole(query: Query, name: str) -> bool:
    """Whether a query has this name, and has parts, or has a part of this name."""
    if query.finish is None or not query.finish.parts:
        return False
    return name.lower() in (query.name.lower(), *map(str.lower, query.finish.parts))


def _cleaned(why: object) -> str:
    """A reason from an untrusted source, cleaned to be one line on a terminal."""
    text = " ".join(why.split())[:300] if isinstance(why, str) else ""
    return "".join(letter for letter in text if letter.isprintable())


def added_queries(asked: Sequence[Change]) -> list[Query]:
    """The queries that changes would add."""
    return [_query(change["query"]) for change in _flat(asked) if change["op"] == "add"]


def read_change(change: Change) -> Change:
    """A request with its queries parsed; an error says what is wrong with one."""
    if change["op"] == "all":
        return {**change, "changes": [read_change(one) for one in change["changes"]]}
    if change["op"] != "add":
        return change
    return {**change, "query": ReadQuery(_query(change["query"]))}


def placed_changes(asked: Sequence[Change], place: Callable[[Query], Query]) -> list[Change]:
    """The changes, with `place` applied to the queries that they add."""
    found: list[Change] = []
    for change in asked:
        if change["op"] == "all":
            change = {**change, "changes": placed_changes(change["changes"], place)}
        elif change["op"] == "add":
            change = {**change, "query": ReadQuery(place(_query(change["query"])))}
        found.append(change)
    return found


def names_of(change: Change) -> list[str]:
    """The names of queries in a change, as written there."""
    if change["op"] == "all":
        return [name for one in change["changes"] for name in names_of(one)]
    return [_query(change["query"]).name] if change["op"] == "add" else [change.get("name", "")]


def _query(given: Query | ReadQuery | Mapping[str, Any]) -> Query:
    """The query of a request; one that comes from outside, as text, is untrusted."""
    if isinstance(given, ReadQuery):
        return given.query
    query = given if isinstance(given, Query) else Query.from_dict(dict(given), trusted=False)
    check_untrusted([query])
    return query


def history_changes(places: Mapping[str, str]) -> list[Change]:
    """The changes that give their history to the queries that wait for it."""
    return [{"op": "history", "name": name, "place": place} for name, place in places.items()]


def wholes(queries: Sequence[Query]) -> list[str]:
    """The names of the queries that are not parts of others among them."""
    parts = {name for query in queries if query.finish for name in query.finish.parts}
    return [query.name for query in queries if query.name not in parts]


def _place(text: str) -> str:
    """The folder of a history; a plain name, so that it cannot lead out of its parent folder."""
    if not text.replace("-", "").isalnum():
        raise CheckpointError(f"place={text!r} is not the name of a history")
    return text


def _known(known: Mapping[str, Query], name: str) -> str:
    if name.lower() not in known:
        running = ", ".join(repr(query.name) for query in known.values())
        raise CheckpointError(f"no query {name!r} on this checkpoint; it has {running or 'none'}")
    return name.lower()
