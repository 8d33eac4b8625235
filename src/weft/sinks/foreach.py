"""foreachBatch: passes the answers of every micro-batch to a user function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from weft.sinks.contract import MicroBatch, Sink, write_each


class ForeachBatchSink(Sink):
    """Calls `function(query name, DataFrame, batch number)` for each query with answers."""

    guarantee: ClassVar[str] = (
        "at least once: after a crash a micro-batch may be handed over again, with the same "
        "number; exactly once if the function writes idempotently by number"
    )

    def __init__(self, function: Callable[[str, Any, int], None]) -> None:
        self.function = function

    def write(self, batch: MicroBatch, counts: Mapping[int, int]) -> None:
        def write(number: int) -> None:
            self.function(batch.queries[number].name, batch.answers(number), batch.number)

        write_each(counts, write)
