"""Compares the answers of a stream with plain batch queries over the same rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from pyspark.sql import DataFrame

from weft.plan.time_axis import TimeAxis
from weft.query.query import Query
from weft.query.window import Session
from weft.spark.arrow import nullable_schema
from weft.spark.as_written import as_written
from weft.spark.finishing import finished, finished_form
from weft.spark.parsed import check_parsed
from weft.spark.streaming.lower_in_sql import complete, whole
from weft.spark.verify.compare import Difference, Pair, compare
from weft.spark.verify.statements import bags
from weft.spark.verify.verify import scaled
from weft.stream.catalogue import Catalogue
from weft.stream.evolve import service


def verify_answers(
    rows: DataFrame,
    axis: TimeAxis,
    catalogue: Catalogue,
    frontier: int,
    answers: Callable[[str], DataFrame],
) -> list[Difference]:
    """Compare every query of a stream in append mode with its plain query over `rows`.

    `rows` are those that the stream has seen, none of them late. Only windows are compared that are
    closed (they end at or before `frontier` minus the query's lateness) and complete (a query that
    was added later has a `complete_from`). `answers` reads a query's answers, for instance with
    `weft.read_results`.
    """
    check_parsed(rows, catalogue.queries)
    with as_written(rows.sparkSession):
        return compare(_pairs(rows, axis, catalogue, frontier, answers))


def _pairs(
    rows: DataFrame,
    axis: TimeAxis,
    catalogue: Catalogue,
    frontier: int,
    answers: Callable[[str], DataFrame],
) -> list[Pair]:
    found: dict[str, Pair] = {}
    for entry in catalogue.entries:
        query, mine = entry.query, rows
        if entry.complete_from is not None and isinstance(query.window, Session):
            mine = rows.where(f"{axis.units()} >= {entry.complete_from}")
        expected, scales = scaled(mine, axis, query)
        own = service(query, entry.assignments[-1]).own_frontier(frontier)
        closed = f"{axis.edge_units('window.`end`')} <= {own}"
        if isinstance(query.window, Session):
            # Spark pushes a condition on sessions down to rows before it merges them into sessions;
            # a nondeterministic condition is not pushed down.
            closed = f"{closed} + floor(rand())"
        expected = expected.where(closed)
        if entry.complete_from is not None:
            first = f"{axis.edge_units('window.start')} >= {entry.complete_from}"
            expected = expected.where(first)
        keys = ["window", *(key.name for key in query.keys)]
        found[query.name] = Pair(query.name, keys, expected, expected, scales)
    parts = {name for query in catalogue.queries if query.finish for name in query.finish.parts}
    return [
        _pair(query, axis, catalogue, frontier, found, answers(query.name))
        for query in catalogue.queries
        if query.name not in parts
    ]


def _pair(
    query: Query,
    axis: TimeAxis,
    catalogue: Catalogue,
    frontier: int,
    expected: Mapping[str, Pair],
    actual: DataFrame,
) -> Pair:
    """A query's expected and actual answers; with a statement, those of its SQL over answers."""
    if query.finish is None:
        return replace(expected[query.name], actual=actual)
    entries = [catalogue.entry(name) for name in (query.name, *query.finish.parts)]
    pairs = [(entry.query, expected[entry.query.name]) for entry in entries]
    plain = [(one, pair.expected.drop(*pair.scales.values())) for one, pair in pairs]
    forms = [(one, nullable_schema(frame.schema)) for one, frame in plain]
    outer = finished_form(actual.sparkSession, query.finish, forms).outer
    if outer is None:
        plain = complete(plain, axis, entries)
    else:
        closed = f"{outer.edge_sql(axis.edge_units('window.`end`'))} <= {frontier}"
        closing = [(one, frame.where(closed)) for one, frame in plain]
        plain = whole(closing, axis, entries, outer)
    return bags(query.name, finished(query.finish, plain), actual)
