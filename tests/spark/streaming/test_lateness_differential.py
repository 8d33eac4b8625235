"""Queries with different lateness on one stream equal native ones with that much more delay."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from pathlib import Path

import pytest
from same import AXIS, assert_same, rows, start_native

import weft
from conftest import MINUTE, Feed
from weft.query.query import Query
from weft.query.window import Window
from weft.sinks import ForeachBatchSink
from weft.spark.streaming.starting import start

DELAY = 5
AGGS = {"n": "count(*)", "s": "sum(x)", "hi": "max(y)"}
SLIDING = Window(range="12 minutes", slide="4 minutes")
QUERIES = [
    Query("punctual", aggs=AGGS, window=SLIDING, by="k"),
    Query("patient", aggs=AGGS, window=SLIDING, by="k", lateness="10 minutes"),
    Query("filtered", aggs=AGGS, window=SLIDING, by="k", where="g > 0", lateness="10 minutes"),
    Query("last", aggs={"n": "count(*)"}, window=Window(range="20 minutes"), lateness="40 minutes"),
    Query("first", aggs={"n": "count(*)"}, window=Window(range="6 minutes"), where="g > 0"),
    Query(
        "days",
        aggs=AGGS,
        window=weft.Calendar(range="1 day", zone="Etc/GMT-1"),
        by="k",
        lateness="10 minutes",
    ),
]
FIXED = {"days": Window(range="1 day", offset="23 hours")}
"""The fixed windows that equal calendar windows in a zone without summer time."""
FILES = [(0, 10, 0), (8, 20, 12), (20, 24, 30), (24, 40, 60), (60, 63, 20), (63, 70, 80)]


def delay_of(query: Query) -> str:
    return f"{DELAY + query.lateness // MINUTE} minutes"


def put(feed: Feed, files: list[tuple[int, int, int]]) -> None:
    for first, last, late in files:
        feed.minutes(first, last, late=late)


class Both:
    """The stream and the native queries, over the same files."""

    def __init__(self, spark: object, feed: Feed, folder: Path, mode: str, **more: str) -> None:
        self.spark, self.feed, self.folder, self.mode, self.more = spark, feed, folder, mode, more
        self.found: dict[str, list] = {query.name: [] for query in QUERIES}
        self.expected: dict[str, list] = {query.name: [] for query in QUERIES}
        self.dropped: Counter[str] = Counter()
        self.files = 0

    def run(self) -> None:
        """Run all from where they stopped to the last file."""
        found: dict[str, list] = {query.name: [] for query in QUERIES}
        sink = ForeachBatchSink(
            lambda name, batch, number: found[name].extend(
                (number, *row) for row in batch.collect()
            )
        )
        running = start(
            self.feed.stream(self.spark),
            AXIS,
            sink,
            checkpoint=str(self.folder / "ck"),
            watermark=f"{DELAY} minutes",
            queries=QUERIES,
            trigger="available_now",
            output_mode=self.mode,
            **self.more,
        )
        running.await_termination()
        self.status = running.status()
        for name, some in found.items():
            self.found[name] += self.by_file(running.last_query, some)
        for query in QUERIES:
            native, rows_there = start_native(
                self.feed.stream(self.spark),
                query.over(FIXED.get(query.name, query.window)),
                self.folder / query.name,
                delay_of(query),
                self.mode,
                numbered=True,
            )
            native.awaitTermination()
            self.expected[query.name] += self.by_file(native, rows_there)
            self.dropped[query.name] += sum(
                operator["numRowsDroppedByWatermark"]
                for progress in native.recentProgress
                for operator in progress["stateOperators"]
            )

        self.files = self.feed.count

    def by_file(self, streaming: object, some: list) -> list:
        """Rows by the number of files read so far, because empty micro-batches have numbers too."""
        progress = [p for p in streaming.recentProgress if p["numInputRows"]]
        read = sorted({p["batchId"] for p in progress})
        assert self.files + len(read) == self.feed.count
        return [(self.files + bisect_right(read, at), at in read, *row) for at, *row in some]

    def check(self) -> None:
        for name, expected in self.expected.items():
            assert_same(name, rows(self.found[name]), rows(expected))


@pytest.mark.parametrize("finals", ["auto", "two_stacks"])
def test_each_is_answered_in_the_micro_batch_in_which_its_own_stream_would(
    spark: object, feed: Feed, tmp_path: Path, finals: str
) -> None:
    both = Both(spark, feed, tmp_path, "append", finals=finals)
    put(feed, FILES[:4])
    both.run()
    both.check()
    put(feed, FILES[4:])
    feed.end()
    both.run()
    both.check()
    assert min(map(len, both.expected.values())) > 3
    late = {query.name: both.status.query(query.name).late_rows for query in QUERIES}
    assert late["punctual"] > late["patient"] > 0
    for name in ("last", "first"):  # tumbling windows, as Spark counts a late row once per window
        assert (late[name] > 0) == (both.dropped[name] > 0), name
    assert both.status.query("patient").lateness == 10 * MINUTE


def test_update_mode_takes_late_rows_as_long_as_each_query_does(
    spark: object, feed: Feed, tmp_path: Path
) -> None:
    both = Both(spark, feed, tmp_path, "update")
    put(feed, FILES[:3])
    both.run()
    put(feed, FILES[3:])
    both.run()
    both.check()
