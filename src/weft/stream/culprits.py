"""Finds the queries that made a micro-batch fail, by the place that the error names.

Errors of weft's workers name the query by number. Spark's errors give a line
(`weft.stream.places`): that of a projected expression, whose queries are known, or that of a
query's outputs. If queries with several predicates share the expression, the micro-batch is run
again with a separate column for each predicate.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from weft.engine.overload import blamed
from weft.query.query import Query
from weft.stream.burst import Change
from weft.stream.catalogue import Entry, Failure
from weft.stream.columns import Column
from weft.stream.places import place_of


@dataclass(frozen=True)
class Verdict:
    """What to do about a failed micro-batch.

    If all fields are empty, it failed at an expression that no query needs any more. It is left
    over from a dropped query and will be gone after a restart of the stream.
    """

    failures: tuple[Failure, ...] = ()
    """The queries to continue without."""
    pauses: Mapping[str, str] = field(default_factory=dict)
    """Queries that are over a limit and to be paused, and why."""
    probes: tuple[Column, ...] = ()
    """Columns to repeat the micro-batch with, so that it fails at one of them."""

    @classmethod
    def of(cls, errors: Mapping[str, str], entries: Iterable[Entry], batch: int) -> Verdict | None:
        """The verdict, given the errors of failing queries by name; None if none is given."""
        guilty = [entry for entry in entries if entry.query.name in errors]
        failures = [_failure(entry, batch, errors[entry.query.name], "") for entry in guilty]
        return cls(tuple(failures)) if failures else None

    @property
    def changes(self) -> list[Change]:
        """The changes to make: failures and pauses of queries."""
        failed: list[Change] = [{"op": "fail", "failure": failure} for failure in self.failures]
        return failed + [{"op": "pause", "name": n, "why": why} for n, why in self.pauses.items()]

    @property
    def said(self) -> str:
        """The verdict in words."""
        failed = [failure.said for failure in self.failures]
        return "; ".join(failed + [f"query {n!r} is paused: {w}" for n, w in self.pauses.items()])


@dataclass(frozen=True)
class Asking:
    """Which queries need which expressions, in one version of a stream."""

    entries: tuple[Entry, ...]
    columns: tuple[Column, ...]
    """The projected columns, by number."""
    askers: Mapping[str, Mapping[str | None, set[str]]]
    """By expression and by the predicate of the rows it is evaluated on, the queries' names."""
    lowered: tuple[int, ...] = ()
    """The queries whose outputs Spark SQL computes, by number."""


def judge(message: str, said: str, batch: int, asking: Asking) -> Verdict | None:
    """The queries responsible for a failure; None if they cannot be determined.

    `message` is the full text of the error, `said` its one-sentence summary.
    """
    entries = {entry.number: entry for entry in asking.entries}
    named = [(entries[n], blame) for n, blame in blamed(message).items() if n in entries]
    if named:
        # A query whose answers are held computes them even if paused; over a limit, it then fails.
        paused = [(e, blame) for e, blame in named if blame.pause and e.paused is None]
        failed = [pair for pair in named if pair not in paused]
        return Verdict(
            tuple(_failure(entry, batch, blame.said, "") for entry, blame in failed),
            {entry.query.name: blame.said for entry, blame in paused},
        )
    place = place_of(message)
    if place is None:
        return None
    kind, number = place
    if kind == "lowered":
        if number >= len(asking.lowered):
            return None
        entry = entries[asking.lowered[number]]
        return Verdict((_failure(entry, batch, said, _outputs(entry.query)),))
    return _of_column(number, said, batch, asking)


def _of_column(number: int, said: str, batch: int, asking: Asking) -> Verdict | None:
    if number >= len(asking.columns):
        return None
    column = asking.columns[number]
    askers = asking.askers.get(column.sql, {})
    if column.guards is not None and len(column.guards) > 1:
        asked = [guard for guard in askers if guard is not None and guard in column.guards]
        if len(asked) > 1:
            probes = tuple(
                Column(f"q{at}", column.sql, frozenset((guard,)), False)
                for at, guard in enumerate(asked)
            )
            return Verdict(probes=probes)
        guards: Iterable[str | None] = asked
    else:
        guards = (None,) if column.guards is None else column.guards
    names = {name for guard in guards for name in askers.get(guard, ())}
    guilty = [entry for entry in asking.entries if entry.query.name in names]
    return Verdict(tuple(_failure(e, batch, said, _written(e.query, column.sql)) for e in guilty))


def _failure(entry: Entry, batch: int, said: str, expression: str) -> Failure:
    return Failure(entry.number, entry.query, batch, said, expression)


def _outputs(query: Query) -> str:
    """The expressions over aggregates in a query, as its author wrote them."""
    texts = [query.aggs[out.name] for out in query.outputs if not out.is_plain]
    return " or ".join(dict.fromkeys([*texts, *([query.having] if query.having else [])]))


def _written(query: Query, sql: str) -> str:
    """The part of a query that contains an expression, as its author wrote it."""
    for output in query.outputs:
        for call in output.calls:
            # An argument may be inside a cast to the type that its aggregate computes with.
            if any(arg in sql for arg in call.args) or sql == call.where:
                return query.aggs[output.name]
    for given, key in zip(query.by, query.keys, strict=False):
        if key.expression == sql:
            return str(given)
    return query.where or sql
