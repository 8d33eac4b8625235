"""The stream and separate native streaming queries give the same rows in each micro-batch."""

from __future__ import annotations

import pytest
from same import AXIS, assert_same, rows, start_native

from weft.query.query import Query
from weft.query.window import Window
from weft.sinks import MemorySink, read_results
from weft.spark.streaming.starting import start

WATERMARK = "5 minutes"


def out_of_order(feed) -> None:
    feed.minutes(0, 10)
    feed.minutes(8, 20, late=6)
    feed.minutes(20, 24, late=30)
    feed.minutes(24, 40, late=12)
    feed.minutes(60, 63)  # a gap, and a short one
    feed.minutes(63, 70, late=60)
    feed.end()


QUERIES = [
    Query(
        "sliding",
        aggs={
            "n": "count(*)",
            "nx": "count(x)",
            "total": "sum(x)",
            "mean": "avg(y)",
            "lo": "min(y)",
            "hi": "max(d)",
            "spread": "stddev(x)",
            "dec": "sum(d)",
            "decs": "avg(d)",
            "yes": "bool_or(b)",
            "who": "max_by(k, x)",
        },
        window=Window(range="12 minutes", slide="5 minutes"),
        by=["k"],
    ),
    Query(
        "filtered",
        aggs={"n": "count(*)", "some": "sum(x) FILTER (WHERE g = 1)", "all_g": "collect_set(g)"},
        window=Window(range="10 minutes", slide="2 minutes", offset="1 minute"),
        by=["g", "upper(k) AS up"],
        where="x > 5",
    ),
    Query(
        "whole",
        aggs={"n": "count(*)", "ratio": "sum(y) / count(y)", "ks": "size(collect_set(k))"},
        window=Window(range="7 minutes"),
        having="count(*) > 20",
    ),
    Query(
        "hour",
        aggs={"n": "count(*)", "lo": "min(x)"},
        window=Window(range="1 hour", slide="10 minutes"),
        by=["k"],
    ),
]


def test_every_query_gives_the_rows_of_its_own_spark_query(spark, feed, tmp_path):
    out_of_order(feed)
    running = start(
        feed.stream(spark),
        AXIS,
        str(tmp_path / "out"),
        checkpoint=str(tmp_path / "ck"),
        watermark=WATERMARK,
        queries=QUERIES,
        trigger="available_now",
    )
    running.await_termination()
    natives = {
        query.name: start_native(feed.stream(spark), query, tmp_path / query.name, WATERMARK)
        for query in QUERIES
    }
    for query in QUERIES:
        native, expected = natives[query.name]
        native.awaitTermination()
        found = read_results(spark, str(tmp_path / "out"), query.name)
        assert_same(query.name, rows(found.collect()), rows(expected))
        assert len(expected) > 5
        dropped = sum(
            operator["numRowsDroppedByWatermark"]
            for progress in native.recentProgress
            for operator in progress["stateOperators"]
        )
        late = running.status().query(query.name).late_rows
        assert not late or dropped
        if query.window.range == query.window.slide:
            # Spark counts late rows after its own partial aggregation.
            assert (late > 0) == (dropped > 0)
            assert late >= dropped


def test_update_mode_gives_the_early_rows_of_the_native_query(spark, feed, tmp_path):
    for first in (0, 8, 16):
        feed.minutes(first, first + 8, rows=60, late=4)
    feed.minutes(60, 61, rows=20)
    query = QUERIES[0]
    query = Query("early", aggs={"n": "count(*)", "s": "sum(x)"}, window=query.window, by=query.by)
    sink = MemorySink()
    running = start(
        feed.stream(spark),
        AXIS,
        sink,
        checkpoint=str(tmp_path / "ck"),
        watermark=WATERMARK,
        queries=[query],
        trigger="available_now",
        output_mode="update",
    )
    native, expected = start_native(
        feed.stream(spark), query, tmp_path / "native", WATERMARK, mode="update"
    )
    running.await_termination()
    native.awaitTermination()
    assert_same("early", rows(sink.rows["early"]), rows(expected))


@pytest.mark.slow
def test_a_restart_between_any_two_micro_batches_changes_nothing(spark, feed, tmp_path):
    """Both engines are restarted for every file; after each, empty micro-batches follow."""
    query = QUERIES[0]
    expected: list = []
    for first, last, late in [(0, 10, 0), (8, 20, 6), (20, 24, 30), (24, 40, 12), (0, 0, None)]:
        feed.end() if late is None else feed.minutes(first, last, late=late)
        running = start(
            feed.stream(spark),
            AXIS,
            str(tmp_path / "out"),
            checkpoint=str(tmp_path / "ck"),
            watermark=WATERMARK,
            queries=[query] if first == 0 and late == 0 else (),
            trigger="available_now",
        )
        running.await_termination()
        native, found = start_native(feed.stream(spark), query, tmp_path / query.name, WATERMARK)
        native.awaitTermination()
        expected += found
        got = read_results(spark, str(tmp_path / "out"), query.name)
        assert_same(query.name, rows(got.collect()), rows(expected))
    assert len(expected) > 20
