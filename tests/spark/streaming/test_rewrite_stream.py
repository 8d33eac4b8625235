"""Coverage plans as chained native aggregations on a stream."""

from __future__ import annotations

import pytest
from same import AXIS, assert_same, rows, start_native

from weft.errors import EngineError
from weft.query.query import Query
from weft.query.window import Window
from weft.sinks import read_results
from weft.spark.streaming.starting import start

AGGS = {"n": "count(*)", "lo": "min(x)", "mean": "avg(d)"}
QUERIES = [
    Query("ten", aggs=AGGS, window=Window(range="10 minutes"), by=["k"]),
    Query("half", aggs=AGGS, window=Window(range="30 minutes", slide="10 minutes"), by=["k"]),
]


def test_windows_from_windows_give_the_rows_of_native_queries(spark, feed, tmp_path):
    feed.minutes(0, 20)
    feed.minutes(15, 50, late=8)
    feed.end()
    given = {"checkpoint": str(tmp_path / "ck"), "watermark": "5 minutes", "queries": QUERIES}
    with pytest.raises(EngineError, match="engine='operator'"):
        start(feed.stream(spark), AXIS, "out", **given, engine="rewrite", output_mode="update")
    with pytest.raises(EngineError, match="query 'ten' has limits, and engine='rewrite' cannot"):
        start(feed.stream(spark), AXIS, "out", **given, engine="rewrite", limits={"groups": 9})
    running = start(
        feed.stream(spark),
        AXIS,
        str(tmp_path / "out"),
        trigger="available_now",
        engine="rewrite",
        strategy="coverage",
        **given,
    )
    running.await_termination()
    with pytest.raises(EngineError, match="engine='operator'"):
        running.drop("ten")
    for query in QUERIES:
        native, expected = start_native(
            feed.stream(spark), query, tmp_path / query.name, "5 minutes"
        )
        native.awaitTermination()
        found = read_results(spark, str(tmp_path / "out"), query.name)
        assert_same(query.name, rows(found.collect()), rows(expected))
        assert len(expected) > 5
