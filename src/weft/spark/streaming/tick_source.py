"""The source of ticks: what Spark reads beside the rows of a stream that has `idle`.

Its offset is the last tick, so that Spark's own log says which micro-batch had which one, and
nothing else is kept. In a micro-batch without a tick Spark does not read it at all. A Python
process of its own, which lasts as long as the stream, tells Spark of the offset: so this file,
which that process loads, imports next to nothing.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

from weft.stream.ticks import OFFSET, SOURCE, TickFile

try:
    from pyspark.sql.streaming.datasource import SupportsTriggerAvailableNow
except ImportError:  # before Spark 4.2

    class SupportsTriggerAvailableNow:  # type: ignore[no-redef]
        """Spark does not ask."""


if TYPE_CHECKING:
    import pyarrow as pa

_LOOK = 0.2
"""Seconds between two looks at the file: Spark asks a hundred times a second."""


def ticks_frame(spark: SparkSession, checkpoint: str, labels: Sequence[int]) -> DataFrame:
    """Parcels of ticks, for the buckets with these labels: columns as those of rows' parcels."""
    spark.dataSource.register(TickSource)
    reader = spark.readStream.format(SOURCE).option("checkpoint", checkpoint)
    return reader.option("labels", json.dumps(list(labels))).load()


class TickSource(DataSource):
    """`checkpoint` says where the ticks are written, and `labels` which buckets there are."""

    @classmethod
    def name(cls) -> str:
        return SOURCE

    def schema(self) -> str:
        from weft.engine.preaggregate import SPARK_SCHEMA

        return SPARK_SCHEMA

    def streamReader(self, schema: Any) -> TickReader:
        return TickReader(self.options["checkpoint"], json.loads(self.options["labels"]))


class Tick(InputPartition):
    """What there is to read: one tick."""

    def __init__(self, at: int) -> None:
        super().__init__(at)
        self.at = at


class TickReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Offsets are `{"weft_tick": microseconds}`, and zero before the first."""

    def __init__(self, checkpoint: str, labels: Sequence[int]) -> None:
        self._checkpoint, self._labels = checkpoint, labels
        self._known, self._looked = 0, float("-inf")
        self._is_fixed = False

    def initialOffset(self) -> dict[str, int]:
        return {OFFSET: 0}

    def latestOffset(
        self, start: dict[str, int] | None = None, limit: Any = None
    ) -> dict[str, int]:
        """The last tick, and never one before `start`, which Spark 4.2 and later say."""
        now = time.monotonic()
        if not self._is_fixed and now - self._looked >= _LOOK:
            self._looked = now
            self._known = max(self._known, TickFile(self._checkpoint).read() or 0)
        return {OFFSET: max(self._known, 0 if start is None else start[OFFSET])}

    def prepareForTriggerAvailableNow(self) -> None:
        """Give no tick that is written from now on."""
        self.latestOffset()
        self._is_fixed = True

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[InputPartition]:
        return [Tick(end[OFFSET])] if end[OFFSET] > start[OFFSET] else []

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        from weft.engine.tick import tick_parcels

        assert isinstance(partition, Tick)
        yield tick_parcels(self._labels, partition.at)
