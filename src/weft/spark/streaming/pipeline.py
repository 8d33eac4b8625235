"""The streaming DataFrame: native projection, watermark, shards, the operator."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from weft.plan.time_axis import TimeAxis
from weft.query.duration import parse_duration
from weft.spark.streaming.compile import Compiled
from weft.spark.streaming.guard import Guard
from weft.spark.streaming.operator import OUTPUT, Operator
from weft.spark.streaming.preaggregate import (
    AHEAD,
    BUCKET,
    HIGH,
    SPARK_SCHEMA,
    TIME,
    Preaggregate,
)

_EVENT = "weft_event"
# The operator drops rows that are behind the watermark, before any window could take them. It is
# given a time that is never behind; pandas' nanoseconds end in 2262.
_NEVER_LATE = "TIMESTAMP'2260-01-01 00:00:00'"


def delay_ms(watermark: str, axis: TimeAxis) -> int:
    """The watermark's delay in milliseconds; a unit of an integer axis counts as one."""
    if axis.kind == "integer":
        return int(watermark)
    return parse_duration(watermark, "watermark") // 1000


def answers_frame(
    df: DataFrame, axis: TimeAxis, watermark: str, compiled: Compiled, guard: Guard
) -> DataFrame:
    """Every query's answers, and the operator's figures: columns that no query changes."""
    delay = delay_ms(watermark, axis)
    units = axis.units()
    buckets = compiled.program.buckets
    projected = (
        df.where(f"{axis.quoted} IS NOT NULL")
        .selectExpr(
            f"{units} AS {TIME}",
            f"{guard.condition(units)} AS {AHEAD}",
            *compiled.expressions,
        )
        .selectExpr(
            "*",
            *(
                f"CAST(pmod(xxhash64({', '.join(keys)}), {buckets}) AS INT) AS {name}"
                for name, keys in compiled.buckets
            ),
        )
    )
    parcels = projected.mapInArrow(Preaggregate(compiled.program), SPARK_SCHEMA)
    # Spark's watermark asks for nothing but the latest time, which a parcel knows of its rows: put
    # behind it, the watermark costs nothing per row. It begins at the epoch, where a task without
    # rows, or with none that the guard lets through, leaves it.
    event = "timestamp_millis" if axis.kind == "integer" else "timestamp_micros"
    parcels = parcels.select(
        BUCKET, "parcel", F.expr(f"{event}(coalesce({HIGH}, 0L))").alias(_EVENT)
    ).withWatermark(_EVENT, f"{delay} milliseconds")
    never_late = F.expr(_NEVER_LATE).alias("at", metadata={"spark.watermarkDelayMs": delay})
    return (
        parcels.select(BUCKET, "parcel", never_late)
        .groupBy(BUCKET)
        .transformWithStateInPandas(
            Operator(compiled.program, compiled.lowerings), OUTPUT, "append", "EventTime"
        )
    )
