"""When answers were delivered: by a mark beside committed files, or by the time of a line."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.peers.job import Job

_MARK = "_delivered"
_LINE = re.compile(r"^([\d.]+) .*\+I\[(.*)\]$")
GRACE = 5.0
"""Seconds after the end of the feed in which answers may still come."""


def mark(folder: Path) -> None:
    """Mark the files that are now in a folder as delivered at this moment."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _MARK).touch()


def marked(job: Job, read: Callable[[Path, pa.Table], pa.Table]) -> pa.Table:
    """The answers in files, with `at`, their time of delivery in seconds since the epoch."""
    found = []
    for marker in sorted(job.out.rglob(_MARK)):
        at = marker.stat().st_mtime
        for file in sorted(marker.parent.glob("*.parquet")):
            table = read(marker.parent, pq.ParquetFile(file).read())
            found.append(table.append_column("at", pa.array([at] * table.num_rows, pa.float64())))
    return pa.concat_tables(found)


def printed(job: Job) -> pa.Table:
    """The answers in lines, as Flink prints rows, with window starts in milliseconds."""
    return pa.Table.from_pylist(list(_rows(job)))


def _rows(job: Job) -> Iterator[dict[str, float]]:
    with job.said.open() as file:
        for line in file:
            if match := _LINE.match(line):
                q, start, k, n, total, hi, mean = match[2].split(",")
                yield {"q": int(q), "start": int(start) * 1000, "k": int(k), "n": int(n),
                       "total": int(total), "hi": int(hi), "mean": float(mean),
                       "at": float(match[1])}  # fmt: skip


def wait_for_feed(job: Job, check: Callable[[], object]) -> None:
    """Wait until the feed has ended, and a little longer; `check` raises if the engine failed."""
    while not job.fed.exists():
        check()
        time.sleep(0.2)
    time.sleep(GRACE)
