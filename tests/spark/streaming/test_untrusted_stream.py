"""Untrusted queries on a running stream: refused or removed, and others are not affected."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from same import AXIS, assert_same, rows
from test_running import TEN, batch_rows, feed_end, wait_for

from weft.errors import CheckpointError, EngineError, WeftError
from weft.query.query import Query
from weft.query.window import Window
from weft.sinks import ForeachBatchSink, read_results
from weft.spark.loom import Loom
from weft.spark.streaming.starting import start
from weft.stream.catalogue_files import CatalogueFiles
from weft.stream.requests import Requests

SLIDING = Query(
    "stranger",
    aggs={"n": "count(*)"},
    window=Window(range="10 minutes", slide="1 second"),
    by=["k", "x"],
    trusted=False,
)


def left_behind(checkpoint: str) -> list[str]:
    """The files of requests that still exist, except replies."""
    return [path.name for path in (Path(checkpoint) / "weft/requests").rglob("*.json")]


HOSTILE = [
    "k = '${env:HOME}'",
    "k = '${a'||\"}'||(SELECT first(value) FROM text.`/etc/passwd`)--\"",
    "reflect('java.lang.System', 'getenv', 'HOME') = k",
    "size(sequence(1, 1000000000)) > x",
    "_metadata.file_path = k",
    "secret = k",
]


def test_a_request_is_only_a_query(spark, feed, tmp_path):
    """Forged requests, written as files, that claim to be trusted."""
    spark.sql("DECLARE OR REPLACE VARIABLE secret STRING DEFAULT 'topsecret'")
    checkpoint = str(tmp_path / "ck")
    feed.minutes(0, 10, rows=20)
    loom = Loom(feed.stream(spark), time="ts", watermark="5 minutes")
    loom.add(TEN)
    running = loom.start(str(tmp_path / "out"), checkpoint=checkpoint, trigger="200 milliseconds")
    wait_for(lambda: running.progress.batch >= 0)
    requests = Requests(checkpoint)
    for where in HOSTILE:
        forged = {**TEN.to_dict(), "name": "forged", "where": where, "trusted": True}
        ticket = requests._ask({"op": "add", "query": forged, "backfill": False})
        with pytest.raises(CheckpointError) as refused:
            requests.wait(ticket, timeout=120)
        assert "topsecret" not in str(refused.value)
        assert [query.name for query in CatalogueFiles(checkpoint).latest().queries] == ["ten"]
    assert [query.name for query in running.queries] == ["ten"]
    assert left_behind(checkpoint) == []
    assert running.is_active
    running.stop()


class Picky(ForeachBatchSink):
    """A sink that finds out only when it is opened that it cannot accept a query."""

    def open(self, queries, mode):
        if any(query.name == "bad" for query in queries.values()):
            raise EngineError("the sink cannot open 'bad'")
        super().open(queries, mode)


def test_a_change_that_cannot_be_started_leaves_nothing_behind(spark, feed, tmp_path):
    checkpoint, found = str(tmp_path / "ck"), []
    sink = Picky(lambda name, frame, batch: found.extend(frame.collect()))
    feed.minutes(0, 30)
    stream = feed.stream(spark)
    given = {"checkpoint": checkpoint, "trigger": "200 milliseconds"}
    bad = Query("bad", aggs={"n": "count(*)"}, window=Window(range="10 minutes"), by=["k"])
    with pytest.raises(EngineError, match="cannot open 'bad'"):
        start(stream, AXIS, sink, queries=[bad], watermark="5 minutes", **given)
    assert CatalogueFiles(checkpoint).latest() is None
    running = start(stream, AXIS, sink, queries=[TEN], watermark="5 minutes", **given)
    wait_for(lambda: running.progress.batch >= 0)
    requests = Requests(checkpoint)
    with pytest.raises(CheckpointError, match="cannot open 'bad'"):
        requests.wait(requests.ask_add(bad), timeout=120)
    with pytest.raises(EngineError, match="cannot open 'bad'"):
        running.add(bad)
    assert CatalogueFiles(checkpoint).numbers() == [1]
    assert left_behind(checkpoint) == []
    feed.minutes(30, 60)
    feed.end()
    wait_for(lambda: running.progress.frontier and running.progress.frontier > feed_end(feed))
    running.stop()
    running = start(stream, AXIS, sink, **given)  # the next start does not have it
    running.stop()
    assert_same("ten", rows(found), batch_rows(spark, feed, TEN, None, feed_end(feed)))


def test_a_request_that_has_begun_is_not_withdrawn(tmp_path):
    """Otherwise the sender would be told that it failed, and the change would still be made."""
    requests = Requests(str(tmp_path))
    late, begun = requests.ask_drop("a"), requests.ask_drop("b")
    assert requests.take(begun)
    answer = threading.Timer(1.0, requests.reply, (begun, None))
    answer.start()
    requests.wait(begun, timeout=0.2)  # gets the reply, although its time was over
    with pytest.raises(CheckpointError, match="is withdrawn"):
        requests.wait(late, timeout=0.2)
    assert not requests.take(late)
    assert left_behind(str(tmp_path)) == []
    taken = requests.ask_drop("c")
    requests.take(taken)
    requests.abandon()  # the next run of the stream
    with pytest.raises(CheckpointError, match="ended while it made this change"):
        requests.wait(taken, timeout=1)


@pytest.mark.parametrize("limit", ["windows=1000", "state_bytes=3000"])
def test_a_query_beyond_its_limits_is_taken_out_alone(spark, feed, tmp_path, monkeypatch, limit):
    out, checkpoint = str(tmp_path / "out"), str(tmp_path / "ck")
    monkeypatch.setenv("WEFT_LIMITS", limit)
    feed.minutes(0, 10)
    loom = Loom(feed.stream(spark), time="ts", watermark="5 minutes")
    loom.add(TEN)
    running = loom.start(
        out, checkpoint=checkpoint, trigger="200 milliseconds", strategy="no_share"
    )
    wait_for(lambda: running.progress.batch >= 0)
    running.add(SLIDING)
    for minute in range(10, 60, 10):
        feed.minutes(minute, minute + 10, rows=400)
    wait_for(lambda: [query.name for query in running.queries] == ["ten"])
    feed.end()
    wait_for(lambda: running.progress.frontier and running.progress.frontier > feed_end(feed))
    said = running.status().error
    assert "query 'stranger' failed at micro-batch" in said
    assert f"(the limit {limit.partition('=')[0]} of WEFT_LIMITS)" in said
    running.stop()
    found = rows(read_results(spark, out, "ten").collect())
    assert_same("ten", found, batch_rows(spark, feed, TEN, None, feed_end(feed)))


def test_a_window_of_a_million_steps_is_refused(spark, feed, tmp_path):
    feed.minutes(0, 10, rows=20)
    loom = Loom(feed.stream(spark), time="ts", watermark="5 minutes")
    loom.add("SELECT count(*) AS n FROM t GROUP BY window(ts, '1 second', '1 microsecond')", "bomb")
    with pytest.raises(WeftError, match=r"1,000,000 windows .*the limit windows_per_row of WEFT"):
        loom.start(str(tmp_path / "out"), checkpoint=str(tmp_path / "ck"))


def test_the_programs_own_queries_stay_trusted_over_a_restart(spark, feed, tmp_path):
    spark.udf.register("weft_test_third", lambda x: x is not None and x % 3 == 0, "boolean")
    where = "weft_test_third(x)"
    own = Query("own", aggs={"n": "count(*)"}, window=Window(range="10 minutes"), where=where)
    out = str(tmp_path / "out")
    given = {"checkpoint": str(tmp_path / "ck"), "trigger": "available_now"}
    feed.minutes(0, 30)
    loom = Loom(feed.stream(spark), time="ts", watermark="5 minutes")
    loom.add(own)
    loom.start(out, **given).await_termination()
    feed.end()
    running = Loom(feed.stream(spark), time="ts", watermark="5 minutes").start(out, **given)
    running.await_termination()
    assert [query.trusted for query in running.queries] == [True]
    found = rows(read_results(spark, out, "own").collect())
    assert_same("own", found, batch_rows(spark, feed, own, None, feed_end(feed)))
