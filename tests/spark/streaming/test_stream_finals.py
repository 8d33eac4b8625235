"""Every final structure on a stream: Spark's own answers, restarts, late rows, and refusals."""

from __future__ import annotations

import pytest
from same import AXIS, assert_same, rows, start_native
from test_stream_differential import QUERIES, WATERMARK, out_of_order

import weft
from weft.engine.finals.registry import STRUCTURES
from weft.errors import EngineError, FinalsError
from weft.query.query import Query
from weft.query.window import Window
from weft.sinks import read_results
from weft.spark.streaming.starting import start
from weft.spark.verify.native import native

EXACT = [
    Query(
        "long",
        aggs={"n": "count(*)", "nx": "count(x)", "total": "sum(x)", "mean": "avg(d)"},
        window=Window(range="40 minutes", slide="1 minute"),
        by=["k"],
    ),
    Query(
        "short",
        aggs={"total": "sum(d)", "bits": "bit_xor(x)"},
        window=Window(range="9 minutes", slide="3 minutes"),
        by=["k"],
        where="g > 0",
    ),
]


@pytest.mark.slow
def test_a_structure_gives_the_rows_of_sparks_own_streams(spark, feed, tmp_path):
    """Rows behind the watermark count too, in exactly the windows that are still open."""
    out_of_order(feed)
    queries = [QUERIES[0], QUERIES[1], QUERIES[3]]
    natives = {
        q.name: start_native(feed.stream(spark), q, tmp_path / q.name, WATERMARK) for q in queries
    }
    for finals in ("flatfit", "daba"):
        out = str(tmp_path / finals)
        start(
            feed.stream(spark),
            AXIS,
            out,
            checkpoint=str(tmp_path / f"ck-{finals}"),
            watermark=WATERMARK,
            queries=queries,
            trigger="available_now",
            finals=finals,
        ).await_termination()
        for query in queries:
            running, expected = natives[query.name]
            running.awaitTermination()
            found = read_results(spark, out, query.name).collect()
            assert_same(f"{finals} {query.name}", rows(found), rows(expected))
            assert len(expected) > 5


@pytest.mark.slow
def test_structures_take_over_from_each_other(spark, feed, tmp_path):
    """The stream is restarted with another structure after every two micro-batches."""
    out, checkpoint = str(tmp_path / "out"), str(tmp_path / "ck")
    names = [*STRUCTURES, "blocks", "auto"]
    for at, finals in enumerate(names):
        for first in (4 * at, 4 * at + 2):
            feed.minutes(first, first + 2, rows=60, late=4)
        if finals == names[-1]:
            feed.end()
        running = start(
            feed.stream(spark),
            AXIS,
            out,
            checkpoint=checkpoint,
            watermark=WATERMARK,
            queries=EXACT if not at else (),
            trigger="available_now",
            finals=finals,
        )
        running.await_termination()
        assert f"by {finals if finals != 'auto' else 'subtract'}: " in running.explain()
    assert running.catalogue.settings.finals == "auto"
    for query in EXACT:
        found = read_results(spark, out, query.name).collect()
        expected = native(feed.batch(spark), AXIS, query).collect()
        last = max(row["window"]["start"] for row in expected)  # the row that closes all others
        expected = [row for row in expected if (last - row["window"]["start"]).days > 300]
        assert_same(query.name, rows(found), rows(expected))
        assert len(expected) > 20


def test_what_cannot_be_served_is_refused_by_name(spark, feed, tmp_path):
    feed.minutes(0, 2)
    loom = weft.Loom(feed.stream(spark), time="ts", watermark=WATERMARK)
    loom.add(EXACT[0])
    loom.add(Query("top", aggs={"hi": "max(y)"}, window=Window(range="1 hour", slide="1 minute")))
    given = {"checkpoint": str(tmp_path / "ck"), "trigger": "available_now"}
    with pytest.raises(
        FinalsError, match=r"finals='subtract': of 'top': subtract cannot serve max"
    ):
        loom.start(str(tmp_path / "out"), finals="subtract", **given)
    with pytest.raises(FinalsError, match="did you mean 'flatfit'"):
        loom.start(str(tmp_path / "out"), finals="flatfits", **given)
    with pytest.raises(EngineError, match="rewrite engine combines slices in Spark SQL"):
        loom.start(str(tmp_path / "out"), finals="daba", engine="rewrite", **given)
    assert not (tmp_path / "ck").exists()
    told = loom.explain(finals="daba")
    assert "finals of max(y) by daba: as asked for" in told
    assert "by subtract: " in loom.explain()
