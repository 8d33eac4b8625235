"""DuckDB with slices by hand: rows become half-minute cells once, and queries read the cells.

This is a bound, not what users write. It takes somebody to notice that every range and slide is a
multiple of half a minute, that each aggregate can be combined from parts, and that a window over
cells is then a frame of a window function, which DuckDB answers from a segment tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pyarrow as pa

from benchmarks.peers.engines.duckdb import loaded, version
from benchmarks.peers.job import Job

__all__ = ["batch", "version"]
CELL = 30
CELLS = f"""
CREATE OR REPLACE TABLE cells AS
WITH found AS (
    SELECT epoch_ms(ts) // {CELL * 1000} AS cell, k, count(*) AS n, sum(v) AS total, max(v) AS hi
    FROM rows GROUP BY ALL
), grid AS (
    -- Without gaps, so that a frame is a number of cells, and from before the first row on:
    -- there are windows that begin before it.
    SELECT unnest(range(min(cell) - 3600 // {CELL} + 1, max(cell) + 1)) AS cell FROM found
)
SELECT cell, k, coalesce(n, 0) AS n, coalesce(total, 0)::BIGINT AS total, hi
FROM grid CROSS JOIN (SELECT DISTINCT k FROM found) LEFT JOIN found USING (cell, k)
ORDER BY k, cell
"""


@contextmanager
def batch(job: Job) -> Iterator[Callable[[], list[pa.Table]]]:
    """Query the rows in memory; the cells are computed again in each run."""
    with loaded(job) as connection:

        def run() -> list[pa.Table]:
            connection.execute(CELLS)
            return [connection.sql(sql(*window)).to_arrow_table() for window in job.windows]

        yield run


def sql(range_: int, slide: int) -> str:
    """A query over the cells: one frame per cell, kept only for cells that begin a window."""
    return (
        f"SELECT cell * {CELL * 1_000_000} AS start, k, n, total, hi, total / n AS mean FROM ("
        "SELECT cell, k, sum(n) OVER w AS n, sum(total) OVER w AS total, max(hi) OVER w AS hi "
        "FROM cells WINDOW w AS (PARTITION BY k ORDER BY cell "
        f"ROWS BETWEEN CURRENT ROW AND {range_ // CELL - 1} FOLLOWING)) "
        f"WHERE cell % {slide // CELL} = 0 AND n > 0"
    )
