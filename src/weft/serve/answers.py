"""The latest answers of a query, read back from where the stream writes them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from weft.query.query import Query
from weft.serve.models import AnswerColumn, Answers
from weft.sinks.files import Folder

LOOKED_AT = 500
"""Micro-batches that are looked at for answers, newest first."""
_EXACT = 2**53
"""Integers beyond it are not the same number in a browser."""


def latest_answers(
    sink: Mapping[str, Any] | None, query: Query, number: int | None, limit: int
) -> Answers:
    """Up to about `limit` rows, whole windows of the newest micro-batches."""

    def nothing(reason: str) -> Answers:
        return Answers(
            query=query.name, readable=False, reason=reason,
            slide=query.window.slide, columns=[], windows=[], rows=[],
        )  # fmt: skip

    if number is None or sink is None:
        return nothing("No stream has answered this query yet.")
    kind, path = sink["kind"], sink["path"]
    if kind not in ("ParquetSink", "LongSink") or not path:
        return nothing(
            f"Answers go to {kind.removesuffix('Sink')}, which is not read back here: look where "
            f"they arrive, or give the stream a Parquet sink."
        )
    if query.finish is not None:
        return nothing(
            "Its statement makes other rows of its windows' answers, which are not drawn here: "
            "read them with weft.read_results."
        )
    keys = [key.name for key in query.keys]
    columns = ["window", *keys, *query.aggs]
    folder = Folder(path)
    read = _parquet(folder, number) if kind == "ParquetSink" else _long(folder, query.name)
    tables: list[pa.Table] = []
    have = 0
    for table in read:
        tables.append(table)
        have += table.num_rows
        if have >= limit:
            break
    if not tables:
        return nothing("No window of this query has closed yet.")
    whole = pa.concat_tables([t.select(columns) for t in tables], promote_options="permissive")
    windows, rows = _rows(whole, len(keys), limit)
    kinds = [AnswerColumn(name=n, type=str(whole.schema.field(n).type), role="key") for n in keys]
    kinds += [
        AnswerColumn(name=n, type=str(whole.schema.field(n).type), role="value") for n in query.aggs
    ]
    return Answers(
        query=query.name, readable=True, reason="", slide=query.window.slide,
        columns=kinds, windows=windows, rows=rows,
    )  # fmt: skip


def _parquet(folder: Folder, number: int) -> Iterator[pa.Table]:
    """A query's files by manifests, newest first: only whole micro-batches are seen."""
    batches = folder.sub("_weft").sub("batches")
    for name in reversed(batches.names()[-LOOKED_AT:]):
        for file in batches.read(name, "batch").get(str(number), []):
            yield pq.read_table(f"{folder.path}/{file}", filesystem=folder.system)


def _long(folder: Folder, name: str) -> Iterator[pa.Table]:
    """A query's rows of the long table, newest first."""
    batches = folder.sub("_weft").sub("batches")
    for listed in reversed(batches.names()[-LOOKED_AT:]):
        for file in batches.read(listed, "batch")["files"]:
            path = f"{folder.path}/{file}"
            table = pq.read_table(
                path, filesystem=folder.system, filters=[("query", "==", name)], partitioning=None
            )
            if table.num_rows:
                yield table


def _rows(table: pa.Table, keys: int, limit: int) -> tuple[list[tuple[int, int]], list[list[Any]]]:
    """Rows by window, the newest answer of each window and group; the last `limit` of them."""
    window = table.column("window").combine_chunks()
    if isinstance(window, pa.ChunkedArray):
        window = window.chunk(0)
    bounds = [_units(window.field(name)) for name in ("start", "end")]
    values = [table.column(n).to_pylist() for n in table.column_names if n != "window"]
    newest: dict[tuple[Any, ...], tuple[tuple[int, int], list[Any]]] = {}
    for row, edges in enumerate(zip(*bounds, strict=True)):
        shown = [plain(column[row]) for column in values]
        # Tables come newest first: in update mode a window's first row here is its latest answer.
        newest.setdefault((*edges, *map(str, shown[:keys])), (edges, shown))
    ordered = sorted(newest.values(), key=lambda one: (one[0], [str(v) for v in one[1][:keys]]))
    kept = ordered[-limit:]
    return [edges for edges, _ in kept], [shown for _, shown in kept]


def _units(edges: pa.Array) -> list[int]:
    """Window edges in axis units: microseconds of a time, or the integers that they are."""
    if pa.types.is_timestamp(edges.type):
        edges = edges.cast(pa.timestamp("us", edges.type.tz)).cast(pa.int64())
    elif pa.types.is_date(edges.type):
        edges = edges.cast(pa.timestamp("us")).cast(pa.int64())
    units: list[int] = edges.to_pylist()
    return units


def plain(value: Any) -> Any:
    """A value as JSON knows it; what a browser would change is text.

    >>> [plain(v) for v in (1, 2**60, 0.5, float("nan"), Decimal("1.10"), [date(2026, 1, 2)])]
    [1, '1152921504606846976', 0.5, 'NaN', '1.10', ['2026-01-02']]
    """
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, int):
        return value if abs(value) <= _EXACT else str(value)
    if isinstance(value, float):
        return (
            value
            if math.isfinite(value)
            else {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")
        )
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    return str(value) if isinstance(value, Decimal) else repr(value)
