"""Delta: a table per query, exactly once by the table's own transaction log."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import ClassVar

from weft.errors import EngineError
from weft.sinks.contract import MicroBatch, Sink
from weft.sinks.parquet import folder_name


class DeltaSink(Sink):
    """`<path>/<query>/<number>`, appended to by `txnAppId` and `txnVersion`.

    Needs the package delta-spark and a session with Delta's extensions.
    """

    guarantee: ClassVar[str] = "exactly once: Delta skips a micro-batch that it has already"
    modes: ClassVar[tuple[str, ...]] = ("append",)

    def __init__(self, path: str, application: str = "weft") -> None:
        if find_spec("delta") is None:
            raise EngineError(
                "DeltaSink needs the package delta-spark, which is not installed; "
                "a directory (Parquet) needs nothing more"
            )
        self.path, self.application = path, application

    def write(self, batch: MicroBatch, counts: Mapping[int, int]) -> None:
        for number in sorted(counts):
            query = batch.queries[number]
            writer = batch.answers(number).write.format("delta").mode("append")
            writer.option("txnAppId", f"{self.application}/{number}").option(
                "txnVersion", batch.number
            ).save(f"{self.path.rstrip('/')}/{folder_name(query.name, number)}")
