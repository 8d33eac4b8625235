"""DuckDB, cells written by hand: rows to half-minute cells once, every query from the cells.

A bound, and not what users write: somebody has seen that every range and slide is a multiple of
half a minute, and that each aggregate can be put together from parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pyarrow as pa

from benchmarks.peers.engines.duckdb import loaded, sql, version
from benchmarks.peers.job import Job

__all__ = ["batch", "version"]
CELLS = (
    "CREATE OR REPLACE TABLE cells AS SELECT time_bucket(INTERVAL 30 SECOND, ts) AS cell, k, "
    "count(*) AS n, sum(v) AS total, max(v) AS hi FROM rows GROUP BY ALL"
)


@contextmanager
def batch(job: Job) -> Iterator[Callable[[], list[pa.Table]]]:
    """The cells are made anew each time."""
    with loaded(job) as connection:

        def run() -> list[pa.Table]:
            connection.execute(CELLS)
            parts = ("sum(n)", "sum(total)", "max(hi)")
            return [
                connection.sql(sql("cells", "cell", *window, parts)).to_arrow_table()
                for window in job.windows
            ]

        yield run
