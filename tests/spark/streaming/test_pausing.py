"""A paused query: windows that close meanwhile are not delivered, and later ones are complete."""

from __future__ import annotations

import time

import pytest
from same import AXIS, assert_same, rows

from conftest import MINUTE
from weft.errors import EngineError
from weft.query.query import Query
from weft.query.window import Window
from weft.sinks import read_results
from weft.spark.loom import Loom
from weft.spark.streaming.changes import pause_query, resume_query, stored
from weft.spark.verify.native import native
from weft.stream.status_file import read_board

DELAY = 5 * 60 * 1_000_000
FAR_AHEAD = (1_700_000_000 + 500_000 * 60) * 1_000_000
"""Windows that end by this are closed once the feed has ended."""
FIVE = Query("five", aggs={"n": "count(*)", "s": "sum(x)"}, by=["k"],
             window=Window(range="20 minutes", slide="5 minutes"))  # fmt: skip
PATIENCE = 10
PATIENT = Query("patient", aggs={"n": "count(*)"}, by=["k"], lateness=f"{PATIENCE} minutes",
                window=Window(range="4 minutes"))  # fmt: skip
RATIO = Query("ratio", aggs={"r": "sum(x) / count(*)"}, window=Window(range="10 minutes"))


def wait_for(condition, seconds: float = 120.0) -> None:
    ends = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends, "waited too long"
        time.sleep(0.1)


def settled(running, feed, first: int, last: int) -> int:
    """Feed some minutes; return up to when windows are closed after the stream has read them."""
    before = running.progress.max_event_time
    feed.minutes(first, last)

    def is_settled() -> bool:
        now = running.progress
        # Spark keeps watermarks in milliseconds, and moves them a micro-batch later.
        return (
            now.max_event_time != before
            and now.frontier == now.max_event_time // 1000 * 1000 - DELAY
        )

    wait_for(is_settled)
    return running.progress.frontier


def test_answers_stop_and_go_on_with_the_state_kept(spark, feed, tmp_path):
    out, checkpoint = str(tmp_path / "out"), str(tmp_path / "ck")
    loom = Loom(feed.stream(spark), time="ts", watermark="5 minutes")
    loom.add(FIVE)
    loom.add(RATIO)  # computed in SQL before the sink, unlike the others
    loom.add(PATIENT)
    feed.minutes(0, 5)
    running = loom.start(out, checkpoint=checkpoint, trigger="100 milliseconds")
    wait_for(lambda: running.progress.batch >= 0)
    held_from = settled(running, feed, 5, 32)
    running.pause("FIVE")
    running.pause("patient")
    assert pause_query(checkpoint, "ratio", timeout=120) == "running"
    with pytest.raises(EngineError, match="paused already"):
        running.pause("five")
    assert [query.paused for query in running.status().queries] == [True] * 3
    answered = running.status().query("five").answers
    held_to = settled(running, feed, 32, 61)
    assert held_to > held_from
    assert running.status().query("five").answers == answered
    running.resume("five")
    running.resume("patient")
    assert resume_query(checkpoint, "ratio", timeout=120) == "running"
    feed.minutes(61, 90)
    feed.end()
    wait_for(lambda: running.progress.frontier > FAR_AHEAD)
    end = running.progress.frontier
    wait_for(lambda: read_board(checkpoint)["status"]["watermark"] == end)
    running.stop()

    board = read_board(checkpoint)
    assert board["status"]["active"] is False
    assert board["sink"] == {"kind": "ParquetSink", "path": out}
    assert sum(one["rows"] for one in board["history"]) > 0
    assert [entry.paused for entry in stored(checkpoint).entries] == [None] * 3
    for query in (FIVE, RATIO, PATIENT):
        later = PATIENCE * MINUTE if query is PATIENT else 0
        expected = native(feed.batch(spark), AXIS, query).where(
            f"window.end <= timestamp_micros({end - later}) AND NOT (window.end > "
            f"timestamp_micros({held_from - later}) AND window.end <= "
            f"timestamp_micros({held_to - later}))"
        )
        got = rows(read_results(spark, out, query.name).collect())
        assert_same(query.name, got, rows(expected.collect()))


def test_a_query_of_a_stream_at_rest(spark, feed, tmp_path):
    out, checkpoint = str(tmp_path / "out"), str(tmp_path / "ck")
    loom = Loom(feed.stream(spark), time="ts", watermark="5 minutes")
    loom.add(FIVE)
    loom.add(RATIO)
    feed.minutes(0, 60)
    loom.start(out, checkpoint=checkpoint, trigger="available_now").await_termination()
    had = read_results(spark, out, "five").count()
    assert pause_query(checkpoint, "five") == "stored"
    feed.minutes(60, 120)
    other = Loom(feed.stream(spark), time="ts", watermark="5 minutes")
    other.start(out, checkpoint=checkpoint, trigger="available_now").await_termination()
    assert read_results(spark, out, "five").count() == had
    assert resume_query(checkpoint, "five") == "stored"
    with pytest.raises(EngineError, match="not paused"):
        resume_query(checkpoint, "five")
