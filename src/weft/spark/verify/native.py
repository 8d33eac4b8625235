"""The plain Spark query that defines a query; tests compare with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from weft.plan import calendar_sql
from weft.plan.time_axis import TimeAxis
from weft.query.calendar import Calendar
from weft.query.query import Query
from weft.query.window import Session, Window
from weft.spark.verify.capped_sessions import with_sessions

_TIME, _HAVING = "weft_time", "weft_having"


def native(
    df: DataFrame, axis: TimeAxis, query: Query, extra: Mapping[str, str] | None = None
) -> DataFrame:
    """`df.where(P).groupBy(window(...), *keys).agg(...)`, followed by a filter for HAVING.

    Where Spark's `window()` refuses (a slide longer than the range, an integer axis) the same
    windows are made with `explode` of the starts, which is what `window()` itself expands to.
    Sessions with a maximum, which Spark lacks, are computed from the sorted times of every group.
    `extra` are further aggregates to compute besides the query's.
    """
    rows = df.where(F.expr(query.where)) if query.where else df
    rows, window = windowed(rows, axis, query.window, [key.native for key in query.keys])
    keys = [F.expr(key.native).alias(key.name) for key in query.keys]
    aggregates = [F.expr(output.native).alias(output.name) for output in query.outputs]
    aggregates += [F.expr(sql).alias(name) for name, sql in (extra or {}).items()]
    having = query.having_filter
    if having is None:
        return rows.groupBy(window.alias("window"), *keys).agg(*aggregates)
    # HAVING may refer to keys and the window, so they must be columns before the grouping.
    columns = {key.name: F.expr(key.native) for key in query.keys}
    named = rows.withColumns({"window": window, **columns})
    grouped = named.groupBy("window", *(F.col(f"`{key.name}`") for key in query.keys))
    answers = grouped.agg(*aggregates, F.expr(having.native).alias(_HAVING))
    return answers.where(_HAVING).drop(_HAVING)


def native_filters(df: DataFrame, axis: TimeAxis, queries: Sequence[Query]) -> DataFrame:
    """What an expert would write if only predicates differ: one aggregation with FILTER clauses.

    The queries have one window, no keys, and one aggregate each, which gets the query's name.
    """
    rows, window = windowed(df, axis, queries[0].window)
    return rows.groupBy(window.alias("window")).agg(
        *(
            F.expr(f"{query.outputs[0].native} FILTER (WHERE {query.where})").alias(query.name)
            for query in queries
        )
    )


def union(frames: Sequence[DataFrame]) -> DataFrame:
    """The union of frames with the same columns."""
    return reduce(DataFrame.unionAll, frames)


def windowed(
    rows: DataFrame, axis: TimeAxis, window: Window, keys: Sequence[str] = ()
) -> tuple[DataFrame, Column]:
    """Rows, repeated for each window that they are in, and the window column to group by.

    `keys` is SQL of the grouping keys, needed for sessions with a maximum.
    """
    if isinstance(window, Session) and window.maximum:
        return with_sessions(rows, axis, window, keys)
    if isinstance(window, Session):
        return rows, F.session_window(F.col(axis.quoted), f"{window.gap} microseconds")
    if isinstance(window, Calendar):
        return _calendar(rows, axis, window)
    if axis.axis == "time" and window.slide <= window.range:
        durations = (
            f"{units} microseconds" for units in (window.range, window.slide, window.phase)
        )
        return rows, F.window(F.col(axis.quoted), *durations)
    since = f"pmod({_TIME} - {window.phase}L, {window.slide}L)"
    starts = f"sequence({_TIME} - {since}, {_TIME} - {window.range}L + 1L, -{window.slide}L)"
    spread = (
        rows.withColumn(_TIME, F.expr(axis.units()))
        .where(f"{since} < {window.range}L")
        .withColumn(_TIME, F.explode(F.expr(starts)))
    )
    return spread, F.expr(axis.window(_TIME, window.range))


def _calendar(rows: DataFrame, axis: TimeAxis, window: Calendar) -> tuple[DataFrame, Column]:
    """The same for a calendar window: starts are numbers of days or months, exploded as above."""
    length, slide, phase = window.steps
    number = calendar_sql.number(window, axis.units())
    since = f"pmod({_TIME} - {phase}L, {slide}L)"
    starts = f"sequence({_TIME} - {since}, {_TIME} - {length}L + 1L, -{slide}L)"
    spread = rows.withColumn(_TIME, F.expr(number)).where(f"{since} < {length}L")
    if length == slide:
        spread = spread.withColumn(_TIME, F.expr(f"{_TIME} - {since}"))
    else:
        spread = spread.withColumn(_TIME, F.explode(F.expr(starts)))
    ends = (calendar_sql.time(window, at) for at in (_TIME, f"({_TIME} + {length}L)"))
    return spread, F.expr(axis.session(*ends))
