"""The source of ticks, which Spark reads in addition to the rows of a stream with `idle`.

Its offset is the last tick, so that Spark's log records the tick of each micro-batch, and nothing
else is stored. In a micro-batch without a tick Spark does not read it at all. A separate Python
process, which lives as long as the stream, reports the offset to Spark. That process imports this
module, so it imports almost nothing.
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
        """A placeholder for older versions of Spark."""


if TYPE_CHECKING:
    import pyarrow as pa

_LOOK = 0.2
"""Seconds between two reads of the file; Spark asks for the offset a hundred times a second."""


def ticks_frame(spark: SparkSession, checkpoint: str, labels: Sequence[int]) -> DataFrame:
    """Parcels of ticks for the buckets with these labels, with the columns of rows' parcels."""
    spark.dataSource.register(TickSource)
    reader = spark.readStream.format(SOURCE).option("checkpoint", checkpoint)
    return reader.option("labels", json.dumps(list(labels))).load()


class TickSource(DataSource):
    """Options: `checkpoint`, where ticks are written, and `labels`, those of the buckets."""

    @classmethod
    def name(cls) -> str:
        return SOURCE

    def schema(self) -> str:
        from weft.engine.preaggregate import SPARK_SCHEMA

        return SPARK_SCHEMA

    def streamReader(self, schema: Any) -> TickReader:
        return TickReader(self.options["checkpoint"], json.loads(self.options["labels"]))


class Tick(InputPartition):
    """The partition to read: one tick."""

    def __init__(self, at: int) -> None:
        super().__init__(at)
        self.at = at


class TickReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Offsets are `{"weft_tick": microseconds}`, zero before the first tick."""

    def __init__(self, checkpoint: str, labels: Sequence[int]) -> None:
        self._checkpoint, self._labels = checkpoint, labels
        self._known, self._looked = 0, float("-inf")
        self._is_fixed = False

    def initialOffset(self) -> dict[str, int]:
        return {OFFSET: 0}

    def latestOffset(
        self, start: dict[str, int] | None = None, limit: Any = None
    ) -> dict[str, int]:
        """The last tick, but never one before `start`, which Spark passes since 4.2."""
        now = time.monotonic()
        if not self._is_fixed and now - self._looked >= _LOOK:
            self._looked = now
            self._known = max(self._known, TickFile(self._checkpoint).read() or 0)
        return {OFFSET: max(self._known, 0 if start is None else start[OFFSET])}

    def prepareForTriggerAvailableNow(self) -> None:
        """From now on ignore new ticks."""
        self.latestOffset()
        self._is_fixed = True

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[InputPartition]:
        return [Tick(end[OFFSET])] if end[OFFSET] > start[OFFSET] else []

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        from weft.engine.tick import tick_parcels

        assert isinstance(partition, Tick)
        yield tick_parcels(self._labels, partition.at)
