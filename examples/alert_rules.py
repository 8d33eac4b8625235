"""Hundreds of alert rules: 200 thresholds on one stream of metrics, for little more work than one.

    python examples/alert_rules.py

Every rule says "more than N readings above a threshold in five minutes". Run separately, each rule
would read the whole stream. Together, their thresholds divide the values into intervals: a row
falls into one of them (its fragment) and is counted there once, and a rule's answer is the sum of
the fragments above its threshold. So the work grows with the intervals that occur, not with the
number of rules.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

import weft
from weft.spark.session import local_session


def metrics(rows: int, hosts: int = 20, seed: int = 0) -> pa.Table:
    """Latencies of some hosts over half an hour; a few hosts are slow for five minutes."""
    random = np.random.default_rng(seed)
    start = 1_767_600_000_000_000  # 2026-01-05 08:00 UTC, in microseconds
    offset = random.integers(0, 30 * 60_000_000, rows)
    host = random.integers(0, hosts, rows)
    bad = (host % 7 == 3) & (offset // 300_000_000 == host % 6)
    return pa.table(
        {
            "ts": pa.array(start + offset, pa.timestamp("us", "UTC")),
            "host": [f"h{number:02d}" for number in host],
            "latency": np.round(random.gamma(2.0, 40.0, rows) * np.where(bad, 4.0, 1.0)),
        }
    )


def rules(count: int = 200) -> list[weft.Query]:
    """Rules with thresholds from 100 ms up; every fifth rule requires more readings."""
    return [
        weft.Query(
            f"rule_{number:03d}",
            aggs={"n": "count(*)", "worst": "max(latency)"},
            window=weft.Window(range="5 minutes", slide="1 minute"),
            where=f"latency > {100 + 4 * number}",
            having=f"count(*) >= {20 if number % 5 == 0 else 5}",
            by=["host"],
        )
        for number in range(count)
    ]


def build(spark: SparkSession, rows: int = 50_000, count: int = 200) -> weft.Loom:
    """The loom with the rules."""
    loom = weft.Loom(spark.createDataFrame(metrics(rows)).cache(), time="ts")
    for rule in rules(count):
        loom.add(rule)
    return loom


def main(spark: SparkSession, rows: int = 50_000, count: int = 200) -> DataFrame:
    """Every alert that fired, as a table: rule, window, host, number of readings, worst reading."""
    loom = build(spark, rows, count)
    found = loom.measured().statistics.fragments
    print(f"{count} rules cut the rows into {found:.0f} fragments")
    print(loom.explain().splitlines()[0])
    alerts = loom.run().all()
    alerts.orderBy("window", "host", "query").show(5, truncate=False)
    return alerts


if __name__ == "__main__":
    main(local_session())
