"""Stock monitoring: hundreds of alert rules on one stream of trades (SIGMOD'06, Query 4).

    python examples/stock_monitoring.py

Trades are joined with yesterday's closing prices and with index membership; every rule asks for
the total value of the trades that meet its condition, in its own sliding window. The join is an
ordinary DataFrame, and the loom takes it as it is.
"""

from __future__ import annotations

import argparse

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import weft
from weft.bench.trades import market, workload
from weft.spark.session import local_session


def trades(spark: SparkSession, rows: int) -> DataFrame:
    """The stream of trades joined with the two tables."""
    made = market(rows)
    stream, close, index = (
        spark.createDataFrame(table) for table in (made.trades, made.close, made.index)
    )
    return stream.join(F.broadcast(close), "symbol").join(F.broadcast(index), "symbol")


def main() -> int:
    """Run the rules together, check them against plain Spark, and show some answers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--rules", type=int, default=16)
    given = parser.parse_args()

    loom = weft.Loom(trades(local_session(), given.rows).cache(), time="ts")
    for rule in workload("C", given.rules):
        loom.add(rule)
    loom.add(
        "SELECT symbol, max(price) AS hi, min(price) AS lo FROM trades "
        "WHERE r1000 GROUP BY window(ts, '15 minutes', '5 minutes'), symbol",
        name="large_caps",
    )
    print(loom.explain())
    with loom.run() as results:
        results.all().where("query LIKE 'q%'").orderBy("query", "window").show(5, truncate=False)
        results["large_caps"].orderBy(F.desc(F.col("hi") - F.col("lo"))).show(5, truncate=False)
    report = loom.verify()
    print(report)
    return 0 if report.ok else 1


if __name__ == "__main__":
    raise SystemExit(main())
