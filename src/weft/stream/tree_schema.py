"""The schema of a store: the elements that its shards keep in state, and since when.

A store outlives plans. When queries are added, it gets new elements (keys, parts, predicates,
edges) under new numbers, which are complete from the time of the change on; when queries are
dropped, elements that no query needs are removed. Shards from before and after a change are in the
same pieces: old rows lack new elements, and queries that need these use only later windows.
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
    """A key, part or predicate of a store, with its number and the time since when it is kept."""

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
    """Edges at which a store's slices are cut, and the time since when."""

    offset: int
    step: int
    since: int

    def contains(self, offset: int, step: int) -> bool:
        """Whether every instant of another progression is one of these edges."""
        return step % self.step == 0 and (offset - self.offset) % self.step == 0


@dataclass(frozen=True)
class TreeSchema:
    """The elements that are kept for the queries of one tree."""

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
    """The names of the arguments' Spark types, which determine the parts of some aggregates; None
    in a store from a version in which they did not."""
    seam: int | None = None
    """Rows with an earlier time are taken from the history only; None: all are the stream's."""
    history: tuple[str, int] | None = None
    """The folder of its history, and the first micro-batch that merges it; None: none yet."""

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

        Buckets are assigned by the keys that all queries have, or by a subset of them that a
        running stream already hashes (`hashed`).
        """
        common = set.intersection(*({k.expression for k in q.keys} for q in queries))
        keys = tuple(sorted(common))
        if keys not in hashed:
            some = (known for known in hashed if common.issuperset(known))
            keys = max(some, key=lambda known: (len(known), known), default=keys)
        empty = cls(number, keys, time, types={})
        return empty.serving(queries, since, types)

    def admits(self, query: Query) -> bool:
        """Whether each of the query's groups lies within one bucket."""
        return {key.expression for key in query.keys} >= set(self.bucket_keys)

    def serving(
        self, queries: Iterable[Query], since: int, types: Mapping[str, str] | None = None
    ) -> TreeSchema:
        """The store with the elements that these queries need; new ones are complete since then."""
        queries = list(queries)
        if self.types is not None and types:
            # Known types stay: the parts of an argument must not change while queries use them.
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
        """The query's parts in the form that is stored, each once."""
        known = self._parts.get(id(query))
        if known is None or known[0] is not query:
            kept = (part for call in query.calls for part in self.parts_kept(call))
            known = self._parts[id(query)] = query, tuple(dict.fromkeys(kept))
        return known[1]

    @cached_property
    def _parts(self) -> dict[int, tuple[Query, tuple[Part, ...]]]:
        """A cache of queries and their parts, by identity: every change needs those of all."""
        return {}

    def parts_kept(self, call: Aggregate) -> tuple[Part, ...]:
        """A call's parts in the form that is stored: first and last with time, others by type."""
        return call.ordered(self.time).parts_for(argument_types(call, self.types or {}))

    def complete_since(self, query: Query) -> int:
        """The time since when slices hold everything that the query needs."""
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
        """Its edges, as progressions none of which contains another."""
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
