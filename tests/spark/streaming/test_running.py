"""A running stream: queries are added and dropped, other processes ask, and it reports status."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from types import SimpleNamespace
from urllib.request import urlopen

import pytest
from same import AXIS, assert_same, rows

from weft.errors import CheckpointError, EngineError
from weft.query.query import Query
from weft.query.window import Window
from weft.sinks import DeltaSink, ForeachBatchSink, LongSink, ParquetSink, read_results
from weft.spark.loom import Loom
from weft.spark.streaming.starting import start
from weft.spark.verify.native import native
from weft.stream.requests import Requests

AGGS = {"n": "count(*)", "s": "sum(x)"}
FIVE = Query("five", aggs=AGGS, window=Window(range="20 minutes", slide="5 minutes"), by=["k"])
TEN = Query("ten", aggs={"n": "count(*)"}, window=Window(range="10 minutes"), by=["k"])
MAX = Query("most", aggs={"hi": "max(x)"}, window=Window(range="6 minutes", slide="2 minutes"))


def wait_for(condition, seconds: float = 180.0) -> None:
    ends = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends, "waited too long"
        time.sleep(0.1)


def batch_rows(spark, feed, query, since: int | None, until: int):
    expected = native(feed.batch(spark), AXIS, query)
    expected = expected.where(f"window.end <= timestamp_micros({until})")
    if since is not None:
        expected = expected.where(f"window.start >= timestamp_micros({since})")
    return rows(expected.collect())


def test_queries_come_and_go_while_it_runs(spark, feed, tmp_path):
    out, checkpoint = str(tmp_path / "out"), str(tmp_path / "ck")
    feed.minutes(0, 30)
    loom = Loom(feed.stream(spark), time="ts", watermark="5 minutes")
    loom.add(FIVE)
    running = loom.start(out, checkpoint=checkpoint, trigger="100 milliseconds", metrics_port=0)
    wait_for(lambda: running.progress.batch >= 0)
    assert Path(checkpoint).stat().st_mode & 0o777 == 0o700  # over Spark's own files too
    private = [path.stat().st_mode & 0o777 for path in Path(checkpoint, "weft").glob("**/*.json")]
    assert set(private) == {0o600}

    running.add(TEN, backfill=True)  # its edges, keys and parts exist already
    running.add("SELECT max(x) AS hi FROM t GROUP BY window(ts, '6 minutes', '2 minutes')", "most")
    status = running.status()
    assert status.active
    assert status.query("ten").complete_from < running.progress.max_event_time
    assert status.query("most").complete_from > running.progress.max_event_time

    before = running.progress.batch
    feed.minutes(30, 50)
    wait_for(lambda: running.progress.batch > before)
    requests = Requests(checkpoint)
    ticket = requests.ask_drop("FIVE")
    requests.wait(ticket, timeout=180)
    with pytest.raises(CheckpointError, match="no query 'five'"):
        requests.wait(requests.ask_drop("five"), timeout=180)
    assert [query.name for query in running.queries] == ["ten", "most"]

    feed.minutes(50, 70)
    feed.end()
    wait_for(lambda: running.progress.max_event_time > feed_end(feed))
    wait_for(lambda: running.progress.frontier > feed_end(feed))
    port = running.serve_metrics()
    with urlopen(f"http://127.0.0.1:{port}/metrics") as page:
        text = page.read().decode()
    assert "weft_active 1\n" in text
    assert 'weft_query_late_rows_total{query="ten"} 0' in text
    assert "measured:" in running.explain()
    status = running.status()
    running.stop()
    assert not running.is_active

    assert abs(sum(query.share for query in status.queries) - 1.0) < 1e-9
    assert status.query("ten").late_rows == 0
    until = running.progress.frontier
    for query in (TEN, MAX):
        since = status.query(query.name).complete_from
        found = rows(read_results(spark, out, query.name).collect())
        expected = batch_rows(spark, feed, query, since, until)
        assert_same(query.name, found, expected)
        assert len(expected) > 5
    found = rows(read_results(spark, out, "five").collect())
    assert found - batch_rows(spark, feed, FIVE, None, until) == {}
    with pytest.raises(EngineError, match="it has 'five', 'most', 'ten'"):
        read_results(spark, out, "nobody")


def feed_end(feed) -> int:
    from conftest import MINUTE, START

    return START + 500_000 * MINUTE


def test_a_sink_that_fails_is_quoted_in_short_and_nothing_is_lost(spark, feed, tmp_path):
    """A sink's JVM error may be pages long, and then Spark's own search for its cause fails."""
    feed.minutes(0, 30)
    feed.end()
    delivered: list = []

    def fail(name: str, frame, batch: int) -> None:
        frame.selectExpr("assert_true(n < 0, repeat('very long ', 20000))").collect()

    def keep(name: str, frame, batch: int) -> None:
        delivered.extend(frame.collect())

    given = {"checkpoint": str(tmp_path / "ck"), "trigger": "available_now"}
    given |= {"watermark": "1 minute"}
    stream = feed.stream(spark)
    running = start(stream, AXIS, ForeachBatchSink(fail), queries=[TEN], **given)
    with pytest.raises(Exception, match="was not delivered") as caught:
        running.await_termination()
    assert "StackOverflow" not in str(caught.value)
    assert len(running.status().error) > 20_000
    running = start(stream, AXIS, ForeachBatchSink(keep), **given)
    running.await_termination()
    assert_same("ten", rows(delivered), batch_rows(spark, feed, TEN, None, feed_end(feed)))


@pytest.mark.parametrize("kind", [str, ParquetSink, LongSink, DeltaSink])
def test_answers_and_checkpoint_lie_apart(tmp_path, kind):
    frame = SimpleNamespace(isStreaming=True)
    for out, checkpoint in (("ck/out", "ck"), ("out", "out/ck"), ("x", "x")):
        given = {"checkpoint": str(tmp_path / checkpoint), "watermark": "1 minute"}
        with pytest.raises(EngineError, match="give each a folder of its own"):
            start(frame, AXIS, kind(str(tmp_path / out)), queries=[TEN], **given)
    assert list(tmp_path.iterdir()) == []


def test_a_checkpoint_refuses_what_does_not_fit_it(spark, feed, tmp_path):
    feed.minutes(0, 10, rows=10)
    seen: list = []
    sink = ForeachBatchSink(lambda name, frame, batch: seen.append((name, batch, frame.count())))
    given = {"checkpoint": str(tmp_path / "ck"), "trigger": "available_now"}
    stream = feed.stream(spark)
    with pytest.raises(EngineError, match="watermark=None"):
        start(stream, AXIS, sink, queries=[TEN], **given)
    with pytest.raises(EngineError, match="accepted are append, update"):
        start(stream, AXIS, sink, queries=[TEN], watermark="1 minute", output_mode="all", **given)
    with pytest.raises(EngineError, match="use run"):
        start(feed.batch(spark), AXIS, sink, queries=[TEN], watermark="1 minute", **given)
    feed.end()
    running = start(stream, AXIS, sink, queries=[TEN], watermark="1 minute", **given)
    running.await_termination()
    assert sum(count for _, _, count in seen) > 0
    assert {name for name, _, _ in seen} == {"ten"}
    with pytest.raises(CheckpointError, match="watermark='2 minutes'"):
        start(stream, AXIS, sink, watermark="2 minutes", **given)
    with pytest.raises(CheckpointError, match="output_mode='update'"):
        start(stream, AXIS, sink, output_mode="update", **given)


def test_it_is_stopped_while_another_thread_waits_for_its_end(spark, feed, tmp_path):
    feed.minutes(0, 10)
    loom = Loom(feed.stream(spark), time="ts", watermark="5 minutes")
    loom.add(FIVE)
    running = loom.start(str(tmp_path / "out"), checkpoint=str(tmp_path / "ck"))
    wait_for(lambda: running.progress.batch >= 0)
    waited: list[object] = []

    def wait() -> None:
        try:
            waited.append(running.await_termination(60))
        except Exception as error:
            waited.append(error)

    waiting = threading.Thread(target=wait)
    waiting.start()
    time.sleep(0.3)
    running.stop()
    waiting.join(60)
    assert waited == [True]
