"""How answers get from the operator to a sink: as Arrow IPC streams in a binary column."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa

FIGURES = -1
"""The query number of rows that carry a bucket's metrics (JSON) instead of answers."""
COLUMNS = "query int, bucket int, rows long, payload binary"
WRITTEN = "query int, rows long, text string"
"""The output of a task that writes answers itself: files with their row counts, and metrics."""
_WRITTEN = pa.schema([("query", pa.int32()), ("rows", pa.int64()), ("text", pa.string())])


def to_wire(table: pa.Table) -> bytes:
    """A table of answers as bytes.

    >>> from_wire(to_wire(pa.table({"n": [1, 2]}))).num_rows
    2
    """
    buffer = pa.BufferOutputStream()
    with pa.ipc.new_stream(buffer, table.schema) as writer:
        writer.write_table(table)
    return bytes(buffer.getvalue())


def from_wire(data: bytes) -> pa.Table:
    """The table that `to_wire` wrote."""
    with pa.ipc.open_stream(data) as reader:
        return reader.read_all()


def written(rows: Sequence[tuple[int, int, str]]) -> pa.RecordBatch:
    """Rows of `WRITTEN`, as a batch.

    >>> written([(3, 20, "a.parquet")]).num_rows, written([]).num_rows
    (1, 0)
    """
    columns = zip(*rows, strict=True) if rows else ([], [], [])
    arrays = [pa.array(c, f.type) for c, f in zip(columns, _WRITTEN, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=_WRITTEN)


def figures_in(rows: Iterable[Any]) -> list[dict[str, Any]]:
    """The metrics of buckets among rows of `WRITTEN`."""
    return [json.loads(row["text"]) for row in rows if row["query"] == FIGURES]


class Decode:
    """For `mapInArrow`: decodes rows of the operator's output, all of one query, to its answers."""

    def __init__(self, schema: pa.Schema) -> None:
        self.schema = schema

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for payload in batch.column("payload").to_pylist():
                yield from from_wire(payload).cast(self.schema).to_batches()
