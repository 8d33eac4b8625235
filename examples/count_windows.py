"""Count-based windows: the last 100 trades instead of the last 10 minutes.

    python examples/count_windows.py

Windows can be over an integer column instead of time. If that column numbers the rows, a window
with range 100 and slide 10 has the last 100 rows, every 10 rows. All windows share one set of
slices, as they do over time.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.window import Window as Over

import weft
from weft.demo.trades import market
from weft.spark.results.results import Results
from weft.spark.session import local_session


def numbered_trades(spark: SparkSession, rows: int) -> DataFrame:
    """Trades of a few symbols, with a column that numbers them from 0 in order of time."""
    trades = spark.createDataFrame(market(rows, symbols=5).trades)
    order = Over.orderBy("ts", "symbol", "price", "volume")
    return trades.withColumn("n", (F.row_number().over(order) - 1).cast("long"))


def build(rows: DataFrame) -> weft.Loom:
    """Queries over windows of 50, 100 and 500 trades, one of them in CQL, without units."""
    loom = weft.Loom(rows, time="n")
    for size, every in ((50, 10), (500, 50)):
        loom.add(
            weft.Query(
                f"last_{size}",
                aggs={"vwap": "sum(price * volume) / sum(volume)", "high": "max(price)"},
                window=weft.Window(range=size, slide=every),
            )
        )
    loom.add(
        "SELECT symbol, count(*) AS trades, sum(volume) AS volume FROM t [RANGE 100 SLIDE 20] "
        "GROUP BY symbol",
        name="busiest",
    )
    return loom


def main(spark: SparkSession, rows: int = 10_000) -> Results:
    """Answer the queries; `window.start` and `window.end` are numbers of trades."""
    loom = build(numbered_trades(spark, rows).cache())
    print(loom.explain())
    results = loom.run()
    results["last_500"].orderBy("window").show(3, truncate=False)
    results["busiest"].orderBy("window", F.desc("volume")).show(3, truncate=False)
    return results


if __name__ == "__main__":
    main(local_session())
