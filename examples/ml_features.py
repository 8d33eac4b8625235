"""ML features: what each user did in the last 1, 6, 24 hours and 7 days, point-in-time correct.

    python examples/ml_features.py

Four windows that slide by an hour give one wide table: a row per user and hour, a column per
feature. A label at time t is joined with the row of the last hour that was complete at t, so that
its features use no row at or after t. Otherwise a model would learn from data that was not known
at that time.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import weft
from weft.spark.session import local_session

RANGES = {"1h": "1 hour", "6h": "6 hours", "24h": "24 hours", "7d": "7 days"}
START = pd.Timestamp("2026-01-05", tz="UTC")


def purchases(rows: int, users: int = 6, days: int = 14, seed: int = 0) -> pd.DataFrame:
    """Purchases of some users, in cents; some of them exactly on the hour."""
    random = np.random.default_rng(seed)
    seconds = random.integers(0, days * 86_400, rows)
    seconds = np.where(random.random(rows) < 0.1, seconds - seconds % 3_600, seconds)
    return pd.DataFrame(
        {
            "ts": START + pd.to_timedelta(seconds, unit="s"),
            "user": [f"u{number}" for number in random.integers(0, users, rows)],
            "cents": random.integers(100, 10_000, rows),
        }
    )


def build(rows: DataFrame) -> weft.Loom:
    """A query per range; all are answered from slices of an hour."""
    loom = weft.Loom(rows, time="ts")
    for name, range_ in RANGES.items():
        loom.add(
            weft.Query(
                f"last_{name}",
                aggs={"spent": "sum(cents)", "orders": "count(*)", "largest": "max(cents)"},
                window=weft.Window(range=range_, slide="1 hour"),
                by=["user"],
            )
        )
    return loom


def features(rows: DataFrame) -> DataFrame:
    """One row per user and hour, one column per feature: `spent_1h`, `orders_24h`, ..."""
    return build(rows).run().wide(keys=["user"])


def labelled(labels: DataFrame, table: DataFrame) -> DataFrame:
    """Each label with its user's features as known at that time: those of the last full hour.

    The hour must match exactly: an older row would be from when the user was last active.
    """
    known = labels.withColumn("time", F.date_trunc("hour", "at"))
    return known.join(table, ["user", "time"], "left").drop("time")


def main(spark: SparkSession, rows: int = 20_000) -> DataFrame:
    """Labels with their features, ready for training."""
    made = purchases(rows)
    table = features(spark.createDataFrame(made))
    random = np.random.default_rng(1)
    labels = pd.DataFrame(
        {
            "user": [f"u{number}" for number in random.integers(0, 6, 200)],
            "at": START + pd.to_timedelta(random.integers(0, 14 * 86_400, 200), unit="s"),
            "bought_again": random.random(200) < 0.3,
        }
    )
    joined = labelled(spark.createDataFrame(labels), table)
    joined.orderBy("at").show(5)
    return joined


if __name__ == "__main__":
    main(local_session())
