"""DuckDB, query by query: UNNEST copies each row to the starts of its windows, then GROUP BY."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from benchmarks.peers.job import Job


def version() -> str:
    """The installed version."""
    import duckdb

    return duckdb.__version__


@contextmanager
def batch(job: Job) -> Iterator[Callable[[], list[pa.Table]]]:
    """Query a table in DuckDB's own memory."""
    with loaded(job) as connection:

        def run() -> list[pa.Table]:
            found = []
            for window in job.windows:
                found.append(connection.sql(sql(*window)).to_arrow_table())
                job.note_done(len(found))
            return found

        yield run


@contextmanager
def loaded(job: Job) -> Iterator[Any]:
    """A connection with the rows in a table; times have no zone, which DuckDB handles best."""
    import duckdb

    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE rows AS SELECT make_timestamp(epoch_us(ts)) AS ts, k, v "
        f"FROM read_parquet('{job.whole}')"
    )
    try:
        yield connection
    finally:
        connection.close()


def sql(range_: int, slide: int) -> str:
    """A query; a row is in the windows that start at its own slide and at some earlier ones."""
    bucket = f"time_bucket(INTERVAL {slide} SECOND, ts, TIMESTAMP '1970-01-01')"
    return (
        "SELECT epoch_us(start) AS start, k, count(*) AS n, sum(v)::BIGINT AS total, max(v) AS hi, "
        f"avg(v) AS mean FROM (SELECT *, unnest(generate_series({bucket} - INTERVAL "
        f"{range_ - slide} SECOND, {bucket}, INTERVAL {slide} SECOND)) AS start FROM rows) "
        "GROUP BY start, k"
    )
