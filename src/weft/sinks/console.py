"""Console: the first rows of every query's answers, printed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from weft.sinks.contract import MicroBatch, Sink


class ConsoleSink(Sink):
    """Prints up to `limit` rows of each query with answers."""

    guarantee: ClassVar[str] = "none: for looking at"

    def __init__(self, limit: int = 20) -> None:
        self.limit = limit

    def write(self, batch: MicroBatch, counts: Mapping[int, int]) -> None:
        for number, count in sorted(counts.items()):
            print(f"batch {batch.number}: {batch.queries[number].name}, {count:,} rows")
            batch.answers(number).orderBy("window").show(self.limit, truncate=False)
