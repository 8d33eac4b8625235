"""Calendar windows of a stream equal Spark's own grouping by date_trunc over the same files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timezone

import numpy as np
import pytest
from pyspark.sql import functions as F
from same import AXIS, assert_same, rows
from test_running import wait_for

import weft
from weft.errors import EngineError
from weft.query.query import Query
from weft.query.window import Window
from weft.sinks import read_results
from weft.spark.loom import Loom
from weft.spark.streaming.starting import start
from weft.spark.streaming.verify import verify_answers

DAY = 86_400_000_000
AUTUMN = int(datetime(2023, 9, 1, tzinfo=timezone.utc).timestamp()) * 1_000_000
WATERMARK = "2 days"
BERLIN = "Europe/Berlin"


def calendar(name: str, zone: str = BERLIN, by: list[str] | None = None, **window: str) -> Query:
    return Query(
        name,
        aggs={"hi": "max(d)", "n": "count(*)", "total": "sum(x)"},
        window=weft.Calendar(zone=zone, **window),
        by=["k"] if by is None else by,
    )


QUERIES = [
    calendar("months", range="1 month"),
    calendar("days", range="1 day"),
    calendar("weeks", range="1 week"),
    calendar("quarterly", range="3 months", slide="1 month"),
]
FAR = calendar("far", range="1 day", zone="Australia/Lord_Howe", by=[])
FIXED = Query("fixed", aggs={"n": "count(*)"}, window=Window(range="36 hours", slide="12 hours"))
COMPUTED = Query(
    "computed",
    aggs={"n": "count(*)", "ratio": "sum(x) / count(x)"},
    window=weft.Calendar(range="1 month", zone=BERLIN),
    by=["k"],
    where="x > 5",
    having="count(*) > 2 AND window.end > TIMESTAMP'2001-01-01 00:00:00'",
)


@pytest.fixture(autouse=True)
def days_of_berlin(spark) -> Iterator[None]:
    """Set the session's zone, which date_trunc uses; weft's windows name their own zone."""
    spark.conf.set("spark.sql.session.timeZone", BERLIN)
    yield
    spark.conf.set("spark.sql.session.timeZone", "UTC")


def spread(feed, first: float, last: float, count: int = 150, late: float = 0.0) -> None:
    """Write a file of rows of some days, some of them up to `late` days late."""
    at = feed.random.uniform(first - late, last, count)
    times = AUTUMN + (at * DAY).astype(np.int64)
    # Some times are whole hours, so that they lie exactly on edges.
    times[::7] -= times[::7] % (DAY // 24)
    feed.put(times)


def out_of_order(feed) -> None:
    spread(feed, 0, 35)
    spread(feed, 33, 58, late=10)  # 2023-10-29: clocks go back
    spread(feed, 57, 64, late=30)
    spread(feed, 64, 130, late=2)  # a year ends
    spread(feed, 130, 215)  # a leap day, and clocks go forward
    spread(feed, 215, 216, late=200)
    spread(feed, 600, 601, 10)


def begin(spark, feed, tmp_path, queries, **more):
    return start(
        feed.stream(spark),
        AXIS,
        str(tmp_path / "out"),
        checkpoint=str(tmp_path / "ck"),
        watermark=WATERMARK,
        queries=queries,
        trigger="available_now",
        **more,
    )


def bounds() -> Iterator[tuple[str, str, str]]:
    """Starts and ends, in Spark SQL, of all windows with a row, by days of the session's zone."""
    for name, unit in (("months", "MONTH"), ("weeks", "WEEK"), ("days", "DAY")):
        start = f"date_trunc('{unit}', ts)"
        yield name, start, f"{start} + INTERVAL 1 {unit}"
    month = "date_trunc('MONTH', ts)"
    for back in range(3):
        after = 3 - back
        yield "quarterly", f"{month} - INTERVAL {back} MONTHS", f"{month} + INTERVAL {after} MONTHS"


def spark_rows(spark, feed, tmp_path, mode: str = "append") -> dict[str, Counter]:
    """By query, Spark's answers for the same stream by `k`, with its own rule for late rows."""
    found: list = []
    taken = feed.stream(spark).withWatermark("ts", WATERMARK)
    listed = (
        f"struct('{name}' AS name, struct({start} AS start, {end} AS end) AS window)"
        for name, start, end in bounds()
    )
    # This makes Spark treat a struct as a window, whose end the watermark has to pass.
    watermarked = {"spark.watermarkDelayMs": 2 * 86_400_000}
    taken = taken.withColumn("w", F.explode(F.expr(f"array({', '.join(listed)})")))
    taken = taken.withColumn("window", F.col("w.window").alias("window", metadata=watermarked))
    aggregates = [F.expr(sql).alias(name) for name, sql in QUERIES[0].aggs.items()]
    frame = taken.groupBy(F.col("w.name").alias("name"), "window", "k").agg(*aggregates)
    running = (
        frame.writeStream.foreachBatch(lambda batch, number: found.extend(batch.collect()))
        .option("checkpointLocation", str(tmp_path / "native"))
        .outputMode(mode)
        .trigger(availableNow=True)
        .start()
    )
    running.awaitTermination()
    if mode == "update":  # the last of each group counts, as in weft's table
        found = list({tuple(row[:3]): row for row in found}.values())
    names = {row[0] for row in found}
    return {name: rows(row[1:] for row in found if row[0] == name) for name in names}


