"""`weft.training_set`: for every row of a spine, the values that queries had at its time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, TypeAlias

from pyspark.sql import DataFrame

from weft.engine.point_in_time.interval import Interval
from weft.errors import EngineError, QueryError, WindowError, WorkloadError
from weft.plan.layout import Layout
from weft.plan.lower import can_lower
from weft.plan.time_axis import TimeAxis
from weft.query.duration import Duration, parse_duration
from weft.query.one_source import check_source
from weft.query.query import Query
from weft.query.window import Session
from weft.spark.as_written import as_written
from weft.spark.loom import Loom
from weft.spark.only_spark import is_ansi, map_reason, unfit_reason, variant_reason
from weft.spark.training.plain import with_plain_values
from weft.spark.training.shared import with_shared_values
from weft.spark.training.spine import Spine, SpineKey, spine_keys

Resolution: TypeAlias = Literal["exact", "slide"]
Queries: TypeAlias = "Query | str | Iterable[Query | str] | Mapping[str, Query | str]"


def training_set(
    spine: DataFrame,
    queries: Queries,
    df: DataFrame,
    time: str = "ts",
    at: str = "ts",
    *,
    delay: Duration | None = None,
    resolution: Resolution = "exact",
    trusted: bool = False,
) -> DataFrame:
    """The rows of a spine with the values that queries had at their times; lazy.

    Returns the spine's rows and columns, every row once and in no particular order, and a column
    `{query}_{output}` for each output of each query: the aggregate over the rows of `df` that have
    the spine row's keys, satisfy the query's predicate and lie in `[at - range, at)`; a row at `at`
    itself does not count. Where there are no such rows, or `at` is null, the value is that of
    Spark's aggregate over no rows: a count is 0, a sum null. Types are those of the plain Spark
    query.

    `queries` are queries or SQL, one or several, or a mapping of names to them; unnamed SQL is
    named `q1`, `q2`, ... by position. `time` is the event-time column of `df`, `at` the time
    column of the spine. For a key `expression AS name` the spine has the column `name`; keys are
    compared as in GROUP BY, where null equals null.

    `delay` is how late rows become known: with "10 minutes" the range ends ten minutes before `at`.
    With `resolution="slide"` the value is that of the query's latest window that had closed by
    then, as a stream with that delay would have served it; otherwise the slide is ignored. SQL is
    checked as untrusted, unless you pass `trusted=True` for SQL of your own program.

    Rows and spine are shuffled by key, and a key's rows and spine rows must fit in the memory of
    one worker; without keys, all of them. Aggregates that keep every value (such as collect_list)
    and sketches read each interval again.
    """
    if df.isStreaming:
        raise EngineError("the rows are a stream, but a training set is a batch: use spark.read")
    if resolution not in ("exact", "slide"):
        raise EngineError(f"resolution={resolution!r}: accepted are 'exact', 'slide'")
    with as_written(df.sparkSession):
        loom = Loom(df, time)
        for query in _read(queries, loom, trusted):
            _check(query, loom.queries)
            loom.add(query)
        if not loom.queries:
            raise WorkloadError("a training set needs at least one query")
        late = _delay(delay, loom.axis)
        types = loom.types()
        asked = Spine.of(spine, at, loom.axis)
        columns = _columns(loom.queries, asked.names)
        keys = spine_keys(asked, df, loom.queries)

        def interval(query: Query) -> Interval:
            window = query.window
            if resolution == "exact":
                return Interval(window.range, late)
            return Interval(window.range, late, window.slide, window.phase + window.range)

        ansi = is_ansi(df)
        grouped: dict[tuple[SpineKey, ...], list[Query]] = {}
        apart: list[Query] = []
        for query in loom.queries:
            if _fits(query, types, loom.axis, ansi=ansi):
                place = tuple(
                    sorted(keys[query.name], key=lambda key: (key.column, key.expression))
                )
                grouped.setdefault(place, []).append(query)
            else:
                apart.append(query)
        if grouped:
            asked.check_carried()
        for some_keys, some in grouped.items():
            frame = with_shared_values(asked, some_keys, df, loom.axis, some, types, interval)
            asked = asked.with_values(frame, [name for q in some for name in columns[q.name]])
        for query in apart:
            frame = with_plain_values(
                asked, keys[query.name], df, loom.axis, query, interval(query)
            )
            asked = asked.with_values(frame, columns[query.name])
        return asked.named([name for query in loom.queries for name in columns[query.name]])


def _read(queries: Queries, loom: Loom, trusted: bool) -> Iterable[Query]:
    """The queries, with SQL parsed; each passes the same checks as on a loom."""
    from weft.query.sql import parse_query

    if isinstance(queries, (Query, str)):
        queries = [queries]
    named: Iterable[tuple[str | None, Query | str]] = (
        queries.items() if isinstance(queries, Mapping) else ((None, query) for query in queries)
    )
    for place, (name, query) in enumerate(named, start=1):
        if isinstance(query, str):
            query = parse_query(query, name, unnamed=f"q{place}")
            check_source(query, loom.queries, loom.axis.column, "training set")
            query = query.as_trusted() if trusted else query
        elif not isinstance(query, Query):
            raise QueryError(f"{query!r} is neither a Query nor SQL")
        elif name is not None and name.casefold() != query.name.casefold():
            raise WorkloadError(f"{name!r}: the query is named {query.name!r} already")
        yield query


def _check(query: Query, others: Iterable[Query]) -> None:
    """Refuse duplicate names, and queries that would leave rows of the spine without a value."""
    if query.name.casefold() in {other.name.casefold() for other in others}:
        raise WorkloadError(f"two queries are named {query.name!r}: rename one of them")
    if isinstance(query.window, Session):
        raise QueryError(
            f"query {query.name!r}: a training set needs a fixed range before each moment, which "
            f"a session does not have: use window=Window(range=...)"
        )
    if not query.window.has_fixed_length:
        raise QueryError(
            f"query {query.name!r}: a training set needs a fixed range before each moment, which "
            f"a calendar window does not have: use window=Window(range='30 days')"
        )
    if query.having is not None:
        raise QueryError(
            f"query {query.name!r}: having={query.having!r} filters answers, but every row of a "
            f"training set has one: leave it out here, and filter the training set"
        )


def _delay(delay: Duration | None, axis: TimeAxis) -> int:
    """The delay in units of the axis."""
    if delay is None:
        return 0
    units = parse_duration(delay, "delay")
    if units and isinstance(delay, int) != (axis.axis == "integer"):
        accepted = "an integer" if axis.axis == "integer" else "a duration such as '10 minutes'"
        raise WindowError(
            f"delay={delay!r}: the time column {axis.column!r} is of kind {axis.kind}, for which "
            f"{accepted} is accepted"
        )
    if units < 0:
        raise WindowError(f"delay={delay!r} would count rows that come after `at`")
    return units


def _columns(queries: Iterable[Query], names: Iterable[str]) -> dict[str, list[str]]:
    """The columns of each query's values; none may have the name of another column."""
    taken = {name.casefold(): "a column of the spine" for name in names}
    columns: dict[str, list[str]] = {}
    for query in queries:
        columns[query.name] = [f"{query.name}_{output.name}" for output in query.outputs]
        for name in columns[query.name]:
            if name.casefold() in taken:
                raise WorkloadError(
                    f"query {query.name!r}: its column {name!r} has the name of "
                    f"{taken[name.casefold()]}: rename one of them"
                )
            taken[name.casefold()] = f"a column of query {query.name!r}"
    return columns


def _fits(query: Query, types: Mapping[str, str], axis: TimeAxis, *, ansi: bool) -> bool:
    """Whether a query can be answered from slices as Spark would answer it."""
    unfit = unfit_reason(query, types, ansi=ansi) or map_reason(query, types)
    if unfit is not None or variant_reason(query, types) is not None:
        return False
    return can_lower(Layout.of([query], axis.quoted, types), query)
