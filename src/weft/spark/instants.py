"""Converts times given by users to units of the axis."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from weft.errors import EngineError
from weft.plan.time_axis import TimeAxis
from weft.spark.as_written import as_written

At = str | int | date | datetime
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def units_at(spark: SparkSession, axis: TimeAxis, at: At, what: str = "at") -> int:
    """A time in units of the axis; Spark parses strings, in the session's time zone by default."""
    if axis.kind == "integer":
        try:
            return int(at)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            raise EngineError(f"{what}={at!r}: the time column is an integer") from None
    if isinstance(at, int):
        raise EngineError(f"{what}={at!r}: expected a time, such as '2026-05-01 12:00:00'")
    if isinstance(at, datetime) and at.tzinfo is not None and axis.kind != "timestamp_ntz":
        return (at - _EPOCH) // timedelta(microseconds=1)
    kind = "TIMESTAMP_NTZ" if axis.kind == "timestamp_ntz" else "TIMESTAMP"
    with as_written(spark):
        row = spark.sql("SELECT 1").select(F.lit(str(at)).try_cast(kind).alias("at"))
        found = row.selectExpr(axis.edge_units("at")).collect()[0][0]  # without a job
    if found is None:
        raise EngineError(
            f"{what}={str(at)!r} is not a time that Spark can read: accepted are '2026-05-01', "
            f"'2026-05-01 12:00:00' (in the session's time zone) and '2026-05-01T12:00:00Z'"
        )
    return int(found)
