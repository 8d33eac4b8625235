"""A small stream to inject faults into: its files of rows, its queries and the right answers."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from tests.faults.chaos import MINUTE, SCHEMA, START, session
from tests.faults.outcome import Wrong
from weft.plan.time_axis import TimeAxis
from weft.query.query import Query
from weft.query.window import Window
from weft.sinks import Sink, read_results
from weft.spark.streaming.running import Running
from weft.spark.streaming.starting import start
from weft.spark.verify.native import native

AXIS = TimeAxis("ts")
AGGS = {"n": "count(*)", "s": "sum(x)"}
QUERIES = (
    Query("minute", aggs=AGGS, window=Window(range="1 minute"), by=["k"]),
    Query("sliding", aggs=AGGS, window=Window(range="5 minutes", slide="2 minutes"), by=["k"]),
    Query("big", aggs=AGGS, window=Window(range="3 minutes", slide="1 minute"), where="x > 5"),
)
CLOSED = START + 50_000 * MINUTE
"""Windows that end before this are closed by `Case.end`."""


@dataclass
class Rig:
    """Makes cases: streams in separate folders, on one Spark."""

    folder: Path
    seed: int = 0
    short: bool = False
    """Whether to use the sizes of a test instead of those of a run for the report."""
    _cases: int = 0
    _spark: SparkSession | None = None

    @property
    def spark(self) -> SparkSession:
        """The session, started when it is first needed."""
        if self._spark is None:
            self._spark = session()
        return self._spark

    def case(self, name: str) -> Case:
        """A new case; its rows depend only on the seed and its number."""
        self._cases += 1
        return Case(self, self.folder / f"{self._cases:02d}-{name}", self.seed * 1000 + self._cases)

    def close(self) -> None:
        """Stop Spark, if it was started here."""
        if self._spark is not None:
            self._spark.stop()


@dataclass
class Case:
    """One stream: files in, a checkpoint, answers out."""

    rig: Rig
    folder: Path
    seed: int
    files: int = 0
    queries: Sequence[Query] = QUERIES
    watermark: str = "5 minutes"
    per_batch: int = 1
    """Most files per micro-batch."""
    random: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        (self.folder / "in").mkdir(parents=True)
        self.random = np.random.default_rng(self.seed)

    @property
    def checkpoint(self) -> Path:
        """The stream's checkpoint."""
        return self.folder / "ck"

    def put(self, times: Any, keys: Any = None, values: Any = None) -> None:
        """Write a file of rows, to be read after the earlier ones; keys and values are random."""
        count = len(times)
        drawn = [f"k{i}" for i in self.random.integers(0, 6, count)]
        numbers = self.random.integers(0, 12, count)
        rows = pa.table(
            {
                "ts": pa.array(times, pa.timestamp("us", "UTC")),
                "k": pa.array(drawn if keys is None else keys, pa.string()),
                "x": pa.array(numbers if values is None else values, pa.int64()),
            }
        )
        path = self.folder / "in" / f"{self.files:05d}.parquet"
        written = path.with_name(f".{path.name}")  # a running stream must not see half a file
        pq.write_table(rows, written)
        os.utime(written, (1_000_000 + self.files, 1_000_000 + self.files))
        written.rename(path)
        self.files += 1

    def minutes(self, first: float, last: float, rows: int = 200) -> None:
        """Write a file of rows between two minutes."""
        low, high = int(first * MINUTE), int(last * MINUTE)
        self.put(START + self.random.integers(low, high, rows))

    def end(self) -> None:
        """Write a file with one row far later than all windows, which closes them."""
        self.put([START + 100_000 * MINUTE])

    def stream(self) -> DataFrame:
        """The rows as a stream."""
        reader = self.rig.spark.readStream.schema(SCHEMA)
        reader = reader.option("maxFilesPerTrigger", self.per_batch)
        return reader.parquet(str(self.folder / "in"))

    def start(self, sink: Sink | None = None, **options: Any) -> Running:
        """Start or continue the stream."""
        given: dict[str, Any] = {"trigger": "available_now", **options}
        return start(
            self.stream(),
            AXIS,
            str(self.folder / "out") if sink is None else sink,
            checkpoint=str(self.checkpoint),
            watermark=self.watermark,
            queries=self.queries,
            **given,
        )

    def run(self, sink: Sink | None = None, **options: Any) -> Running:
        """Start it and wait until it ends."""
        running = self.start(sink, **options)
        running.await_termination()
        return running

    def stop_of(self, **options: Any) -> BaseException:
        """Run the stream, which must end with an error; return the error."""
        try:
            running = self.start(**options)
        except Exception as error:
            return error
        try:
            running.await_termination()
        except Exception as error:
            return Exception(f"{running.status().error or ''} {error}")
        raise Wrong(f"{self.folder.name}: the stream took no notice of the fault")

    def batch(self) -> DataFrame:
        """The rows as a batch."""
        return self.rig.spark.read.schema(SCHEMA).parquet(str(self.folder / "in"))

    def compare(
        self,
        queries: Iterable[Query] | None = None,
        since: dict[str, int | None] | None = None,
        rows: DataFrame | None = None,
        of: Any = None,
    ) -> int:
        """Compare every query's answers with the batch answer; return the number of rows."""
        total = 0
        for query in self.queries if queries is None else queries:
            expected = native(self.batch() if rows is None else rows, AXIS, query)
            expected = expected.where(f"window.end <= timestamp_micros({CLOSED})")
            begin = (since or {}).get(query.name)
            if begin is not None:
                expected = expected.where(f"window.start >= timestamp_micros({begin})")
            right = Counter(tuple(row) for row in expected.collect())
            if of is None:
                read = read_results(self.rig.spark, str(self.folder / "out"), query.name).collect()
            else:
                read = of(query.name)
            found = Counter(tuple(row) for row in read)
            if found != right:
                missing, extra = right - found, found - right
                raise Wrong(
                    f"{self.folder.name}: {query.name}: {sum(missing.values())} rows missing, "
                    f"{sum(extra.values())} too many, such as {next(iter(missing or extra))}"
                )
            total += sum(found.values())
        if not total:
            raise Wrong(f"{self.folder.name}: nothing was answered")
        return total
