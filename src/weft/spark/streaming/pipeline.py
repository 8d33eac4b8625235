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
# Spark's operator drops rows behind the watermark before weft sees them. So it gets a time that is
# never behind; pandas' nanoseconds end in 2262.
_NEVER_LATE = "TIMESTAMP'2260-01-01 00:00:00'"


def delay_ms(watermark: str, axis: TimeAxis) -> int:
    """The delay of Spark's watermark in milliseconds.

    On an integer axis Spark's watermark only signals progress: the operator computes the true one.
    """
    if axis.kind == "integer":
        return 0
    return parse_duration(watermark, "watermark") // 1000


def squeezed(units: str) -> str:
    """SQL of a monotonic map of integers to a smaller range; those up to 2**42 are unchanged.

    Beyond that, 2**21 integers map to one, so that all up to 2**62 are milliseconds before the time
    that is never late.
    """
    near, step = 2**42, 2**21
    return (
        f"CASE WHEN {units} > {near}L THEN {near}L + ({units} - {near}L) DIV {step}L "
        f"WHEN {units} < -{near}L THEN -{near}L + ({units} + {near}L) DIV {step}L ELSE {units} END"
    )


def projected_rows(menu: Menu, buckets: int, df: DataFrame) -> DataFrame:
    """The columns of rows that tasks get: time, the expressions on the menu, and buckets."""
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
    """Every query's answers, and the operator's metrics, in columns independent of the queries.

    `ticks` are parcels without rows, for a stream whose event time may advance without rows.
    """
    axis = menu.axis
    delay = delay_ms(watermark, axis)
    projected = projected_rows(menu, buckets, menu.df)
    parcels = projected.mapInArrow(Preaggregation(programs, guard), SPARK_SCHEMA)
    if ticks is not None:  # after the rows, so that the rows' sources come first in Spark's log
        parcels = parcels.unionAll(ticks)
    # Spark's watermark needs only the latest time, which each parcel has for its rows: on parcels
    # instead of rows, the watermark costs nothing per row. It begins at the epoch; a task without
    # rows, or whose rows were all set aside, does not advance it.
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
