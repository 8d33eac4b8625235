"""Delta: a table per query, exactly once by the table's own transaction log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from weft.sinks.contract import MicroBatch, Sink, write_each
from weft.sinks.parquet import folder_name


class DeltaSink(Sink):
    """`<path>/<query>/<number>`, appended to by `txnAppId` and `txnVersion`.

    The application is the stream and the query's number, the version is the micro-batch: Delta
    skips a version that an application has already written. Streams of different checkpoints may
    write to the same path. Needs the connector delta.
    """

    guarantee: ClassVar[str] = "exactly once: Delta skips a micro-batch that it has already"
    modes: ClassVar[tuple[str, ...]] = ("append",)
    needs: ClassVar[tuple[str, ...]] = ("delta",)

    def __init__(self, path: str) -> None:
        self.path = path

    def table(self, name: str, number: int) -> str:
        """The path of a query's table."""
        return f"{self.path.rstrip('/')}/{folder_name(name, number)}"

    def write(self, batch: MicroBatch, counts: Mapping[int, int]) -> None:
        def append(number: int) -> None:
            writer = batch.answers(number).write.format("delta").mode("append")
            writer = writer.option("txnAppId", f"weft/{batch.stream}/{number}")
            writer = writer.option("txnVersion", batch.number)
            writer.save(self.table(batch.queries[number].name, number))

        write_each(counts, append)
