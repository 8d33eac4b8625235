"""Calendar windows on Spark: checks that its time zones agree with weft's tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from weft.errors import QueryError, WindowError
from weft.plan.time_axis import TimeAxis
from weft.query.calendar import SESSION, Calendar
from weft.query.names import quoted_name
from weft.query.query import Query
from weft.query.source import IN_ZONE, UTC
from weft.query.sql.select.select import STREAM_TIME
from weft.query.zone import DAY, Zone, serve_from

Int64 = npt.NDArray[np.int64]
_YEARS = 5 * 365
"""The days at the end of the table in which a difference means that current rules differ."""
_UTC = ("UTC", "ETC/UTC", "GMT", "ETC/GMT", "Z", "+00:00", "ZULU")
_agreed: set[str] = set()
"""Zones known to agree with Spark's; a process has only one Java."""


def session_zone(spark: SparkSession) -> str:
    """The time zone of a session."""
    return str(spark.conf.get("spark.sql.session.timeZone", "UTC"))


def in_session(query: Query, df: DataFrame, axis: TimeAxis) -> Query:
    """The query with the session's time zone, if its window uses that; refused if it must be UTC.

    A TIMESTAMP_NTZ has no time zone: its days are the dates that it shows. References to the
    stream's own time (ksqlDB's ROWTIME) are replaced by the time column.
    """
    check_zone(query, df.sparkSession)
    query = timed(query, axis.column)
    window = query.window
    if not isinstance(window, Calendar) or window.zone != SESSION:
        return query
    if axis.kind == "timestamp_ntz":
        return query.over(window.in_zone("UTC"))
    zone, source = session_zone(df.sparkSession), query.source
    placed = query.over(window.in_zone(zone))
    if source is None:
        return placed
    needs = (*source.needs, f"{IN_ZONE}{zone}")
    told = {**placed.to_dict(), "source": replace(source, needs=needs).to_dict()}
    return Query.from_dict(told)


def timed(query: Query, column: str) -> Query:
    """The query with references to the stream's time replaced by its time column.

    >>> query = Query("q", aggs={"last": "max(weft_stream_time)"}, window=Calendar(range="1 day"))
    >>> timed(query, "ts").aggs
    {'last': 'max(`ts`)'}
    """
    if STREAM_TIME not in query.columns:
        return query
    name = quoted_name(column)
    told = query.to_dict()
    for part in ("where", "having"):
        told[part] = told[part] and told[part].replace(STREAM_TIME, name)
    told["aggs"] = {key: text.replace(STREAM_TIME, name) for key, text in query.aggs.items()}
    told["by"] = [key.replace(STREAM_TIME, name) for key in query.by]
    return Query.from_dict(told)


def check_zone(query: Query, spark: SparkSession) -> None:
    """Refuse a session whose time zone is not the one that a truncated time requires."""
    needs = () if query.source is None else query.source.needs
    if not needs:
        return
    zone = session_zone(spark)
    if UTC in needs and zone.upper() not in _UTC:
        raise QueryError(
            f"query {query.name!r}: hours and less are shared where spark.sql.session.timeZone is "
            f"UTC, and it is {zone!r}: use window(time, '1 hour')"
        )
    wanted = [need.removeprefix(IN_ZONE) for need in needs if need.startswith(IN_ZONE)]
    if wanted and wanted[0] != zone:
        raise QueryError(
            f"query {query.name!r} was added where spark.sql.session.timeZone was {wanted[0]!r}, "
            f"and it is {zone!r}: set it to {wanted[0]!r}, or drop the query and add it anew"
        )


def time_span(df: DataFrame, axis: TimeAxis) -> Int64:
    """The first and the last time of the rows; empty if there are none."""
    row = df.selectExpr(f"min({axis.units()})", f"max({axis.units()})").head()
    assert row is not None
    return np.array([] if row[0] is None else [row[0], row[1]], dtype=np.int64)


def check_calendars(df: DataFrame, axis: TimeAxis, queries: Sequence[Query]) -> None:
    """Refuse calendar windows that would differ from Spark's.

    Spark uses Java's time zone rules, weft uses Python's, and their versions may differ. If they
    differ only about the past of a zone, weft accepts it from the time from which they agree.
    """
    for query in queries:
        check_zone(query, df.sparkSession)
        window = query.window
        if not isinstance(window, Calendar):
            continue
        if window.zone == SESSION:
            raise WindowError(
                f"query {query.name!r}: zone='session' is accepted in SQL only: name a zone, "
                f"such as {session_zone(df.sparkSession)!r}"
            )
        if axis.kind == "timestamp_ntz" and window.zone != "UTC":
            raise WindowError(
                f"query {query.name!r}: column {axis.column!r} is a TIMESTAMP_NTZ, which has no "
                f"time zone, but its windows have zone={window.zone!r}: use zone='UTC' to take the "
                f"times as they are, or cast the column to TIMESTAMP"
            )
        zone = window.scale.zone
        if zone.name not in _agreed and (zone.changes or zone.offsets != (0,)):
            _compare(df.sparkSession, query, zone)
        _agreed.add(zone.name)


def _compare(spark: SparkSession, query: Query, zone: Zone) -> None:
    """Compare the starts of a zone's days in Spark with those in weft's table."""
    if not zone.changes and zone.since < 0:  # a fixed offset
        first, last = 0, 1
    else:
        first, last = int(zone.day(zone.since)) + 1, int(zone.day(zone.until - 1))
    begins = f"unix_micros(to_utc_timestamp(timestamp_micros(day * {DAY}L), '{zone.name}'))"
    days = f"transform(sequence({first}L, {last}L), day -> {begins})"
    try:
        row = spark.sql(f"SELECT {days} AS begins").head()
    except PySparkException as error:
        raise WindowError(
            f"query {query.name!r}: zone={zone.name!r} is not a time zone that Spark knows"
        ) from error
    assert row is not None
    spark_days, days_here = np.array(row.begins), zone.midnight(np.arange(first, last + 1))
    differ = np.flatnonzero(spark_days != days_here)
    if not len(differ):
        return
    agreed = first + int(differ[-1]) + 1
    if last - agreed < _YEARS:  # current rules differ, not only past ones
        day = np.datetime64(agreed - 1, "D")
        raise WindowError(
            f"query {query.name!r}: zone={zone.name!r}: {day} begins at another time by the rules "
            f"of Spark's Java than by Python's: bring Java and the package tzdata up to date"
        )
    serve_from(zone, int(zone.midnight(agreed)))
