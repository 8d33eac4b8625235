"""Trades and queries for the tests of commands on jobs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

START = 1_700_000_000 * 1_000_000
MINUTE = 60_000_000
SQL = """
-- name: hourly_hi
SELECT window, symbol, max(price) AS hi FROM trades
GROUP BY window(ts, '1 hour', '10 minutes'), symbol;
-- name: volume
SELECT sum(volume) AS v, count(*) AS n, upper(symbol) AS s, window.start AS since, 1 AS version
FROM trades WHERE volume > 500
GROUP BY window(ts, '12 minutes', '5 minutes'), symbol;
SELECT window(ts, '10 minutes') AS w, avg(price) AS p FROM trades GROUP BY 1;
"""
SCHEMA = "ts TIMESTAMP, symbol STRING, price DOUBLE, volume BIGINT"


def write_trades(path: Path, first: int = 0, last: int = 120, rows: int = 500) -> None:
    """Write trades between two minutes to one Parquet file."""
    random = np.random.default_rng(first)
    times = START + np.sort(random.integers(first * MINUTE, last * MINUTE, rows))
    columns = {
        "ts": pa.array(times, pa.timestamp("us", "UTC")),
        "symbol": [f"s{i}" for i in random.integers(0, 3, rows)],
        "price": random.normal(100, 5, rows),
        "volume": random.integers(1, 1000, rows),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    hidden = path.with_name(f".{path.name}")  # a stream must not see half of it
    pq.write_table(pa.table(columns), hidden)
    hidden.rename(path)
