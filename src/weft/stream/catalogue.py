"""The catalogue: which queries run on a checkpoint, by which plan, from which stores.

It is all that a restart needs, and is stored in the checkpoint (`catalogue_files`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

from weft.engine.query_windows import FAR, QueryWindows
from weft.engine.state.codec import LAYOUT, REMEDY
from weft.errors import CheckpointError, EngineError
from weft.plan.plan import Plan
from weft.query.query import Query
from weft.query.query_limits import QueryLimits, effective
from weft.query.window import Session
from weft.stream.tree_schema import TreeSchema

Given = TypeVar("Given")
VERSION = 1


@dataclass(frozen=True)
class Assignment:
    """Says that a query's windows that start in `[since, until)` are answered from a store."""

    store: int
    since: int = -FAR
    until: int = FAR


@dataclass(frozen=True)
class Entry:
    """A query in the catalogue."""

    number: int
    """Never reused, not even if the query is dropped and added again."""
    query: Query
    complete_from: int | None
    """Only windows that start at or after this are answered; None: all windows."""
    assignments: tuple[Assignment, ...]
    paused: int | None = None
    """Micro-batches from this number on deliver no answers of the query; None: all do.

    A number instead of a flag, so that a repeated micro-batch delivers the same answers again.
    """
    why: str | None = None
    """Why it is paused, if it was not paused by request."""
    waiting: bool = False
    """Whether it waits for its history, and is not answered before that is merged."""

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "number": self.number,
            "query": self.query.to_dict(),
            "complete_from": self.complete_from,
            "assignments": [[a.store, a.since, a.until] for a in self.assignments],
            "paused": self.paused,
            "why": self.why,
            "waiting": self.waiting,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Entry:
        """Read what `to_dict` wrote."""
        return cls(
            data["number"],
            Query.from_dict(data["query"]),
            data["complete_from"],
            tuple(Assignment(*entry) for entry in data["assignments"]),
            data.get("paused"),
            data.get("why"),
            data.get("waiting", False),
        )


def complete_by(entries: Sequence[Entry]) -> int | None:
    """The first window end from which all of these queries are complete; None: always."""
    ends = [
        entry.complete_from
        if isinstance(entry.query.window, Session)
        else QueryWindows.of(entry.query.window).latest_end(entry.complete_from)
        for entry in entries
        if entry.complete_from is not None
    ]
    return max(ends, default=None)


def whole_by(entries: Sequence[Entry]) -> int | None:
    """From when on a window with answers of these queries has the answers of all; None: always.

    With windows a slide apart, the last incomplete one ends a slide before the first complete one.
    """
    found = []
    for entry in entries:
        since, window = complete_by([entry]), entry.query.window
        if since is not None and window.has_fixed_length:
            since += (window.phase + window.range - since) % window.slide - window.slide
        found += [] if since is None else [since]
    return max(found, default=None)


@dataclass(frozen=True)
class Failure:
    """A query that failed, and is not answered until it is resumed or replaced."""

    number: int
    query: Query
    batch: int
    """The micro-batch in which it failed; answers of earlier ones were delivered."""
    message: str
    """The error message of Spark or weft."""
    expression: str
    """The expression of the query that failed, as its author wrote it; empty if unknown."""

    @property
    def said(self) -> str:
        """The failure in a sentence, with what to do."""
        name = self.query.name
        place = f" in {self.expression}" if self.expression else ""
        return (
            f"query {name!r} failed at micro-batch {self.batch}{place}: {self.message} "
            f"(the others go on; mend its rows and `weft query resume` it, or `weft query drop` it)"
        )

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        trusted = self.query.trusted
        return {**self.__dict__, "query": self.query.to_dict(), "trusted": trusted}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Failure:
        """Read what `to_dict` wrote."""
        rest = {name: value for name, value in data.items() if name != "trusted"}
        query = Query.from_dict(data["query"], trusted=bool(data["trusted"]))
        return cls(**{**rest, "query": query})


@dataclass(frozen=True)
class Settings:
    """Settings of a checkpoint; most are fixed when it is created."""

    time: str
    """The time column."""
    kind: str
    """Its type: timestamp, timestamp_ntz, date or integer."""
    watermark: str
    buckets: tuple[int, ...]
    """A label for each bucket, chosen so that Spark spreads them evenly over any `partitions`."""
    partitions: int
    """The number of state partitions; `weft.rescale` changes it."""
    mode: str
    """append or update."""
    engine: str = "operator"
    """operator, or rewrite: Spark's own operators only."""
    finals: str = "auto"
    """The structure that answers windows, by name; a restart may choose another."""
    emit: str = "watermark"
    """When windows are closed: by the watermark, or `eager`; a restart may change it."""
    limits: QueryLimits | None = None
    """The limits of queries without limits of their own; a restart may change them."""
    idle: str | None = None
    """After how long without rows event time advances with the clock, or `off`; a restart may
    change it. None: the stream has no source of ticks, and cannot get one."""

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        limits = self.limits and self.limits.to_dict()
        return {**self.__dict__, "buckets": list(self.buckets), "limits": limits}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Settings:
        """Read what `to_dict` wrote."""
        limits = QueryLimits.of(data.get("limits"))
        return cls(**{**data, "buckets": tuple(data["buckets"]), "limits": limits})


