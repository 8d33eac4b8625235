"""A store: what shards of one tree are kept in the state, element by element, and since when.

A store outlives plans. When queries come, it gets new elements (keys, parts, predicates, edges)
under new numbers, complete since the time of the change; when queries go, elements that nobody
needs are left out. Shards of before and after lie in the same pieces: old rows lack new elements,
and whoever needs those looks only at windows that start later.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from weft.algebra.aggregate import Aggregate
from weft.algebra.part import Part
from weft.engine.query_windows import FAR
from weft.plan.layout import argument_types
from weft.query.progressions import cleaned
from weft.query.query import Query
from weft.query.window import Session, Window


@dataclass(frozen=True)
class VersionedColumn:
    """A key, part or predicate of a store: its number, and since when it is kept."""

    number: int
    value: Any
    since: int

    def to_list(self) -> list[Any]:
        """As JSON values."""
        value = self.value.to_dict() if isinstance(self.value, Part) else self.value
        return [self.number, value, self.since]

    @classmethod
    def from_list(cls, data: list[Any]) -> VersionedColumn:
        """Read what `to_list` wrote."""
        value = Part.from_dict(data[1]) if isinstance(data[1], dict) else data[1]
        return cls(data[0], value, data[2])


@dataclass(frozen=True)
class Progression:
    """Edges at which a store's slices are cut, and since when they are."""

    offset: int
    step: int
    since: int

    def contains(self, offset: int, step: int) -> bool:
        """Whether every instant of another progression is one of these edges."""
        return step % self.step == 0 and (offset - self.offset) % self.step == 0


