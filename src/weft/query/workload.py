"""A workload: an ordered list of queries on one stream, with unique names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING

from weft.errors import WorkloadError
from weft.query.query import Query
from weft.query.quoting import quoted
from weft.query.window import Axis

if TYPE_CHECKING:
    from weft.query.sql.reading import Statement

_FASTEST = 1e300
"""The maximum of rows per second: Python cannot convert larger integers to float."""


@dataclass(frozen=True)
class Workload:
    """Queries on one stream. Names are unique without regard to case; windows are on one axis.

    `rate` is the stream's rows per second (per unit on an integer axis), if known.

    >>> from weft.query.window import Window
    >>> hourly = Query("hourly", aggs={"n": "count(*)"}, window=Window(range="1 hour"))
    >>> load = Workload([hourly])
    >>> load.names, load.axis, "HOURLY" in load
    (('hourly',), 'time', True)
    """

    queries: tuple[Query, ...] = ()
    rate: float | None = None
    refused: tuple[str, ...] = ()
    """Why some statements of its file are not shared queries."""
    statements: tuple[Statement, ...] = ()
    """All statements of its SQL file, in order."""

    def __init__(
        self,
        queries: Iterable[Query] = (),
        rate: float | None = None,
        refused: Iterable[str] = (),
        statements: Iterable[Statement] = (),
    ) -> None:
        listed = tuple(queries)
        seen: dict[str, Query] = {}
        for query in listed:
            if not isinstance(query, Query):
                raise WorkloadError(f"queries: {quoted(query)} is not a Query")
            before = seen.setdefault(query.name.casefold(), query)
            if before is not query:
                raise WorkloadError(
                    f"query {query.name!r}: the name is taken by query {before.name!r} (names are "
                    f"compared without case)"
                )
            if query.window.axis != listed[0].window.axis:
                raise WorkloadError(
                    f"query {query.name!r}: window={query.window!r} is on the "
                    f"{query.window.axis} axis, query {listed[0].name!r} on the "
                    f"{listed[0].window.axis} axis; a workload has one"
                )
        if rate is not None and not (isinstance(rate, (int, float)) and 0 < rate <= _FASTEST):
            raise WorkloadError(f"rate={quoted(rate)} is not a number of rows per second above 0")
        object.__setattr__(self, "queries", listed)
        object.__setattr__(self, "rate", None if rate is None else float(rate))
        object.__setattr__(self, "refused", tuple(refused))
        object.__setattr__(self, "statements", tuple(statements))

    @classmethod
    def load(cls, path: str | PathLike[str], *, strict: bool = True) -> Workload:
        """Read a workload from a YAML, JSON or SQL file.

        Unless `strict`, SQL statements that are not shared queries are left out of the queries, and
        `refused` says why; `statements` includes them.
        """
        from weft.query.files import load_workload

        return load_workload(path, strict=strict)

    @property
    def names(self) -> tuple[str, ...]:
        """The queries' names, in order."""
        return tuple(query.name for query in self.queries)

    @property
    def axis(self) -> Axis | None:
        """The axis of the windows; None if there are no queries."""
        return self.queries[0].window.axis if self.queries else None

    def add(self, *queries: Query) -> Workload:
        """This workload and more queries."""
        return Workload((*self.queries, *queries), self.rate, self.refused)

    def owned(self, owner: str | None) -> Workload:
        """This workload, with an owner for the queries that have none."""
        if owner is None:
            return self

        def given(queries: Iterable[Query]) -> tuple[Query, ...]:
            return tuple(query.owned(query.owner or owner) for query in queries)

        statements = (replace(one, queries=given(one.queries)) for one in self.statements)
        return Workload(given(self.queries), self.rate, self.refused, statements)

    def drop(self, *names: str) -> Workload:
        """This workload without some queries."""
        gone = {self[name].name for name in names}
        left = (query for query in self.queries if query.name not in gone)
        return Workload(left, self.rate, self.refused)

    def __getitem__(self, name: str) -> Query:
        for query in self.queries:
            if query.name.casefold() == name.casefold():
                return query
        known = ", ".join(repr(known) for known in self.names[:20]) or "none"
        raise WorkloadError(f"there is no query {name!r}; there are: {known}")

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.casefold() in {n.casefold() for n in self.names}

    def __iter__(self) -> Iterator[Query]:
        return iter(self.queries)

    def __len__(self) -> int:
        return len(self.queries)