@dataclass(frozen=True)
class Catalogue:
    """The queries, the plan and the stores after one change."""

    number: int
    settings: Settings
    entries: tuple[Entry, ...]
    stores: tuple[TreeSchema, ...]
    plan: dict[str, Any]
    next_query: int = 1
    next_store: int = 1
    batch: int = 0
    """The first micro-batch that uses it."""
    failed: tuple[Failure, ...] = ()
    """The failed queries; they are in none of the fields above."""

    @cached_property
    def planned(self) -> Plan:
        """The plan; cached, because reading hundreds of queries takes a tenth of a second."""
        return Plan.from_dict(self.plan)

    @property
    def queries(self) -> list[Query]:
        """The queries, in the order in which they were added."""
        return [entry.query for entry in self.entries]

    def entry(self, name: str) -> Entry:
        """The entry of the query with this name, without regard to case."""
        for entry in self.entries:
            if entry.query.name.lower() == name.lower():
                return entry
        known = ", ".join(repr(query.name) for query in self.queries)
        raise CheckpointError(f"no query {name!r} on this checkpoint; it has {known or 'none'}")

    def with_paused(
        self, pausing: Mapping[str, bool], why: Mapping[str, str] | None = None
    ) -> Catalogue:
        """The catalogue with some queries paused from its first micro-batch on, or resumed.

        Queries are given by name in lower case; `why` has the reasons of those over a limit.
        """
        for name, paused in pausing.items():
            if (self.entry(name).paused is not None) == paused:
                raise EngineError(
                    f"query {name!r} is {'paused already' if paused else 'not paused'}"
                )

        def changed(entry: Entry) -> Entry:
            name = entry.query.name.lower()
            if name not in pausing:
                return entry
            return replace(
                entry,
                paused=self.batch if pausing[name] else None,
                why=why.get(name) if why and pausing[name] else None,
            )

        return replace(self, entries=tuple(map(changed, self.entries)))

    def with_limits(self, limits: Mapping[str, QueryLimits | None]) -> Catalogue:
        """The catalogue with other limits for some queries, by name in lower case."""
        return self._with(limits, Query.limited)

    def with_owners(self, owners: Mapping[str, str]) -> Catalogue:
        """The catalogue with other owners of some queries, by name in lower case."""
        return self._with(owners, Query.owned)

    def _with(
        self, given: Mapping[str, Given], changed: Callable[[Query, Given], Query]
    ) -> Catalogue:
        """The catalogue with the queries named in `given` changed by the value given for each."""
        entries = tuple(
            replace(entry, query=changed(entry.query, given[entry.query.name.lower()]))
            if entry.query.name.lower() in given
            else entry
            for entry in self.entries
        )
        return replace(self, entries=entries)

    def limits_of(self, query: Query) -> QueryLimits | None:
        """The limits that apply to a query: its own, and those of the stream."""
        return effective(query, self.settings.limits)

    def since(self) -> dict[str, Any]:
        """When the change took effect: its first micro-batch, and each query's first window."""
        starts = {entry.query.name: entry.complete_from for entry in self.entries}
        return {"change": self.number, "batch": self.batch, "complete_from": starts}

    def silent(self, batch: int) -> frozenset[int]:
        """The numbers of the queries whose answers a micro-batch does not deliver."""
        return frozenset(
            entry.number
            for entry in self.entries
            if entry.waiting or (entry.paused is not None and entry.paused <= batch)
        )

    def youngest_untrusted(self) -> dict[int, int]:
        """For every store, the untrusted query that was added last, if it has any."""
        return {
            assignment.store: entry.number
            for entry in sorted(self.entries, key=lambda entry: entry.number)
            if not entry.query.trusted
            for assignment in entry.assignments
        }

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "version": VERSION,
            "layout": LAYOUT,
            "number": self.number,
            "settings": self.settings.to_dict(),
            "entries": [entry.to_dict() for entry in self.entries],
            "stores": [store.to_dict() for store in self.stores],
            "plan": self.plan,
            "next_query": self.next_query,
            "next_store": self.next_store,
            "batch": self.batch,
            "failed": [failure.to_dict() for failure in self.failed],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Catalogue:
        """Read what `to_dict` wrote; other versions are refused."""
        for name, known in (("version", VERSION), ("layout", LAYOUT)):
            if data.get(name) != known:
                raise CheckpointError(
                    f"the catalogue has {name} {data.get(name)!r}; this weft reads {known}: "
                    f"{REMEDY}"
                )
        return cls(
            data["number"],
            Settings.from_dict(data["settings"]),
            tuple(Entry.from_dict(entry) for entry in data["entries"]),
            tuple(TreeSchema.from_dict(store) for store in data["stores"]),
            data["plan"],
            data["next_query"],
            data["next_store"],
            data.get("batch", 0),
            tuple(Failure.from_dict(failure) for failure in data.get("failed", ())),
        )
