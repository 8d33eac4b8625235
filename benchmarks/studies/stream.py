"""Streaming: micro-batches of many shared queries against native ones, and windows of a day.

The windows of a day are in `long_windows`; how streams are run and timed, in `micro_batches`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.studies import long_windows
from benchmarks.studies.micro_batches import (
    SCHEMA,
    SECOND,
    SPAN,
    START,
    native_run,
    session,
    weft_run,
    write_batch,
)
from benchmarks.support.harness import Claim, Row, Rows, check, noted, pick
from weft.query.query import Query
from weft.query.window import Window

PICTURE = None
NATIVE, EMPTY, SLIDING = 2.0, 1.5, 10.0
"""Our targets: the time of 256 shared queries relative to one native tumbling query; the seconds of
a micro-batch without input; the time of 16 native sliding queries relative to 256 shared ones."""
AGGS = {"n": "count(*)", "total": "sum(x)", "hi": "max(x)"}


def run(full: bool) -> Rows:
    """The quick form has smaller micro-batches and leaves out the sixteen native queries."""
    return noted(_rows(full))


def _rows(full: bool) -> Iterator[Row]:
    with _scratch() as folder:
        yield from _streams(Path(folder), full)
    yield from long_windows.one_bucket(full)
    if full:
        with _scratch() as folder:
            yield from long_windows.through_spark(Path(folder))


def _scratch() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="weft-bench-", ignore_cleanup_errors=True)


def workload(count: int, seed: int = 0) -> list[Query]:
    """Ranges to an hour, slides from one to ten minutes, by key.

    >>> [q.name for q in workload(2)], all(q.window.range <= 3600 * SECOND for q in workload(99))
    (['q0', 'q1'], True)
    """
    draw = np.random.default_rng(seed)
    queries = []
    for number in range(count):
        slide = int(draw.integers(1, 11))
        range_ = slide * int(draw.integers(1, 60 // slide + 1))
        window = Window(range=f"{range_} minutes", slide=f"{slide} minutes")
        queries.append(Query(f"q{number}", aggs=AGGS, window=window, by=["k"]))
    return queries


def _streams(folder: Path, full: bool) -> Iterator[Row]:
    rows, batches = (1_000_000, 10) if full else (200_000, 4)
    write_feed(folder / "in", batches, rows)
    spark = session()
    tumbling = [Query("t", aggs=AGGS, window=Window(range="1 minute"), by=["k"])]
    one_native, _ = native_run(spark, folder, tumbling, "native")
    yield {"what": "one native tumbling", "queries": 1, "seconds_per_batch": one_native}
    for count in (1, 16, 64, 256) if full else (1, 16, 256):
        queries = workload(count)
        seconds, empty, status = weft_run(spark, folder, queries, f"weft-{count}")
        check_answers(spark, folder, queries[: 4 if full else 2], f"weft-{count}")
        yield {
            "what": "weft",
            "queries": count,
            "seconds_per_batch": seconds,
            "x_native": seconds / one_native,
            "empty_batch_seconds": empty,
            "state_bytes": status.state_bytes,
            "slices": status.slices,
        }
    if full:
        sliding, _ = native_run(spark, folder, workload(16), "sliding")
        yield {"what": "16 native sliding", "queries": 16, "seconds_per_batch": sliding}


def claim(rows: Rows) -> Claim:
    """Which of our own targets are met."""
    weft = {row["queries"]: row for row in pick(rows, what="weft")}
    ratio = weft[256]["x_native"]
    empty = max(row["empty_batch_seconds"] for row in weft.values())
    said = [
        f"256 shared queries cost {ratio:.2f}x of one native tumbling query per micro-batch "
        f"(target: at most {NATIVE:g}x)",
        f"a micro-batch with no input took {empty:.2f} s at most (target: {EMPTY:g} s)",
    ]
    reached = [ratio <= NATIVE, empty <= EMPTY]
    for row in pick(rows, what="16 native sliding"):
        sliding, shared = row["seconds_per_batch"], weft[256]["seconds_per_batch"]
        said.append(
            f"16 native sliding queries cost {sliding / shared:.1f}x of 256 shared ones and "
            f"{sliding / weft[16]['seconds_per_batch']:.1f}x of the same 16 shared (target: "
            f"{SLIDING:g}x)"
        )
        reached.append(sliding / shared >= SLIDING)
    return Claim(
        paper="none (our targets)",
        ours=f"a micro-batch of 256 shared queries: {weft[256]['seconds_per_batch']:.2f} s, "
        f"{ratio:.2f}x one native tumbling query",
        holds=all(reached),
        also=(*said, *long_windows.told(rows)),
    )


def write_feed(folder: Path, batches: int, rows: int, keys: int = 100, span: int = SPAN) -> None:
    """Write micro-batches of rows in order of time, spread over the keys."""
    draw = np.random.default_rng(0)
    folder.mkdir(parents=True)
    for number in range(batches):
        times = np.sort(START + number * span + draw.integers(0, span, rows))
        table = pa.table(
            {
                "ts": pa.array(times, pa.timestamp("us", "UTC")),
                "k": pa.array(draw.integers(0, keys, rows), pa.int32()),
                "x": pa.array(draw.normal(0.0, 1.0, rows)),
            }
        )
        write_batch(folder, number, table)


def check_answers(spark: Any, folder: Path, queries: list[Query], name: str) -> None:
    """Check that some queries' closed windows have the same answers as the batch query."""
    from weft.plan.time_axis import TimeAxis

    rows = spark.read.schema(SCHEMA).parquet(str(folder / "in"))
    closed = closed_by(rows)
    answers = spark.read.parquet(str(folder / name))
    for query in queries:
        found = answers.where(f"query = '{query.name}'")
        wrong = differing(rows, found, query, TimeAxis("ts"), closed)
        check(wrong is None, f"{name}: {wrong}")


def closed_by(rows: Any) -> int:
    """The watermark, in microseconds, after all rows."""
    latest = rows.selectExpr("unix_micros(max(ts))").first()[0]
    return int((latest - 10 * SECOND) // 1000 * 1000)


def differing(rows: Any, found: Any, query: Query, axis: Any, closed: int | None) -> str | None:
    """How answers differ from the plain query's (of windows that end by `closed`), if they do."""
    from weft.spark.verify.native import native

    expected = native(rows, axis, query)
    if closed is not None:
        expected = expected.where(f"window.end <= timestamp_micros({closed})")
    columns = ["window.start", "k", "n", "round(total, 6)", "hi"]
    right, given = expected.selectExpr(*columns), found.selectExpr(*columns)
    missing, extra = right.exceptAll(given).count(), given.exceptAll(right).count()
    if not missing and not extra and given.count() > 0:
        return None
    return f"{query.name}: {missing} rows missing, {extra} too many"
