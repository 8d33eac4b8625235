"""A training set: what each user had done by the time of each label, as exact and served features.

    python examples/training_set.py

The queries are those that a stream would answer. For each label they are evaluated over the ranges
before it, so that no feature uses rows of the label's own time or later. With `resolution="slide"`
a feature is what the stream would have served at that time: the answer of the latest window that
had closed.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from pyspark.sql import DataFrame, SparkSession

import weft
from weft.spark.session import local_session

START = pd.Timestamp("2026-01-05", tz="UTC")
QUERIES: list[weft.Query | str] = [
    *(
        weft.Query(
            f"last_{name}",
            aggs={"spent": "sum(cents)", "orders": "count(*)", "largest": "max(cents)"},
            window=weft.Window(range=range_, slide="1 hour"),
            by=["user"],
        )
        for name, range_ in {"1h": "1 hour", "1d": "1 day", "7d": "7 days"}.items()
    ),
    # Sales of the whole shop, and the user's refunds, in SQL.
    "-- name: shop\n"
    "SELECT count(*) AS orders FROM purchases GROUP BY window(ts, '6 hours', '1 hour')",
    "-- name: refunds\n"
    "SELECT user, count(*) AS n FROM purchases WHERE cents < 0 "
    "GROUP BY window(ts, '7 days', '1 hour'), user",
]


def purchases(rows: int, users: int = 6, days: int = 14, seed: int = 0) -> pd.DataFrame:
    """Purchases of some users, in cents; some of them exactly on the hour, some refunded."""
    random = np.random.default_rng(seed)
    seconds = random.integers(0, days * 86_400, rows)
    seconds = np.where(random.random(rows) < 0.1, seconds - seconds % 3_600, seconds)
    return pd.DataFrame(
        {
            "ts": START + pd.to_timedelta(seconds, unit="s"),
            "user": [f"u{number}" for number in random.integers(0, users, rows)],
            "cents": random.integers(-500, 10_000, rows),
        }
    )


def labels(rows: int, users: int = 7, days: int = 14, seed: int = 1) -> pd.DataFrame:
    """The spine: a user, a time, and whether the user bought again. One user never bought."""
    random = np.random.default_rng(seed)
    seconds = random.integers(0, days * 86_400, rows) // 1_800 * 1_800
    return pd.DataFrame(
        {
            "user": [f"u{number}" for number in random.integers(0, users, rows)],
            "at": START + pd.to_timedelta(seconds, unit="s"),
            "bought_again": random.random(rows) < 0.3,
        }
    )


def main(spark: SparkSession, rows: int = 20_000, spine: int = 500) -> tuple[DataFrame, DataFrame]:
    """Print labels with exact features, and with those that a stream would have served."""
    rows_frame = spark.createDataFrame(purchases(rows))
    spine_frame = spark.createDataFrame(labels(spine))
    exact = weft.training_set(spine_frame, QUERIES, rows_frame, at="at")
    served = weft.training_set(
        spine_frame, QUERIES, rows_frame, at="at", resolution="slide", delay="10 minutes"
    )
    for name, training in {"exact": exact, "served": served}.items():
        print(f"{name}: {len(training.columns)} columns, {training.count()} rows")
        training.orderBy("at", "user").show(5)
    return exact, served


if __name__ == "__main__":
    main(local_session())
