"""Streams made of files, one per micro-batch."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

SCHEMA = "ts timestamp, k string, g int, x long, y double, d decimal(10,2), b boolean"
MINUTE = 60_000_000
START = 1_700_000_000 * 1_000_000


@pytest.fixture(autouse=True)
def interpreted(request: pytest.FixtureRequest, settings_stay: None) -> Iterator[None]:
    """Switch off whole-stage code generation, which takes longer than a handful of rows."""
    if "spark" not in request.fixturenames:
        yield
        return
    conf, name = request.getfixturevalue("spark").conf, "spark.sql.codegen.wholeStage"
    conf.set(name, "false")
    yield
    conf.unset(name)


class Feed:
    """A folder of files that a stream reads one by one, in the order in which they were written."""

    def __init__(self, folder: Path, seed: int = 0) -> None:
        self.folder, self.count = folder, 0
        self.random = np.random.default_rng(seed)
        folder.mkdir(parents=True)

    def put(self, times: np.ndarray, **columns: object) -> None:
        """Write a file with these times; other columns are random unless given."""
        n, random = len(times), self.random
        cents = random.integers(-500, 2000, n)
        drawn: dict[str, object] = {
            "ts": pa.array(times, pa.timestamp("us", "UTC")),
            "k": pa.array(
                [None if i == 7 else "abcdefgh"[i] for i in random.integers(0, 8, n)], pa.string()
            ),
            "g": pa.array(random.integers(0, 3, n), pa.int32()),
            "x": pa.array(
                [None if v < -3 else int(v) for v in random.integers(-5, 20, n)], pa.int64()
            ),
            "y": pa.array(np.where(random.random(n) < 0.05, np.nan, random.normal(0, 9, n))),
            "d": pa.array([Decimal(int(c)) / 100 for c in cents], pa.decimal128(10, 2)),
            "b": pa.array(random.random(n) < 0.5),
        }
        drawn.update(columns)
        name = f"{self.count:04d}.parquet"
        # The file gets its modification time before it appears: after a stream has seen a file of
        # today, it skips files of 1970 as too old.
        made = self.folder.with_name(f"{self.folder.name}-{name}")
        pq.write_table(pa.table(drawn), made)
        os.utime(made, (1_000_000 + self.count, 1_000_000 + self.count))
        made.rename(self.folder / name)
        self.count += 1

    def minutes(self, first: float, last: float, rows: int = 120, late: float = 0.0) -> None:
        """Write rows between two minutes of the stream, some of them up to `late` minutes late."""
        times = START + self.random.integers(int(first * MINUTE), int(last * MINUTE), rows)
        behind = self.random.integers(0, int(late * MINUTE) + 1, rows)
        self.put(np.where(self.random.random(rows) < 0.3, times - behind, times))

    def end(self) -> None:
        """Write a single row far ahead, which closes all earlier windows."""
        self.put(np.array([START + 1_000_000 * MINUTE]))

    def stream(self, spark: object) -> object:
        reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
        return reader.parquet(str(self.folder))

    def batch(self, spark: object) -> object:
        return spark.read.schema(SCHEMA).parquet(str(self.folder))


@pytest.fixture
def feed(tmp_path: Path) -> Feed:
    return Feed(tmp_path / "in")


@pytest.fixture(autouse=True)
def no_stream_outlives_its_test(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    if "spark" in request.fixturenames:
        for query in request.getfixturevalue("spark").streams.active:
            query.stop()


def instant(minutes: float) -> datetime:
    """A minute of the stream as the time that Spark shows."""
    return datetime.fromtimestamp((START + minutes * MINUTE) / 1e6, timezone.utc).replace(
        tzinfo=None
    )