@dataclass(frozen=True)
class TreeSchema:
    """What is kept for the queries of one tree."""

    number: int
    bucket_keys: tuple[str, ...]
    """Keys that decide a row's bucket; every query of the store has them."""
    time: str
    """The time column, quoted."""
    keys: tuple[VersionedColumn, ...] = ()
    parts: tuple[VersionedColumn, ...] = ()
    predicates: tuple[VersionedColumn, ...] = ()
    progressions: tuple[Progression, ...] = ()
    next_number: int = 0
    types: Mapping[str, str] | None = field(default=None, compare=False)
    """Spark's names of the arguments' types, which decide what some aggregates are kept as; None
    in a store that was made when they did not."""
    seam: int | None = None
    """Rows before it come from history only; None: all come from the stream."""
    history: tuple[str, int] | None = None
    """Where its history lies, and the first micro-batch that takes it in; None: nowhere yet."""

    @classmethod
    def of(
        cls,
        number: int,
        queries: Sequence[Query],
        time: str,
        since: int,
        types: Mapping[str, str] | None = None,
        hashed: Collection[tuple[str, ...]] = (),
    ) -> TreeSchema:
        """A new store for these queries.

        Buckets are told by the keys that all queries have, or by some of them if a stream that
        runs has those `hashed`.
        """
        common = set.intersection(*({k.expression for k in q.keys} for q in queries))
        keys = tuple(sorted(common))
        if keys not in hashed:
            some = (known for known in hashed if common.issuperset(known))
            keys = max(some, key=lambda known: (len(known), known), default=keys)
        empty = cls(number, keys, time, types={})
        return empty.serving(queries, since, types)

    def admits(self, query: Query) -> bool:
        """Whether the query's groups lie within buckets."""
        return {key.expression for key in query.keys} >= set(self.bucket_keys)

    def serving(
        self, queries: Iterable[Query], since: int, types: Mapping[str, str] | None = None
    ) -> TreeSchema:
        """The store with the elements that these queries need; new ones count from `since`."""
        queries = list(queries)
        if self.types is not None and types:
            # Known ones stay: what is kept of an argument must not change under its queries.
            args = {arg for query in queries for call in query.calls for arg in call.args}
            told = {arg: types[arg] for arg in sorted(args) if arg in types} | dict(self.types)
            if told != self.types:
                return replace(self, types=told).serving(queries, since)
        number = self.next_number
        found: dict[str, tuple[VersionedColumn, ...]] = {}
        wanted: dict[str, dict[Any, None]] = {
            "keys": dict.fromkeys(key.expression for query in queries for key in query.keys),
            "parts": dict.fromkeys(part for query in queries for part in self.parts_of(query)),
            "predicates": dict.fromkeys(q.predicate for q in queries if q.predicate is not None),
        }
        for name, values in wanted.items():
            known = {element.value: element for element in getattr(self, name)}
            elements = []
            for value in values:
                if value not in known:
                    known[value] = VersionedColumn(number, value, since)
                    number += 1
                elements.append(known[value])
            found[name] = tuple(elements)
        edges = dict.fromkeys(edge for q in queries for edge in q.window.progressions())
        progressions = tuple(
            Progression(offset, step, min([since, *self._edge_since(offset, step)]))
            for offset, step in edges
        )
        return replace(
            self,
            keys=found["keys"],
            parts=found["parts"],
            predicates=found["predicates"],
            progressions=progressions,
            next_number=number,
        )

    def _edge_since(self, offset: int, step: int) -> list[int]:
        return [p.since for p in self.progressions if p.contains(offset, step)]

    def parts_of(self, query: Query) -> tuple[Part, ...]:
        """The query's parts as they are kept, each once."""
        known = self._parts.get(id(query))
        if known is None or known[0] is not query:
            kept = (part for call in query.calls for part in self.parts_kept(call))
            known = self._parts[id(query)] = query, tuple(dict.fromkeys(kept))
        return known[1]

    @cached_property
    def _parts(self) -> dict[int, tuple[Query, tuple[Part, ...]]]:
        """Queries and their parts, by identity: every change asks for those of all queries."""
        return {}

    def parts_kept(self, call: Aggregate) -> tuple[Part, ...]:
        """A call's parts as they are kept: first and last with their time, others by types."""
        return call.ordered(self.time).parts_for(argument_types(call, self.types or {}))

    def complete_since(self, query: Query) -> int:
        """Since when slices hold everything that the query needs."""
        needed: dict[str, set[Any]] = {
            "keys": {key.expression for key in query.keys},
            "parts": set(self.parts_of(query)),
            "predicates": {query.predicate} - {None},
        }
        since = [-FAR]
        for name, values in needed.items():
            since += [e.since for e in getattr(self, name) if e.value in values]
        for offset, step in query.window.progressions():
            since.append(min(self._edge_since(offset, step), default=FAR))
        return max(since)

    def cuts(self) -> tuple[tuple[int, int], ...]:
        """Its edges as progressions of which none contains another."""
        return cleaned((p.offset, p.step) for p in self.progressions)

    def number_of(self, name: str, value: Any) -> int:
        """The number of an element."""
        elements: tuple[VersionedColumn, ...] = getattr(self, name)
        return next(element.number for element in elements if element.value == value)

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "number": self.number,
            "bucket_keys": list(self.bucket_keys),
            "time": self.time,
            **{
                name: [element.to_list() for element in getattr(self, name)]
                for name in ("keys", "parts", "predicates")
            },
            "progressions": [[p.offset, p.step, p.since] for p in self.progressions],
            "next_number": self.next_number,
            "types": None if self.types is None else dict(self.types),
            "seam": self.seam,
            "history": self.history,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> TreeSchema:
        """Read what `to_dict` wrote."""
        keys, parts, predicates = (
            tuple(VersionedColumn.from_list(entry) for entry in data[name])
            for name in ("keys", "parts", "predicates")
        )
        return cls(
            data["number"],
            tuple(data["bucket_keys"]),
            data["time"],
            keys,
            parts,
            predicates,
            tuple(Progression(*entry) for entry in data["progressions"]),
            data["next_number"],
            data.get("types"),
            data.get("seam"),
            tuple(data["history"]) if data.get("history") else None,
        )


def first_start(window: Window, since: int) -> int:
    """The first window start at or after a time; sessions start with any row.

    >>> first_start(Window(range=10, slide=5), 7)
    10
    """
    if isinstance(window, Session) or since <= -FAR:
        return since
    scale, (_, slide, phase) = window.scale, window.steps
    bound = scale.ceil(since)
    return scale.time(bound + (phase - bound) % slide)
