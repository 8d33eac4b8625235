"""One long Parquet table of every query's answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

import pyarrow as pa
import pyarrow.parquet as pq

from weft.errors import EngineError
from weft.sinks.contract import Figures, MicroBatch, Sink, SinkQuery
from weft.sinks.files import Folder
from weft.sinks.manifests import Manifests
from weft.sinks.wire import FIGURES, WRITTEN, figures_in, from_wire, written

FILES = "files"
"""The name under which manifests list a long table's files."""


def delivered_files(path: str) -> list[str]:
    """The files of a long table that belong to complete micro-batches, oldest first."""
    return [f"{path.rstrip('/')}/{file}" for file in Manifests(Folder(path)).files(FILES)]


class LongSink(Sink):
    """`<path>/batch=<number>/<bucket>.parquet`: `query`, `window`, keys and aggregates by name.

    A column is null for queries that do not have it; if queries use one name for different types,
    the later ones get a separate column, `name_type`. A repeated micro-batch overwrites its files.
    """

    guarantee: ClassVar[str] = (
        "exactly once for readers that take the files of `weft.sinks.delivered_files`; others may "
        "see a micro-batch while it is written"
    )

    def __init__(self, path: str) -> None:
        self.path = path
        # Manifests must be readable by the readers of the answers, so their modes follow the umask.
        self.folder = Folder(path, private=False)
        self.manifests = Manifests(self.folder)

    def open(self, queries: Mapping[int, SinkQuery], mode: str) -> None:
        super().open(queries, mode)
        self.manifests.tidy()

    def deliver(self, batch: MicroBatch) -> Figures:
        writer = LongWriter(self.path, batch.number, _columns(batch.queries))
        told = batch.frame.mapInArrow(writer, WRITTEN).collect()
        files = [row["text"] for row in told if row["query"] != FIGURES]
        self.manifests.write(batch.number, {FILES: files})
        return figures_in(told)

    def write(self, batch: MicroBatch, counts: Mapping[int, int]) -> None:
        raise EngineError("a long sink writes as it computes; call deliver")


def _columns(queries: Mapping[int, SinkQuery]) -> dict[int, tuple[str, dict[str, str]]]:
    """For each query its name, and the column of the long table for each of its columns."""
    types: dict[str, pa.DataType] = {"query": pa.string()}
    found: dict[int, tuple[str, dict[str, str]]] = {}
    for number, query in sorted(queries.items()):
        names: dict[str, str] = {}
        for column in query.arrow:
            name = column.name
            if types.setdefault(name, column.type) != column.type:
                name = f"{name}_{column.type}"
                types[name] = column.type
            names[column.name] = name
        found[number] = (query.name, names)
    return found


class LongWriter:
    """For `mapInArrow`: writes the answers of a task to one file."""

    def __init__(
        self, path: str, batch: int, columns: Mapping[int, tuple[str, dict[str, str]]]
    ) -> None:
        self.path, self.batch, self.columns = path, batch, dict(columns)

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows: list[tuple[int, int, str]] = []
        tables: list[pa.Table] = []
        first: int | None = None
        for batch in batches:
            for row in batch.to_pylist():
                query = row["query"]
                if query == FIGURES:
                    rows.append((query, 0, row["payload"].decode()))
                elif query in self.columns:
                    tables.append(self._named(query, from_wire(row["payload"])))
                    first = row["bucket"] if first is None else min(first, row["bucket"])
        if tables:
            table = pa.concat_tables(tables, promote_options="default")
            folder = Folder(self.path).sub(f"batch={self.batch}")
            folder.system.create_dir(folder.path, recursive=True)
            name = f"{first:04d}.parquet"
            pq.write_table(table, f"{folder.path}/{name}", filesystem=folder.system)
            rows.append((0, table.num_rows, f"batch={self.batch}/{name}"))
        yield written(rows)

    def _named(self, query: int, table: pa.Table) -> pa.Table:
        name, names = self.columns[query]
        table = table.rename_columns([names[column] for column in table.column_names])
        return table.add_column(0, "query", pa.repeat(pa.scalar(name), table.num_rows))
