"""Sessions of 64 gaps on one stream, beside Spark's own session_window for one of them.

Every key has bursts of rows with pauses of all lengths between them, so that every gap gives other
sessions. The study compares steady micro-batches, and the answers of some gaps with Spark's own.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.studies.micro_batches import (
    SECOND,
    START,
    native_run,
    session,
    weft_run,
    write_batch,
)
from benchmarks.support.harness import Claim, Rows, check, noted
from weft.query.query import Query
from weft.query.window import Session

PICTURE = None
TARGET = 3.0
"""Target: 64 gaps take at most this many times one native query's steady micro-batch."""
GAPS = 64
STEP = 5
"""Seconds between neighbouring gaps."""
SPAN = 600 * SECOND
"""Event time in a micro-batch."""


def asked(gap: int) -> Query:
    """A query for the sessions of one gap, given in steps."""
    return Query(
        f"gap{gap}",
        aggs={"n": "count(*)", "total": "sum(x)", "hi": "max(x)"},
        window=Session(gap=f"{gap * STEP} seconds"),
        by=["k"],
    )


def run(full: bool) -> Rows:
    """The quick form has a tenth of the rows and fewer micro-batches."""
    return noted(_rows(full))


def feed(folder: Path, rows: int, keys: int, batches: int) -> None:
    """Write the files of the micro-batches; the last one closes every session."""
    random = np.random.default_rng(0)
    (folder / "in").mkdir(parents=True)
    each = rows // keys
    for number in range(batches):
        # The mean of the pauses differs from key to key, up to about the largest gap.
        scale = np.linspace(0.02, 1.0, keys)[:, None] * STEP * GAPS * SECOND
        pauses = random.exponential(scale, (keys, each)) * (random.random((keys, each)) < 0.1)
        times = np.cumsum(pauses + random.exponential(0.05 * SECOND, (keys, each)), axis=1)
        at = (START + number * SPAN + times % SPAN).astype(np.int64)
        key = np.repeat(np.arange(keys, dtype=np.int32), each)
        order = np.argsort(at, axis=None, kind="stable")
        table = pa.table(
            {
                "ts": pa.array(at.ravel()[order], pa.timestamp("us", "UTC")),
                "k": key[order],
                "x": pa.array(random.integers(0, 1000, rows).astype(np.float64)),
            }
        )
        write_batch(folder / "in", number, table)
    last = {
        "ts": pa.array([end_of(batches)] * 2, pa.timestamp("us", "UTC")),
        "k": pa.array([0, 0], pa.int32()),
    }
    write_batch(folder / "in", batches, pa.table({**last, "x": [0.0, 0.0]}))


def end_of(batches: int) -> int:
    """The time of the row that closes every earlier session."""
    return START + batches * SPAN + 3600 * SECOND


def _rows(full: bool) -> Any:
    rows, keys, batches = (1_000_000, 1_000, 8) if full else (100_000, 1_000, 5)
    spark = session()
    try:
        with tempfile.TemporaryDirectory(prefix="weft-bench-", ignore_cleanup_errors=True) as made:
            folder = Path(made)
            feed(folder, rows, keys, batches)
            one, _ = native_run(spark, folder, [asked(12)], "native")
            told = {"rows": rows, "keys": keys}
            yield {**told, "what": "native, one gap", "gaps": 1, "s": one, "of one": 1.0}
            for gaps in (1, 8, GAPS):
                queries = [asked(1 + number * GAPS // gaps) for number in range(gaps)]
                seconds, _, status = weft_run(spark, folder, queries, f"weft{gaps}")
                _check(spark, folder, queries, f"weft{gaps}", end_of(batches))
                yield {
                    **told,
                    "what": "weft",
                    "gaps": gaps,
                    "s": seconds,
                    "of one": seconds / one,
                    "state bytes": status.state_bytes,
                }
    finally:
        spark.stop()


def _check(spark: Any, folder: Path, queries: list[Query], name: str, end: int) -> None:
    """Compare the sessions of the smallest and the largest gap with Spark's own over all rows."""
    from weft.plan.time_axis import TimeAxis
    from weft.spark.verify.native import native

    batch = spark.read.parquet(str(folder / "in"))
    found = spark.read.parquet(str(folder / name))
    for query in (queries[0], queries[-1]):
        shown = ["window.start", "window.end", "k", "n", "total", "hi"]
        wanted = native(batch, TimeAxis("ts"), query)
        theirs = wanted.where(f"unix_micros(window.start) < {end}").selectExpr(*shown)
        mine = found.where(f"query = '{query.name}'").selectExpr(*shown)
        wrong = mine.exceptAll(theirs).count() + theirs.exceptAll(mine).count()
        check(wrong == 0, f"{name}, {query.name}: {wrong} sessions differ from Spark's")


def claim(rows: Rows) -> Claim:
    """The steady micro-batch of all gaps, compared with that of one native query."""
    most = next(row for row in rows if row["gaps"] == GAPS)
    return Claim(
        f"none: sessions of {GAPS} gaps at most {TARGET:g}x of one native query",
        f"{most['of one']:.2f}x of one native session query",
        most["of one"] <= TARGET,
        also=tuple(
            f"{row['what']}, {row['gaps']} gaps: {row['s']:.2f} s, {row['of one']:.2f}x"
            for row in rows
        ),
    )
