"""Stock monitoring: many alert rules on one stream of trades (SIGMOD'06, Query 4).

    python examples/stock_monitoring.py

Trades are joined with yesterday's closing prices and with index membership. Every rule asks for the
total value of the trades that meet its condition, in its own sliding window. The join is an
ordinary DataFrame, which is passed to the loom.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import weft
from weft.demo.trades import market, workload
from weft.spark.session import local_session
from weft.spark.verify.verify import VerifyReport


def joined_trades(spark: SparkSession, rows: int) -> DataFrame:
    """The stream of trades joined with the two tables."""
    made = market(rows)
    trades, close, index = (
        spark.createDataFrame(table) for table in (made.trades, made.close, made.index)
    )
    return trades.join(F.broadcast(close), "symbol").join(F.broadcast(index), "symbol")


def main(spark: SparkSession, rows: int = 100_000, rules: int = 16) -> VerifyReport:
    """Run the rules together, show some answers, and compare all with plain Spark."""
    loom = weft.Loom(joined_trades(spark, rows).cache(), time="ts")
    for rule in workload("C", rules):  # conditions on membership, volume, value, price change
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
    return report


if __name__ == "__main__":
    raise SystemExit(0 if main(local_session()) else 1)
