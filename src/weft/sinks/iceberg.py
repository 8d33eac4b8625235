"""Iceberg: a table per query, exactly once by the properties of its snapshots."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from weft.errors import EngineError
from weft.sinks.contract import MicroBatch, Sink, SinkQuery, write_each
from weft.sinks.names import check_distinct, named

STREAM, BATCH = "weft.stream", "weft.batch"
"""Properties of a snapshot: the stream that wrote it, and its micro-batch."""


class IcebergSink(Sink):
    """A table per query, named by `table` with `{query}` and optionally `{number}` filled in.

    `table` is a name in a catalogue of the session, such as `lake.answers.{query}`. Every snapshot
    that a stream writes has the stream and micro-batch as properties, and a micro-batch for which
    there is a snapshot already is skipped. Needs the connector iceberg.
    """

    guarantee: ClassVar[str] = (
        "exactly once, as long as the table keeps the last snapshot that the stream wrote"
    )
    modes: ClassVar[tuple[str, ...]] = ("append",)
    needs: ClassVar[tuple[str, ...]] = ("iceberg",)

    def __init__(self, table: str) -> None:
        if "{query}" not in table:
            raise EngineError(
                f"table={table!r}: each query has a table of its own, so {{query}} must be in it, "
                f"for instance lake.answers.{{query}}"
            )
        self.pattern = table

    def table(self, name: str, number: int) -> str:
        """A query's table.

        >>> IcebergSink("lake.answers.{query}_{number}").table("big trades", 3)
        'lake.answers.big_trades_3'
        """
        return named(self.pattern, re.sub(r"\W", "_", name), number)

    def check(self, queries: Mapping[int, SinkQuery], mode: str) -> None:
        super().check(queries, mode)
        # Catalogues differ in case sensitivity.
        check_distinct(queries.values(), lambda q: self.table(q.name, q.number).lower())

    def write(self, batch: MicroBatch, counts: Mapping[int, int]) -> None:
        write_each(counts, lambda number: self.append(batch, number))

    def append(self, batch: MicroBatch, number: int) -> None:
        """Append a query's answers, if the table does not have this micro-batch yet."""
        answers = batch.answers(number)
        table = self.table(batch.queries[number].name, number)
        if not answers.sparkSession.catalog.tableExists(table):
            # Created empty: rows are only added in snapshots that name their micro-batch.
            answers.limit(0).writeTo(table).using("iceberg").create()
        if written(answers.sparkSession, table, batch.stream) < batch.number:
            writer = answers.writeTo(table)
            writer = writer.option(f"snapshot-property.{STREAM}", batch.stream)
            writer.option(f"snapshot-property.{BATCH}", str(batch.number)).append()


def written(spark: Any, table: str, stream: str) -> int:
    """The last micro-batch of a stream in a table; -1 if there is none."""
    batches = spark.table(f"{table}.snapshots").where(f"summary['{STREAM}'] = '{stream}'")
    found = batches.selectExpr(f"max(CAST(summary['{BATCH}'] AS BIGINT))").first()[0]
    return -1 if found is None else int(found)
