"""Polars, query by query: group_by_dynamic on a frame sorted by time.

The offset adds the windows that begin before the first row, which Polars would leave out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pyarrow as pa

from benchmarks.peers.job import Job


def version() -> str:
    """The installed version."""
    import polars

    return polars.__version__


@contextmanager
def batch(job: Job) -> Iterator[Callable[[], list[pa.Table]]]:
    """Query a frame in memory."""
    import polars as pl

    frame = pl.read_parquet(job.whole).with_columns(pl.col("ts").dt.replace_time_zone(None))
    frame = frame.sort("ts")

    def query(range_: int, slide: int) -> pa.Table:
        found = frame.group_by_dynamic(
            "ts", every=f"{slide}s", period=f"{range_}s", offset=f"-{range_ - slide}s",
            closed="left", group_by="k",
        ).agg(
            pl.len().cast(pl.Int64).alias("n"),
            pl.col("v").sum().alias("total"),
            pl.col("v").max().alias("hi"),
            pl.col("v").mean().alias("mean"),
        )  # fmt: skip
        start = pl.col("ts").dt.timestamp("us").alias("start")
        return found.select(start, "k", "n", "total", "hi", "mean").to_arrow()

    def run() -> list[pa.Table]:
        found = []
        for window in job.windows:
            found.append(query(*window))
            job.note_done(len(found))
        return found

    yield run
