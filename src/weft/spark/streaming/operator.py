"""The stateful operator, which Spark calls for every bucket of a micro-batch.

Whenever a stream starts, Spark runs a new Python process to read the operator's state schema. That
process imports this module, so it imports almost nothing, and the work is done elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyspark import TaskContext
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle
from pyspark.sql.types import BinaryType, StringType, StructField, StructType

from weft.errors import EngineError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from weft.stream.deployment import Lookup
    from weft.stream.future_rows import Guard
    from weft.stream.micro_batch import MicroBatches


class Operator(StatefulProcessor):
    """State and output columns do not depend on the queries, so that these can change."""

    work: MicroBatches | None = None

    def __init__(self, programs: Lookup) -> None:
        self.programs = programs.location, programs.secret

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.handle = handle
        # As types instead of text, which the JVM would parse in every task.
        name = StructType([StructField("name", StringType())])
        data = StructType([StructField("data", BinaryType())])
        self.pieces = handle.getMapState("pieces", name, data)

    def handleInputRows(
        self, key: Any, rows: Iterator[Any], timerValues: Any
    ) -> Iterator[pd.DataFrame]:
        parcels = [data for frame in rows for data in frame["parcel"]]
        yield from self._micro_batch(key, parcels, timerValues)

    def handleExpiredTimer(
        self, key: Any, timerValues: Any, expiredTimerInfo: Any
    ) -> Iterator[pd.DataFrame]:
        yield from self._micro_batch(key, [], timerValues)

    def close(self) -> None:
        pass

    def _micro_batch(self, key: Any, parcels: list[bytes], timers: Any) -> Iterator[pd.DataFrame]:
        from weft.stream.deployment import Lookup
        from weft.stream.micro_batch import MicroBatches

        if self.work is None:
            self.work = MicroBatches(Lookup(*self.programs))
        milliseconds = timers.getCurrentWatermarkInMs()
        state = _State(self.pieces)
        found = self.work.run(batch_number(), int(key[0]), parcels, state, milliseconds)
        if found is not None:
            self._renew_timer(self.work.timer, milliseconds)
            yield found

    def _renew_timer(self, old: int | None, milliseconds: int) -> None:
        """Set a timer just past the watermark, so that its every advance calls every bucket."""
        if old is not None and old > milliseconds:
            return
        if old is not None:
            self.handle.deleteTimer(old)
        self.handle.registerTimer(milliseconds + 1)


class Preaggregation:
    """For `mapInArrow`: makes parcels from rows, by the micro-batch's program and clock."""

    def __init__(self, programs: Lookup, guard: Guard) -> None:
        self.programs, self.guard = programs, guard

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from weft.engine.preaggregate import Preaggregate

        batch = batch_number()
        program, _ = self.programs.at(batch)
        is_on = self.guard.limit is not None
        latest = self.guard.latest(self.programs.clock(batch)) if is_on else None
        return Preaggregate(program, latest)(batches)


def batch_number() -> int:
    """The number of the task's micro-batch; the same if it is repeated."""
    context = TaskContext.get()
    number = None if context is None else context.getLocalProperty("streaming.sql.batchId")
    if number is None:
        raise EngineError("Spark does not say which micro-batch this task is of")
    return int(number)


class _State:
    """Adapts a map state to the bucket's key-value store."""

    def __init__(self, pieces: Any) -> None:
        self._pieces = pieces

    def get(self, name: str) -> bytes | None:
        found = self._pieces.getValue((name,))
        return None if found is None else bytes(found[0])

    def put(self, name: str, value: bytes) -> None:
        self._pieces.updateValue((name,), (value,))

    def remove(self, name: str) -> None:
        self._pieces.removeKey((name,))
