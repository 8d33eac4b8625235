"""Streams on other axes, in other time zones, with many predicates, and to other sinks."""

from __future__ import annotations

import pytest
from same import assert_same, rows

from weft.plan.time_axis import TimeAxis
from weft.query.query import Query
from weft.query.window import Window
from weft.sinks import LongSink, MemorySink
from weft.spark.streaming.starting import start
from weft.spark.verify.native import native


@pytest.fixture
def new_york(spark):
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    yield
    spark.conf.set("spark.sql.session.timeZone", before)


def test_another_zone_and_keys_and_values_that_are_times(spark, new_york, feed, tmp_path):
    feed.minutes(0, 20)
    feed.minutes(15, 40)
    feed.end()
    query = Query(
        "daily",
        aggs={"n": "count(*)", "first_ts": "min(ts)", "last_ts": "max(ts)"},
        window=Window(range="15 minutes", slide="5 minutes"),
        by=["date_trunc('HOUR', ts) AS hour", "struct(g, b) AS pair"],
    )
    sink = MemorySink()
    running = start(
        feed.stream(spark),
        TimeAxis("ts"),
        sink,
        checkpoint=str(tmp_path / "ck"),
        watermark="10 minutes",
        queries=[query],
        trigger="available_now",
    )
    running.await_termination()
    until = running.progress.frontier
    expected = native(feed.batch(spark), TimeAxis("ts"), query)
    expected = expected.where(f"window.end <= timestamp_micros({until})")
    assert_same("daily", rows(sink.rows["daily"]), rows(expected.collect()))


def test_an_integer_axis_with_many_predicates_into_one_long_table(spark, feed, tmp_path):
    feed.minutes(0, 10, rows=300)
    feed.minutes(10, 20, rows=300)
    minute = "CAST(unix_micros(ts) DIV 60000000 AS BIGINT) AS i"
    stream = feed.stream(spark).selectExpr("*", minute)
    queries = [
        Query(
            f"above_{bound}",
            aggs={"n": "count(*)", "total": "sum(x)" if bound % 2 else "sum(y)"},
            window=Window(range=4, slide=2),
            where=f"x > {bound}",
        )
        for bound in range(-3, 12)
    ]
    axis = TimeAxis("i", "integer")
    running = start(
        stream,
        axis,
        LongSink(str(tmp_path / "out")),
        checkpoint=str(tmp_path / "ck"),
        watermark="1",
        queries=queries,
        trigger="available_now",
    )
    running.await_termination()
    table = spark.read.parquet(str(tmp_path / "out"))
    assert {"query", "window", "n", "total", "total_double"} <= set(table.columns)
    until = running.progress.frontier
    batch = feed.batch(spark).selectExpr("*", minute)
    for query in queries[::5]:
        total = "total" if query.aggs["total"] == queries[0].aggs["total"] else "total_double"
        found = table.where(f"query = '{query.name}'").select("window", "n", total)
        expected = native(batch, axis, query).where(f"window.end <= {until}")
        assert_same(query.name, rows(found.collect()), rows(expected.collect()))
        assert expected.count() > 3
