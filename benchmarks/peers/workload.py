"""The rows and the windows that every engine gets."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.studies.micro_batches import write_batch

KEYS = 100
CELL = 30
"""Seconds; every range and slide is a multiple of this."""
SPAN = 90 * 60
"""Seconds of event time."""
START = 1_700_000_000 // 3600 * 3600
COUNTS = (1, 16, 256)
"""Numbers of queries; each workload begins with the next smaller one."""


def windows(count: int) -> tuple[tuple[int, int], ...]:
    """Different ranges of 5 to 60 minutes and slides of half a minute to 5 minutes, in seconds.

    >>> windows(2), len(set(windows(256))), windows(256)[:16] == windows(16)
    (((1350, 270), (1890, 90)), 256, True)
    >>> all(300 <= r <= 3600 and r % s == 0 and s % CELL == 0 for r, s in windows(256))
    True
    """
    draw = np.random.default_rng(20)
    found: dict[tuple[int, int], None] = {}
    while len(found) < count:
        slide = CELL * int(draw.integers(1, 11))
        least, most = -(-300 // slide), 3600 // slide
        found[slide * int(draw.integers(least, most + 1)), slide] = None
    return tuple(found)


def rows(count: int, seconds: int = SPAN) -> pa.Table:
    """Rows in order of time, evenly spread, in milliseconds (Flink accepts nothing finer).

    The sums of their values are exact.
    """
    draw = np.random.default_rng(0)
    milliseconds = START * 1000 + np.arange(count, dtype=np.int64) * (seconds * 1000) // count
    return pa.table(
        {
            "ts": pa.array(milliseconds * 1000, pa.timestamp("us", "UTC")),
            "k": pa.array(draw.integers(0, KEYS, count).astype(np.int32)),
            "v": pa.array(draw.integers(0, 1_000, count)),
        }
    )


def write_rows(folder: Path, table: pa.Table, batches: int) -> None:
    """Write the rows twice: as one file, and as one file for each micro-batch."""
    for name in ("whole", "batches"):
        (folder / name).mkdir(parents=True)
    # gzip keeps files small: Flink splits larger ones, and does not promise the order of splits.
    pq.write_table(table, folder / "whole" / "rows.parquet", compression="gzip")
    size = -(-table.num_rows // batches)
    for number in range(batches):
        write_batch(folder / "batches", number, table.slice(number * size, size))
