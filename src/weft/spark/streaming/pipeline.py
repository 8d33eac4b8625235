"""The streaming DataFrame: native projection, watermark, shards, the operator."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from weft.engine.preaggregate import BUCKET, MAX_EVENT_TIME, SPARK_SCHEMA, TIME
from weft.plan.time_axis import TimeAxis
from weft.query.duration import parse_duration
from weft.sinks.wire import COLUMNS
from weft.spark.streaming.menu import Menu
from weft.spark.streaming.operator import Operator, Preaggregation
from weft.stream.deployment import Lookup
from weft.stream.future_rows import Guard

_EVENT = "weft_event"
# The operator drops rows that are behind the watermark, before any window could take them. It is
# given a time that is never behind; pandas' nanoseconds end in 2262.
_NEVER_LATE = "TIMESTAMP'2260-01-01 00:00:00'"


def delay_ms(watermark: str, axis: TimeAxis) -> int:
    """The delay of Spark's watermark in milliseconds.

    On an integer axis Spark's only says that time goes on: the operator keeps the true one.
    """
    if axis.kind == "integer":
        return 0
    return parse_duration(watermark, "watermark") // 1000


def squeezed(units: str) -> str:
    """SQL that maps integers to fewer, ascending with them: those up to 2**42 as they are.

    Beyond, 2**21 of them become one, so that all up to 2**62 are milliseconds before the time that
    is never late.
    """
    near, step = 2**42, 2**21
    return (
        f"CASE WHEN {units} > {near}L THEN {near}L + ({units} - {near}L) DIV {step}L "
        f"WHEN {units} < -{near}L THEN -{near}L + ({units} + {near}L) DIV {step}L ELSE {units} END"
    )


def projected_rows(menu: Menu, buckets: int, df: DataFrame) -> DataFrame:
    """What tasks are given of rows: their times, what is on the menu, and their buckets."""
    axis = menu.axis
    units = axis.units()
    return (
        df.where(f"{axis.quoted} IS NOT NULL")
        .selectExpr(f"{units} AS {TIME}", *menu.projection.expressions())
        .selectExpr(
            "*",
            *(
                f"CAST(pmod(xxhash64({', '.join(keys)}), {buckets}) AS INT) AS {name}"
                for name, keys in menu.hashed()
            ),
        )
    )


def answers_frame(
    menu: Menu,
    watermark: str,
    buckets: int,
    programs: Lookup,
    guard: Guard,
    ticks: DataFrame | None = None,
) -> DataFrame:
    """Every query's answers, and the operator's figures: columns that no query changes.

    `ticks` are parcels that come from no rows, of a stream whose time may go on without any.
    """
    axis = menu.axis
    delay = delay_ms(watermark, axis)
    projected = projected_rows(menu, buckets, menu.df)
    parcels = projected.mapInArrow(Preaggregation(programs, guard), SPARK_SCHEMA)
    if ticks is not None:  # behind the rows, whose sources are then the first in Spark's log
        parcels = parcels.unionAll(ticks)
    # Spark's watermark asks for nothing but the latest time, which a parcel knows of its rows: put
    # behind it, the watermark costs nothing per row. It begins at the epoch, where a task without
    # rows, or with none that the guard lets through, leaves it.
    latest = f"coalesce({MAX_EVENT_TIME}, 0L)"
    event = f"timestamp_micros({latest})"
    if axis.kind == "integer":
        event = f"timestamp_millis({squeezed(latest)})"
    timed = parcels.select(BUCKET, "parcel", F.expr(event).alias(_EVENT))
    timed = timed.withWatermark(_EVENT, f"{delay} milliseconds")
    never_late = F.expr(_NEVER_LATE).alias("at", metadata={"spark.watermarkDelayMs": delay})
    return (
        timed.select(BUCKET, "parcel", never_late)
        .groupBy(BUCKET)
        .transformWithStateInPandas(Operator(programs), COLUMNS, "append", "EventTime")
    )
