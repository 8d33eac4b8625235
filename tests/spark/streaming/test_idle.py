"""idle=...: while no rows come, windows are closed by the clock."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from same import AXIS, assert_same, rows
from test_failing_alone import twice
from test_running import wait_for

import weft
from conftest import START, Feed
from weft.errors import CheckpointError, EngineError
from weft.query.query import Query
from weft.query.window import Session, Window
from weft.sinks import ForeachBatchSink
from weft.spark.streaming.launch import halt
from weft.spark.verify.native import native

SECOND = 1_000_000
ONES = Query("ones", aggs={"n": "count(*)", "s": "sum(x)"}, window=Window(range="1 second"), by="k")
VISITS = Query("visits", aggs={"n": "count(*)"}, window=Session(gap="300 milliseconds"), by="k")
IDLE = "500 milliseconds"


def start(spark: Any, feed: Feed, folder: Path, *queries: Query, sink: Any = None, **options: Any):
    loom = weft.Loom(feed.stream(spark), time="ts", watermark="500 milliseconds")
    for query in queries:
        loom.add(query)
    options = {"checkpoint": str(folder / "ck"), "trigger": "50 milliseconds", **options}
    return loom.start(sink or str(folder / "out"), **options)


def put(feed: Feed, first: float, last: float) -> None:
    """Write rows between two seconds of the stream, the last one exactly at the end."""
    times = feed.random.integers(int(first * SECOND), int(last * SECOND), 40)
    feed.put(START + np.append(times, int(last * SECOND) - 1))


def wait_until_closed(running: Any, second: int) -> None:
    """Wait until all windows that end by a second of the stream are closed."""
    wait_for(lambda: (running.progress.frontier or 0) >= START + second * SECOND)


def assert_answered(spark: Any, feed: Feed, folder: Path, *queries: Query) -> None:
    """Check that each window is answered once, as by Spark over all rows except the late one."""
    on_time = feed.batch(spark).where("k <> 'late' OR k IS NULL")
    for query in queries:
        found = rows(weft.read_results(spark, str(folder / "out"), query.name).collect())
        assert_same(query.name, found, rows(native(on_time, AXIS, query).collect()))


def lose_last_commit(checkpoint: Path) -> tuple[Path, str]:
    """Remove Spark's commit of the last micro-batch, as after a kill, so that it runs again.

    Returns the file with the offsets of that micro-batch, and its content.
    """
    last = max(int(path.name) for path in (checkpoint / "commits").iterdir() if path.suffix == "")
    for name in (f"{last}", f".{last}.crc"):
        (checkpoint / "commits" / name).unlink(missing_ok=True)
    offsets = checkpoint / "offsets" / f"{last}"
    return offsets, offsets.read_text()


def test_windows_close_by_the_clock_and_once(spark: Any, feed: Feed, tmp_path: Path) -> None:
    put(feed, 0, 2.5)
    running = start(spark, feed, tmp_path, ONES, VISITS, idle=IDLE)
    wait_until_closed(running, 4)
    assert running.progress.max_event_time == START + 2.5 * SECOND - 1  # of rows, not of ticks
    assert running.status().rows == 0

    feed.put(np.array([START + SECOND]), k=["late"])
    wait_for(lambda: running.status().query("ones").late_rows == 1)
    assert running.status().query("visits").late_rows == 1
    assert sum(done.rows for done in running.batches(last=True)) == 42
    running.stop()
    assert_answered(spark, feed, tmp_path, ONES, VISITS)

    offsets, said = lose_last_commit(tmp_path / "ck")
    put(feed, 60, 61.5)
    running = start(spark, feed, tmp_path, ONES, VISITS)  # as it was
    wait_until_closed(running, 63)
    running.stop()
    assert offsets.read_text() == said
    assert_answered(spark, feed, tmp_path, ONES, VISITS)


def test_eager_windows_close_by_the_clock(spark: Any, feed: Feed, tmp_path: Path) -> None:
    for first in (0, 1, 2):  # a backlog: that a micro-batch takes longer than `idle` is no idleness
        put(feed, first, first + 0.8)
    idle = "100 milliseconds"
    running = start(spark, feed, tmp_path, ONES, VISITS, idle=idle, emit="eager")
    wait_until_closed(running, 4)
    running.stop()
    assert_answered(spark, feed, tmp_path, ONES, VISITS)


@pytest.mark.parametrize("idle", [None, IDLE])
def test_the_last_windows_of_an_available_now_run_outlast_a_change(
    spark: Any, feed: Feed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, idle: str | None
) -> None:
    put(feed, 0, 2.5)
    put(feed, 2.5, 5)  # answers windows before it, and leaves its own to a micro-batch without rows
    found: list[Any] = []
    answering, free = threading.Event(), threading.Event()

    def take(query: str, frame: Any, batch: int) -> None:
        found.extend(frame.collect() if query == "ones" else ())
        answering.set()
        free.wait(60)

    def halting(*given: Any, **more: Any) -> None:
        free.set()
        halt(*given, **more)

    monkeypatch.setattr("weft.spark.streaming.spark_run.halt", halting)
    sink = ForeachBatchSink(take)
    running = start(spark, feed, tmp_path, ONES, sink=sink, trigger="available_now", idle=idle)
    assert answering.wait(60)
    running.add(Query("more", aggs={"d": "max(y * 2)"}, window=Window(range="1 second")))
    assert free.is_set()  # it was started again
    running.await_termination()
    assert running.progress.frontier == START + 4_499_000
    due = native(feed.batch(spark), AXIS, ONES).where(f"unix_micros(window.end) <= {START}+4499000")
    assert_same("ones", rows(found), rows(due.collect()))


def test_a_query_fails_alone_beside_ticks(spark: Any, feed: Feed, tmp_path: Path) -> None:
    """The error does not name the query, so the rows are read again by both sources' offsets."""
    put(feed, 0, 2.5)
    bad = Query("bad", aggs={"s": f"sum({twice('k')})"}, window=Window(range="1 second"))
    running = start(spark, feed, tmp_path, ONES, bad, idle=IDLE)
    wait_until_closed(running, 4)
    running.stop()
    assert [failure.query.name for failure in running.catalogue.failed] == ["bad"]
    assert_answered(spark, feed, tmp_path, ONES)


def test_a_checkpoint_without_ticks_gets_none(spark: Any, feed: Feed, tmp_path: Path) -> None:
    put(feed, 0, 1)
    with pytest.raises(EngineError, match="use engine='operator'"):
        start(spark, feed, tmp_path, ONES, engine="rewrite", idle=IDLE)
    start(spark, feed, tmp_path, ONES, trigger="available_now").await_termination()
    with pytest.raises(CheckpointError, match="start on a new checkpoint"):
        start(spark, feed, tmp_path, ONES, idle=IDLE)
