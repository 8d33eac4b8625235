"""Memory: answers kept on the driver, for tests and notebooks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from weft.sinks.contract import MicroBatch, Sink


class MemorySink(Sink):
    """`sink.rows["name"]` lists the rows of a query, as Spark Rows."""

    guarantee: ClassVar[str] = (
        "exactly once within a process (a micro-batch that is run again replaces itself); "
        "nothing survives the process"
    )

    def __init__(self) -> None:
        self.batches: dict[int, dict[str, list[Any]]] = {}

    def write(self, batch: MicroBatch, counts: Mapping[int, int]) -> None:
        self.batches[batch.number] = {
            batch.queries[number].name: batch.answers(number).collect() for number in counts
        }

    @property
    def rows(self) -> dict[str, list[Any]]:
        """All rows by query, in the order of the micro-batches."""
        found: dict[str, list[Any]] = {}
        for number in sorted(self.batches):
            for name, rows in self.batches[number].items():
                found.setdefault(name, []).extend(rows)
        return found
