"""One definition of features, used four times: stream, history, serving and training.

    python examples/features.py

The queries below run on a stream of today's purchases, with the purchases of the days before as its
history, so that a window of a day is complete at once. A service asks the stream for the current
values. A training set has the values at the times of past labels. All are computed from the same
slices. At the end they are compared: a model is trained on exactly what the stream answered.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import weft
from weft.spark.session import local_session

START = pd.Timestamp("2026-01-05", tz="UTC")
DAYS = 4
FEATURES = [
    weft.Query(
        f"last_{name}",
        aggs={"spent": "sum(cents)", "orders": "count(*)", "largest": "max(cents)"},
        window=weft.Window(range=range_, slide="1 hour"),
        by=["user"],
    )
    for name, range_ in {"6h": "6 hours", "1d": "1 day", "3d": "3 days"}.items()
]


def purchases(rows: int, users: int = 5, seed: int = 0) -> pd.DataFrame:
    """Purchases of some users, in cents, in the order of their times."""
    random = np.random.default_rng(seed)
    seconds = np.sort(random.integers(0, DAYS * 86_400, rows))
    return pd.DataFrame(
        {
            "ts": (START + pd.to_timedelta(seconds, unit="s")).as_unit("us"),
            "user": [f"u{number}" for number in random.integers(0, users, rows)],
            "cents": random.integers(100, 10_000, rows),
        }
    )


def write(folder: Path, rows: pd.DataFrame, files: int) -> None:
    """Write rows to several files, in their order."""
    folder.mkdir(parents=True)
    for number, part in enumerate(np.array_split(np.arange(len(rows)), files)):
        table = pa.Table.from_pandas(rows.iloc[part], preserve_index=False)
        pq.write_table(table, folder / f"{number:03d}.parquet")


def main(spark: SparkSession, folder: Path, rows: int = 4_000) -> dict[str, int]:
    """Compare served values and answers with the training set; return how many were equal."""
    bought = purchases(rows)
    today = bought.ts >= START + pd.Timedelta(days=DAYS - 1)
    write(folder / "archive", bought[~today], files=2)
    write(folder / "live", bought[today], files=4)
    history = spark.read.parquet(str(folder / "archive"))
    everything = history.union(spark.read.parquet(str(folder / "live")))

    # Today's stream, with the days before as its history.
    live = spark.readStream.schema(history.schema).option("maxFilesPerTrigger", 1)
    loom = weft.Loom(live.parquet(str(folder / "live")), time="ts", watermark="10 minutes")
    for query in FEATURES:
        loom.add(query)
    out = str(folder / "answers")
    running = loom.start(
        out, checkpoint=str(folder / "checkpoint"), history=history, trigger="available_now"
    )
    running.await_termination()

    # Serving: a user's current values, and those of the window before.
    now = running.answer("last_1d", keys={"user": "u1"})
    print(f"u1, the day under way ({now.batch=}, {now.open=}): {now.rows()}")

    # Training: the same queries at the times at which the stream answered.
    compared = {}
    for query in FEATURES:
        answered = weft.read_results(spark, out, query.name)
        spine = answered.select("user", F.col("window.end").alias("at"), *query.aggs)
        trained = weft.training_set(spine, [query], everything, at="at")
        values = [f"{name} <=> {query.name}_{name}" for name in query.aggs]
        equal = trained.where(" AND ".join(values)).count()
        compared[query.name] = equal
        print(f"{query.name}: {equal:,} of {spine.count():,} answers are those of the training set")
        assert equal == spine.count() > 0
    return compared


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        main(local_session(settings={"spark.sql.session.timeZone": "UTC"}), Path(place))
