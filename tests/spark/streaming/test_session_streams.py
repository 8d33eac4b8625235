"""Sessions of a stream have the rows of Spark's own session_window over the same files."""

from __future__ import annotations

import numpy as np
import pytest
from same import AXIS, assert_same, rows, start_native

from conftest import MINUTE, START
from weft.errors import EngineError
from weft.query.query import Query
from weft.query.window import Session, Window
from weft.sinks import read_results
from weft.spark.streaming.starting import start

WATERMARK = "5 minutes"
QUERIES = [
    *(
        Query(
            f"gap{gap}",
            aggs={"n": "count(*)", "total": "sum(x)", "hi": "max(d)", "who": "collect_set(g)"},
            window=Session(gap=f"{gap} seconds"),
            by=["k"],
        )
        for gap in (1, 45, 300, 3600)
    ),
    Query("all", aggs={"n": "count(*)"}, window=Session(gap="10 seconds")),
    Query(
        "filtered",
        aggs={"n": "count(*)", "mean": "avg(y)"},
        window=Session(gap="2 minutes"),
        by=["g", "upper(k) AS up"],
        where="x > 5",
    ),
    Query(
        "computed",
        aggs={"ratio": "sum(x) / count(x)", "n": "count(*)"},
        window=Session(gap="90 seconds"),
        by=["k"],
        where="x > 5",
        having="count(*) > 2 AND window.end > TIMESTAMP'2001-01-01 00:00:00'",
    ),
]


def out_of_order(feed) -> None:
    feed.minutes(0, 10, rows=60)
    feed.minutes(8, 20, rows=60, late=6)
    feed.minutes(20, 24, rows=60, late=30)
    # On whole seconds, so that some pauses are exactly a gap.
    feed.put(START + np.arange(24 * 60, 26 * 60, 5) * 1_000_000)
    feed.minutes(24, 40, rows=60, late=12)
    feed.minutes(60, 63, rows=60)
    feed.minutes(63, 70, rows=60, late=60)
    feed.end()


def with_key(query: Query) -> Query:
    """Spark has no sessions without keys on a stream; weft's equal those of a single group."""
    if query.by:
        return query
    return Query(query.name, aggs=query.aggs, window=query.window, by=["hour(ts) < 99 AS one"])


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


@pytest.mark.slow
def test_every_gap_gives_the_rows_of_its_own_spark_query(spark, feed, tmp_path):
    out_of_order(feed)
    fixed = Query("fixed", aggs={"n": "count(*)"}, window=Window(range="10 minutes"), by=["k"])
    running = begin(spark, feed, tmp_path, [*QUERIES, fixed])
    assert "sessions of every gap" in running.explain()
    running.await_termination()
    natives = {
        query.name: start_native(
            feed.stream(spark), with_key(query), tmp_path / query.name, WATERMARK
        )
        for query in (*QUERIES, fixed)
    }
    late = running.status()
    for query in (*QUERIES, fixed):
        native, expected = natives[query.name]
        native.awaitTermination()
        got = rows(read_results(spark, str(tmp_path / "out"), query.name).collect())
        expected = [row if query.by else (row[0], *row[2:]) for row in expected]
        assert_same(query.name, got, rows(expected))
        assert expected, query.name
    assert late.query("gap1").late_rows > late.query("gap3600").late_rows


def test_sessions_go_on_after_a_restart(spark, feed, tmp_path):
    """A session that is open when the stream stops accepts rows after the restart."""
    feed.minutes(0, 10, rows=60)
    begin(spark, feed, tmp_path, QUERIES).await_termination()
    feed.minutes(9, 20, rows=60, late=5)
    begin(spark, feed, tmp_path, QUERIES).await_termination()
    feed.end()
    begin(spark, feed, tmp_path, QUERIES).await_termination()
    one_by_one = {
        query.name: start_native(feed.stream(spark), query, tmp_path / query.name, WATERMARK)
        for query in (QUERIES[1], QUERIES[-1])
    }
    for name, (native, expected) in one_by_one.items():
        native.awaitTermination()
        got = rows(read_results(spark, str(tmp_path / "out"), name).collect())
        assert_same(name, got, rows(expected))


def test_sessions_come_and_go_on_a_running_stream(spark, feed, tmp_path):
    feed.minutes(0, 10, rows=60)
    first = Query("first", aggs={"n": "count(*)"}, window=Session(gap="20 seconds"), by=["k"])
    running = begin(spark, feed, tmp_path, [first])
    running.await_termination()
    later = Query("later", aggs={"n": "count(*)"}, window=Session(gap="40 seconds"), by=["k"])
    feed.minutes(30, 40, rows=60)
    feed.end()
    added = begin(spark, feed, tmp_path, [first, later])
    added.await_termination()
    since = added.catalogue.entry("later").complete_from
    batch = feed.batch(spark)
    from weft.spark.verify.native import native

    kept = batch.where(f"ts >= timestamp_micros({since}L)")
    limit = START + 900_000 * MINUTE
    for query, df in ((first, batch), (later, kept)):
        expected = native(df, AXIS, query).where(f"window.end < timestamp_micros({limit}L)")
        got = rows(read_results(spark, str(tmp_path / "out"), query.name).collect())
        assert_same(query.name, got, rows(expected.collect()))
    stores = {entry.assignments[-1].store for entry in added.catalogue.entries}
    assert len(stores) == 1


def test_sessions_with_a_maximum_are_those_of_a_batch(spark, feed, tmp_path):
    """They share a store with other sessions, and there are restarts; no row is late."""
    aggs = {"n": "count(*)", "total": "sum(x)", "who": "collect_set(g)"}
    capped = [
        Query("short", aggs=aggs, window=Session(gap="20 seconds", maximum="1 minute"), by=["k"]),
        Query("long", aggs=aggs, window=Session(gap="2 minutes", maximum="7 minutes"), by=["k"]),
        Query("all", aggs=aggs, window=Session(gap="10 seconds", maximum="3 minutes")),
        Query(
            "some",
            aggs={"n": "count(*)"},
            window=Session(gap="20 seconds", maximum="1 minute"),
            by=["g"],
            where="x > 5",
            having="count(*) > 1",
        ),
    ]
    queries = [*capped, QUERIES[1]]
    feed.minutes(0, 10, rows=300)
    begin(spark, feed, tmp_path, queries).await_termination()
    feed.minutes(9, 20, rows=300, late=4)
    running = begin(spark, feed, tmp_path, queries)
    assert "those with a maximum are kept separately" in running.explain()
    running.await_termination()
    feed.minutes(21, 24, rows=100)
    feed.end()
    running = begin(spark, feed, tmp_path, queries)
    running.await_termination()
    from weft.spark.verify.native import native

    limit = START + 900_000 * MINUTE
    for query in queries:
        assert running.status().query(query.name).late_rows == 0
        expected = native(feed.batch(spark), AXIS, query)
        closed = expected.where(f"unix_micros(window.end) + floor(rand()) < {limit}L")
        got = rows(read_results(spark, str(tmp_path / "out"), query.name).collect())
        assert_same(query.name, got, rows(closed.collect()))
        assert sum(got.values()) > 3


def test_early_answers_of_sessions_are_refused(spark, feed, tmp_path):
    with pytest.raises(EngineError, match=r"'gap1'.*output_mode='append'"):
        begin(spark, feed, tmp_path, QUERIES[:1], output_mode="update")


def test_the_rewrite_engine_has_no_sessions(spark, feed, tmp_path):
    with pytest.raises(EngineError, match="engine='operator'"):
        begin(spark, feed, tmp_path, QUERIES[:1], engine="rewrite")
