"""GROUP BY a truncated time, and GROUPING SETS: shared, and equal to plain Spark in every zone."""

from __future__ import annotations

import random
from datetime import datetime, timedelta, timezone

import pytest
from agree import settings
from pyspark.sql import DataFrame, SparkSession

from weft.query.sql.reading import read_statements
from weft.spark.verify.statements import verify_whole
from weft.spark.whole import WholeBatch

KEYS = {
    "days": "to_date(ts)",
    "casts": "CAST(ts AS DATE)",
    "weeks": "date_trunc('WEEK', ts)",
    "months": "date_trunc('month', ts)",
    "short months": "trunc(ts, 'MM')",
    "quarters": "date_trunc('QUARTER', ts)",
    "years": "date_trunc('YYYY', ts)",
    "ends of months": "last_day(ts)",
    "texts": "date_format(ts, 'yyyy-MM-dd')",
    "local hours": "date_format(ts, 'yyyy-MM-dd HH')",
    "cells": "floor(unix_timestamp(ts) / 300) * 300",
    "cells as times": "timestamp_seconds(floor(unix_timestamp(ts) / 7200) * 7200)",
}
LOCAL = {
    "hours": "date_trunc('hour', ts)",
    "minutes": "date_trunc('MINUTE', ts)",
    "buckets": "time_bucket(INTERVAL '90' MINUTES, ts)",
    "moved buckets": "time_bucket(INTERVAL 1 HOUR, ts, TIMESTAMP '2026-01-01 00:25:00')",
    "later origins": "time_bucket(INTERVAL '7' DAYS, ts, TIMESTAMP '2031-01-03')",
    "days and hours": "time_bucket(INTERVAL '1 12' DAY TO HOUR, ts)",
    "buckets of months": "time_bucket(INTERVAL '5' MONTH, ts)",
    "buckets of years": "time_bucket(INTERVAL '2' YEARS, ts)",
}
ZONES = ("UTC", "Europe/Stockholm", "America/St_Johns")


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> DataFrame:
    """Rows of two years around changes of clocks and of years."""
    edges = (
        "2026-03-29 00:30:00",
        "2026-10-25 00:30:00",
        "2025-12-31 21:00:00",
        "2024-02-29 12:00",
    )
    return times(spark, *edges)


def times(spark: SparkSession, *edges: str) -> DataFrame:
    """Rows around some instants."""
    chance = random.Random(5)
    starts = [datetime.fromisoformat(edge).replace(tzinfo=timezone.utc) for edge in edges]
    made = [
        (chance.choice(starts) + timedelta(seconds=chance.randrange(-90_000, 90_000) / 2),
         chance.choice("ab"), chance.choice([None, 1, 2]), chance.randrange(100))
        for _ in range(300)
    ]  # fmt: skip
    return spark.createDataFrame(made, "ts TIMESTAMP, k STRING, j INT, x INT").cache()


def whole(spark: SparkSession, rows: DataFrame, sql: str) -> WholeBatch:
    return WholeBatch(spark, {"t": rows}, (), read_statements(sql))


@pytest.mark.parametrize("zone", ZONES)
def test_truncated_times_are_windows_whatever_the_clocks_do(
    spark: SparkSession, rows: DataFrame, zone: str
) -> None:
    keys = KEYS | (LOCAL if zone == "UTC" else {})
    text = ";".join(
        f"-- name: {name}\nSELECT {key} AS cut, k, count(*) AS n, sum(x) AS s, max(j) AS j FROM t "
        f"WHERE x > 3 GROUP BY cut, k HAVING count(*) > 0 ORDER BY cut DESC"
        for name, key in keys.items()
    )
    with settings(spark, {"spark.sql.session.timeZone": zone}), whole(spark, rows, text) as batch:
        assert [(asked.name, asked.how) for asked in batch.asked] == [
            (name, "shared, then SQL") for name in keys
        ]
        report = verify_whole(batch)
    assert report.ok, report
    assert len(report.differences) == len(keys)
    assert report.rows > 100


def test_rows_before_1970_are_shared_in_utc_and_run_as_they_are_in_other_zones(
    spark: SparkSession,
) -> None:
    old = times(spark, "1969-12-31 12:00", "2026-03-29 00:30:00")
    text = "SELECT date_trunc('month', ts) AS m, count(*) AS n FROM t GROUP BY 1"
    for zone, how in (("UTC", "shared, then SQL"), ("Europe/Stockholm", "as it is")):
        with (
            settings(spark, {"spark.sql.session.timeZone": zone}),
            whole(spark, old, text) as batch,
        ):
            assert [asked.how for asked in batch.asked] == [how]
            assert verify_whole(batch).ok
    assert "known from 1970-01-01" in str(batch.asked[0].why)


def test_hours_of_another_zone_and_times_that_are_null_run_as_they_are(
    spark: SparkSession, rows: DataFrame
) -> None:
    text = "SELECT date_trunc('hour', ts) AS h, count(*) AS n FROM t GROUP BY 1"
    with settings(spark, {"spark.sql.session.timeZone": "Asia/Kolkata"}):
        (asked,) = whole(spark, rows, text).asked
        assert asked.why is not None
        assert "shared where spark.sql.session.timeZone is UTC" in asked.why
    nulls = rows.unionAll(spark.createDataFrame([(None, "a", 1, 1)], rows.schema))
    (asked,) = whole(spark, nulls, "SELECT to_date(ts) AS d, count(*) FROM t GROUP BY 1").asked
    assert asked.why == "it groups rows without a time, which are in no window"


GROUPINGS = (
    "window(ts, '1 day'), ROLLUP (k, j)",
    "window(ts, '6 hours', '2 hours'), CUBE (k, j)",
    "GROUPING SETS ((window(ts, '1 day'), k), (window(ts, '1 day'), j), (window(ts, '1 day')))",
    "window(ts, '1 day'), k, GROUPING SETS ((j), ())",
    "window(ts, '1 day'), ROLLUP ((k, j))",
    "k, j, window(ts, '1 day') GROUPING SETS ((k, window(ts, '1 day')), (window(ts, '1 day')))",
)


@pytest.mark.parametrize("by", GROUPINGS)
def test_groupings_are_shared(spark: SparkSession, rows: DataFrame, by: str) -> None:
    """Null keys form separate groups from the nulls that stand for all keys."""
    text = (
        "SELECT window.start AS since, k, j, coalesce(k, '?') AS q, count(j) AS n, sum(x) AS s, "
        f"grouping(j) AS g, grouping_id() AS id FROM t GROUP BY {by} "
        "HAVING count(*) > 1 OR k IS NULL ORDER BY n DESC, since LIMIT 1000"
    )
    with whole(spark, rows, text) as batch:
        assert [asked.how for asked in batch.asked] == ["shared, then SQL"]
        report = verify_whole(batch)
    assert report.ok, report
    assert report.rows > 20
