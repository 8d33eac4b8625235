"""As-of reads beside a running stream: how long they take, and what they take from the stream.

A stream of large micro-batches runs as fast as it can. Meanwhile a reader asks for the open window
of a query ten times a second: one key, all keys, one key with `max_age` of 5 s. The first read of a
micro-batch runs a Spark job on the same cores; later reads use its cached result. The study reports
the seconds of a read, and the stream's rows per second with and without a reader. Some answers are
compared with Spark's own over the rows up to the micro-batch that they name.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from benchmarks.studies.churn import ADVANCE, START, Timed, same_rows, source, until
from benchmarks.studies.micro_batches import session
from benchmarks.support.harness import Claim, Row, Rows, check, noted
from weft.query.query import Query
from weft.query.window import Window

PICTURE = None
LOSS = 0.10
"""Our target: the fraction of the rows per second that readers may cost."""
EVERY = 0.1
"""Seconds between two reads."""
AGGS = {"n": "count(*)", "total": "sum(x)", "hi": "max(x)"}
NOBODY = "nobody"
READERS: Mapping[str, tuple[dict[str, Any], str | None]] = {
    "one key": ({"k": 7}, None),
    "all keys": ({}, None),
    "one key, of 5 s ago": ({"k": 7}, "5 seconds"),
}
"""The keys of each kind of read, and how old its answer may be."""


def run(full: bool) -> Rows:
    """The quick form has a tenth of the rows and shorter phases."""
    return noted(_rows(full))


def queries() -> list[Query]:
    """Sixteen windows that slide by minutes; the reader asks for the first."""
    return [
        Query(
            f"q{n}", aggs=AGGS, by=["k"], window=Window(range=f"{5 + n} minutes", slide="1 minute")
        )
        for n in range(16)
    ]


def _rows(full: bool) -> Iterator[Row]:
    from weft.spark.loom import Loom

    rows, seconds = (1_000_000, 45) if full else (100_000, 15)
    spark = session()
    with tempfile.TemporaryDirectory(prefix="weft-bench-", ignore_cleanup_errors=True) as folder:
        loom = Loom(source(spark, rows), time="ts", watermark="0 seconds")
        for query in queries():
            loom.add(query)
        sink = Timed(f"{folder}/out")
        running = loom.start(sink, checkpoint=f"{folder}/ck", rate=rows / 60)
        try:
            until(lambda: running.progress.batch >= 5)
            running.answer("q0")  # the first read of a stream compiles
            yield from _in_turns(running, sink, spark, rows, seconds)
        finally:
            running.stop()
            spark.stop()


def _in_turns(running: Any, sink: Timed, spark: Any, rows: int, seconds: int) -> Iterator[Row]:
    """Each kind of reader between two phases without one, because the stream's own pace changes."""
    before, _ = _phase(running, sink, None, seconds)
    yield {"rows": rows, "reads": NOBODY, **before}
    for who, reader in READERS.items():
        row, answers = _phase(running, sink, reader, seconds)
        for found in answers:
            _check(spark, running, found, rows, reader[0])
        after, _ = _phase(running, sink, None, seconds)
        alone = (before["micro-batches per s"] + after["micro-batches per s"]) / 2
        row["of rows per s without"] = row["micro-batches per s"] / alone
        yield {"rows": rows, "reads": who, **row}
        yield {"rows": rows, "reads": NOBODY, **after}
        before = after


def _phase(running: Any, sink: Timed, reader: Any, seconds: int) -> tuple[Row, list[Any]]:
    """Run a reader for some seconds; return its measurements and its first and last answer."""
    first, began = max(sink.began), time.time()
    took: list[tuple[float, bool]] = []
    answers: list[Any] = []
    while time.time() < began + seconds:
        at = time.perf_counter()
        if reader is not None:
            keys, max_age = reader
            found = running.answer("q0", keys=keys, max_age=max_age)
            is_new = not answers or found.batch != answers[-1].batch
            took.append((time.perf_counter() - at, is_new))
            answers = [*answers[:1], found]
        time.sleep(max(0.0, EVERY - (time.perf_counter() - at)))
    at = sorted(when for batch, when in sink.began.items() if batch > first)
    check(len(at) > 2, f"{len(at)} micro-batches in {seconds} s: too few to tell")

    def quantile(among: list[float], q: float) -> float:
        return float(np.quantile(among, q)) if among else 0.0

    every = [one for one, _ in took]
    fresh = [one for one, is_new in took if is_new]
    return {
        "reads in all": len(took),
        "p50 s": quantile(every, 0.5),
        "p99 s": quantile(every, 0.99),
        "p50 s of first reads": quantile(fresh, 0.5),
        "micro-batches per s": (len(at) - 1) / (at[-1] - at[0]),
    }, answers


def _check(spark: Any, running: Any, found: Any, rows: int, keys: Mapping[str, Any]) -> None:
    """Compare an answer with Spark's own over the rows of its window up to its micro-batch."""
    from weft.spark.verify.native import native

    start, end = found.window
    first = max(0, (start // 1000 - START) // ADVANCE)
    batch = same_rows(spark, rows, first, found.batch + 1)
    expected = native(batch, running.axis, queries()[0])
    expected = expected.where(f"unix_micros(window.start) = {start}")
    for name, value in keys.items():
        expected = expected.where(f"{name} = {value}")
    mine = sorted(tuple(row[name] for name in ("k", *AGGS)) for row in found.table.to_pylist())
    theirs = sorted(tuple(row[name] for name in ("k", *AGGS)) for row in expected.collect())
    said = f"[{start}, {end}) as of micro-batch {found.batch}"
    check(mine == theirs and len(mine) > 0, f"{said}: {mine[:3]}, expected {theirs[:3]}")


def claim(rows: Rows) -> Claim:
    """The cost of reading one key and of reading all keys, compared with no reader."""
    by = {row["reads"]: row for row in rows if row["reads"] != NOBODY}
    worst = min(float(row["of rows per s without"]) for row in by.values())
    return Claim(
        f"none: at most {LOSS:.0%} of the rows per s lost to a reader of {1 / EVERY:g} times a s",
        "; ".join(
            f"{who}: p50 {row['p50 s'] * 1e3:,.0f} ms, p99 {row['p99 s'] * 1e3:,.0f} ms, "
            f"{1 - row['of rows per s without']:.0%} of the rows per s lost"
            for who, row in by.items()
        ),
        worst >= 1 - LOSS,
        also=tuple(
            f"{who}: the first read of a micro-batch {row['p50 s of first reads']:.2f} s (median)"
            for who, row in by.items()
        ),
    )
