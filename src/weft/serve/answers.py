"""The latest answers of a query, read back from where the stream writes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from weft.query.query import Query
from weft.serve.models import AnswerColumn, Answers
from weft.sinks.files import Folder
from weft.sinks.long import FILES
from weft.sinks.manifests import Manifests
from weft.stream.as_json import plain, units_of

LOOKED_AT = 500
"""The number of micro-batches that are searched for answers, newest first."""


def latest_answers(
    sink: Mapping[str, Any] | None, query: Query, number: int | None, limit: int
) -> Answers:
    """About `limit` rows at most, from the newest micro-batches; no window is cut."""

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
            "Its statement makes other rows from its windows' answers, which are not shown here: "
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
    """A query's files as its manifests list them, newest first: only complete micro-batches."""
    for file in Manifests(folder).newest(str(number), LOOKED_AT):
        yield pq.read_table(f"{folder.path}/{file}", filesystem=folder.system)


def _long(folder: Folder, name: str) -> Iterator[pa.Table]:
    """A query's rows of the long table, newest first."""
    for file in Manifests(folder).newest(FILES, LOOKED_AT):
        path = f"{folder.path}/{file}"
        table = pq.read_table(
            path, filesystem=folder.system, filters=[("query", "==", name)], partitioning=None
        )
        if table.num_rows:
            yield table


def _rows(table: pa.Table, keys: int, limit: int) -> tuple[list[tuple[int, int]], list[list[Any]]]:
    """Rows by window, the newest answer of each window and group; the last `limit` of them."""
    bounds = units_of(table.column("window"))
    values = [table.column(n).to_pylist() for n in table.column_names if n != "window"]
    newest: dict[tuple[Any, ...], tuple[tuple[int, int], list[Any]]] = {}
    for row, edges in enumerate(bounds):
        shown = [plain(column[row]) for column in values]
        # Tables come newest first: in update mode a window's first row here is its latest answer.
        newest.setdefault((*edges, *map(str, shown[:keys])), (edges, shown))
    ordered = sorted(newest.values(), key=lambda one: (one[0], [str(v) for v in one[1][:keys]]))
    kept = ordered[-limit:]
    return [edges for edges, _ in kept], [shown for _, shown in kept]