def test_windows_are_those_of_spark_late_rows_and_restarts_among_them(spark, feed, tmp_path):
    asked = [*QUERIES, FIXED]
    out_of_order(feed)
    running = begin(spark, feed, tmp_path, asked)
    assert "calendar windows from gathered slices" in running.explain()
    running.await_termination()
    status = running.status()
    assert status.query("days").late_rows > status.query("quarterly").late_rows > 0
    spread(feed, 602, 640)
    spread(feed, 1000, 1001, 3)
    begin(spark, feed, tmp_path, asked).await_termination()
    expected = spark_rows(spark, feed, tmp_path)
    assert len(expected) == len(QUERIES)
    for query in QUERIES:
        got = rows(read_results(spark, str(tmp_path / "out"), query.name).collect())
        assert_same(query.name, got, expected[query.name])


@pytest.mark.slow
def test_early_answers_are_those_of_spark(spark, feed, tmp_path):
    out_of_order(feed)
    query = QUERIES[3]
    begin(spark, feed, tmp_path, [query, FIXED], output_mode="update").await_termination()
    got = rows(read_results(spark, str(tmp_path / "out"), query.name).collect())
    assert_same(query.name, got, spark_rows(spark, feed, tmp_path, "update")[query.name])


def test_calendar_windows_come_to_a_running_stream(spark, feed, tmp_path):
    """An added query is answered from its first complete window on."""
    spread(feed, 0, 20)
    begin(spark, feed, tmp_path, [QUERIES[3], FIXED]).await_termination()
    spread(feed, 20, 100)
    spread(feed, 600, 601, 3)
    running = begin(spark, feed, tmp_path, [QUERIES[3], FIXED, QUERIES[0], FAR, COMPUTED])
    running.await_termination()
    catalogue = running.catalogue
    assert len({entry.assignments[-1].store for entry in catalogue.entries}) <= 2
    since = catalogue.entry("months").complete_from
    starts, _ = QUERIES[0].window.instances(since, since + 1)
    assert since in starts.tolist()
    differences = verify_answers(
        feed.batch(spark),
        AXIS,
        catalogue,
        AUTUMN + 598 * DAY,
        lambda name: read_results(spark, str(tmp_path / "out"), name),
    )
    assert [difference for difference in differences if not difference.ok] == []
    assert sum(difference.rows for difference in differences) > 100


@pytest.mark.slow
def test_a_calendar_window_is_added_while_the_stream_runs(spark, feed, tmp_path):
    spread(feed, 0, 20)
    loom = Loom(feed.stream(spark), time="ts", watermark=WATERMARK)
    loom.add(FIXED)
    loom.add(QUERIES[3])
    checkpoint = str(tmp_path / "ck")
    running = loom.start(str(tmp_path / "out"), checkpoint=checkpoint, trigger="100 milliseconds")
    wait_for(lambda: running.progress.max_event_time is not None)
    running.add(QUERIES[0])
    spread(feed, 20, 100)
    spread(feed, 600, 601, 3)
    closed = AUTUMN + 597 * DAY
    wait_for(lambda: (running.progress.frontier or 0) >= closed)
    running.stop()
    assert running.catalogue.entry("months").complete_from is not None
    differences = verify_answers(
        feed.batch(spark),
        AXIS,
        running.catalogue,
        closed,
        lambda name: read_results(spark, str(tmp_path / "out"), name),
    )
    assert [difference for difference in differences if not difference.ok] == []
    assert all(difference.rows for difference in differences)


@pytest.mark.slow
def test_a_row_before_the_zones_table_fails_its_query_alone(spark, feed, tmp_path):
    """Watermarks begin at 1970, so only windows that reach beyond it accept such a row."""
    feed.put(np.array([-10 * DAY, -9 * DAY]))
    spread(feed, 0, 40)
    spread(feed, 200, 201, 5)
    utc = calendar("utc", range="3 months", slide="1 month", zone="UTC")
    running = begin(spark, feed, tmp_path, [QUERIES[3], utc])
    running.await_termination()
    (failure,) = running.catalogue.failed
    assert failure.query.name == "quarterly"
    assert "'Europe/Berlin': a window of some rows starts at 1969-10-31 23:00:00" in failure.message
    found = read_results(spark, str(tmp_path / "out"), "utc").collect()
    assert {row["window"]["start"].year for row in found} == {1969, 2023}


def test_the_rewrite_engine_has_no_calendar_windows(spark, feed, tmp_path):
    with pytest.raises(EngineError, match="no calendar windows on a stream"):
        begin(spark, feed, tmp_path, QUERIES[:1], engine="rewrite")
