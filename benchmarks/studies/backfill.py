"""A window of 30 days that comes late: by history, and by a stream that has run from the start.

Both answer the same query over the same 30 days of rows and one more. The stream from the start
reads one day per micro-batch. The other stream is already running, with another query; the late
query is added to it with the 30 days as history. The study reports the seconds until the late query
has its first answers, and compares these with Spark's.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.studies.churn import until
from benchmarks.studies.micro_batches import session
from benchmarks.support.harness import Claim, Row, Rows, check, noted
from weft.query.query import Query
from weft.query.window import Window

PICTURE = None
DAYS = 30
DAY, HOUR = 86_400_000_000, 3_600_000_000
START = 1_700_006_400_000_000  # midnight
SCHEMA = "ts timestamp, k int, x bigint"
AGGS = {"n": "count(*)", "total": "sum(x)", "hi": "max(x)"}
LATE = Query("month", aggs=AGGS, by=["k"], window=Window(range="30 days", slide="1 hour"))
OWN = Query("hour", aggs=AGGS, by=["k"], window=Window(range="1 hour"))


def run(full: bool) -> Rows:
    """The quick form has a twentieth of the rows and a tenth of the keys."""
    return noted(_rows(full))


def written(folder: Path, day: float, days: float, rows: int, keys: int) -> None:
    """Write a file with the rows of a span of time."""
    random = np.random.default_rng(int(day * 1000))
    at = START + np.sort(random.integers(int(day * DAY), int((day + days) * DAY), rows))
    table = pa.table(
        {
            "ts": pa.array(at, pa.timestamp("us", "UTC")),
            "k": pa.array(random.integers(0, keys, rows).astype(np.int32)),
            "x": pa.array(random.integers(0, 1_000, rows)),
        }
    )
    folder.mkdir(parents=True, exist_ok=True)
    number = len(list(folder.iterdir()))
    path = folder / f"{number:04d}.parquet"
    hidden = folder / f".{number}"
    pq.write_table(table, hidden)
    os.utime(hidden, (1_000_000 + number, 1_000_000 + number))
    hidden.rename(path)


def _rows(full: bool) -> Iterator[Row]:
    rows, keys = (10_000_000, 1_000) if full else (500_000, 100)
    spark = session()
    try:
        with tempfile.TemporaryDirectory(prefix="weft-bench-", ignore_cleanup_errors=True) as made:
            folder = Path(made)
            for day in range(DAYS):
                written(folder / "past", day, 1, rows // DAYS, keys)
            size = {"rows": rows, "keys": keys}
            yield {**size, **from_the_start(spark, folder, rows, keys)}
            yield {**size, **by_history(spark, folder, rows, keys)}
    finally:
        spark.stop()


def hour(folder: Path, number: int, rows: int, keys: int) -> None:
    """Write an hour of the day after the 30 days."""
    written(folder, DAYS + number / 24, 1 / 24, rows // DAYS // 24, keys)


def started(spark: Any, folder: Path, name: str, query: Query) -> Any:
    """Start a stream over the files of a folder, one per micro-batch."""
    from weft.spark.loom import Loom

    reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    loom = Loom(reader.parquet(str(folder / name)), time="ts", watermark="0 seconds")
    loom.add(query)
    return loom.start(
        str(folder / f"out-{name}"),
        checkpoint=str(folder / f"ck-{name}"),
        trigger="100 milliseconds",
    )


def from_the_start(spark: Any, folder: Path, rows: int, keys: int) -> Row:
    """Run a stream that reads the 30 days, and then the hours after them."""
    live = folder / "whole"
    live.mkdir()
    for path in sorted((folder / "past").iterdir()):
        os.link(path, live / path.name)
    began = time.perf_counter()
    running = started(spark, folder, "whole", LATE)
    try:
        _until_answered(running, live, rows, keys)
        return {
            "way": "stream from the start",
            "seconds": time.perf_counter() - began,
            "answers": _checked(spark, running, folder, live),
        }
    finally:
        running.stop()


def by_history(spark: Any, folder: Path, rows: int, keys: int) -> Row:
    """Add the query to a running stream, with the 30 days as its history."""
    live = folder / "late"
    hour(live, 0, rows, keys)  # the stream's own rows so far
    running = started(spark, folder, "late", OWN)
    try:
        until(lambda: running.progress.batch >= 0)
        # The history has every row before the seam: the past, and what the stream has seen.
        history = spark.read.schema(SCHEMA).parquet(
            str(folder / "past"), str(live / "0000.parquet")
        )
        began = time.perf_counter()
        running.add(LATE, history=history)
        added = time.perf_counter() - began
        _until_answered(running, live, rows, keys, first=1)
        return {
            "way": "history",
            "seconds": time.perf_counter() - began,
            "seconds until it was added": added,
            "answers": _checked(spark, running, folder, folder / "past", live),
        }
    finally:
        running.stop()


def _until_answered(running: Any, live: Path, rows: int, keys: int, first: int = 0) -> None:
    """Feed two hours, which close a window that ends in the first, and wait for its answer."""
    for number in (first, first + 1):
        hour(live, number, rows, keys)
    until(lambda: _closed(running) >= START + DAYS * DAY + HOUR, 900.0)


def _closed(running: Any) -> int:
    """The time up to which the stream has answered windows; fails if the stream has ended."""
    check(running.is_active, f"the stream has ended: {running.last_query.exception()}")
    return running.progress.frontier or 0


def _checked(spark: Any, running: Any, folder: Path, *places: Path) -> int:
    """Compare the late query's answers with Spark's; return how many there are.

    Spark computes them window by window, because its `window()` would copy each row 720 times.
    """
    from weft.sinks import read_results

    answers = read_results(spark, str(folder / f"out-{places[-1].name}"), "month")
    every = spark.read.schema(SCHEMA).parquet(*map(str, places))
    first, last = START + DAYS * DAY + HOUR, running.progress.frontier
    count = 0
    for end in range(first, last + 1, HOUR):
        inside = every.where(f"unix_micros(ts) >= {end - DAYS * DAY} AND unix_micros(ts) < {end}")
        aggs = (f"{sql} AS {name}" for name, sql in AGGS.items())
        inside.createOrReplaceTempView("inside")
        expected = spark.sql(f"SELECT k, {', '.join(aggs)} FROM inside GROUP BY k")
        found = answers.where(f"unix_micros(window.end) = {end}").select(expected.columns)
        wrong = expected.exceptAll(found).count() + found.exceptAll(expected).count()
        check(wrong == 0, f"window until {end}: {wrong} rows differ from Spark's")
        count += expected.count()
    check(count > 0, "no window of the day after was answered")
    return count


def claim(rows: Rows) -> Claim:
    """Seconds with history, compared with those of a stream from the start."""
    by = {row["way"]: row for row in rows}
    start, history = by["stream from the start"], by["history"]
    ratio = start["seconds"] / history["seconds"]
    return Claim(
        "none: sooner than a stream from the start",
        f"{history['seconds']:.1f} s by history, {start['seconds']:.1f} s from the start: "
        f"{ratio:.1f}x",
        ratio > 1,
    )
