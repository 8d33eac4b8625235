"""As-of answers: the value of a query's window after a micro-batch, and how it is reported."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa

from weft.engine.answer import Combined
from weft.engine.groups import group_rows
from weft.engine.lowering import Lowerings
from weft.engine.program import Program
from weft.engine.query_windows import QueryWindows
from weft.engine.shards import flat
from weft.engine.state.as_of import (
    Moment,
    ReadOnly,
    WindowAt,
    answers_at,
    asked_window,
    open_sessions,
)
from weft.engine.state.bucket import Bucket
from weft.sinks.wire import FIGURES, to_wire
from weft.stream.as_json import plain, units_of

LIMIT = 5_000
"""Limit of the rows of an answer that other processes get."""
_SCHEMA = pa.schema(
    [("query", pa.int32()), ("bucket", pa.int32()), ("rows", pa.int64()), ("payload", pa.binary())]
)


@dataclass(frozen=True, eq=False)
class AsOf:
    """The answers of one window of a query, or of its open sessions, for all groups or some.

    `table` has the columns and types of the plain query; `rows()` returns dictionaries.
    """

    query: str
    batch: int
    """The micro-batch that it is consistent with: exactly the rows up to it count."""
    open: bool
    """Whether rows may still be added to the window; if not, the answer is final."""
    window: tuple[int, int] | None
    """Start and end, in units of the axis; None for sessions, which differ in both."""
    watermark: int
    """The query's watermark, in units of the axis: windows that end by it are closed. The stream's
    watermark is later by the query's lateness."""
    table: pa.Table

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def rows(self) -> list[dict[str, Any]]:
        """A dictionary per group: `window`, keys and aggregates."""
        found: list[dict[str, Any]] = self.table.to_pylist()
        return found

    def to_pandas(self) -> Any:
        """The same as a pandas DataFrame."""
        return self.table.to_pandas()

    def to_dict(self, limit: int = LIMIT) -> dict[str, Any]:
        """As JSON values, with at most `limit` rows; `groups` is how many there are."""
        table = self.table.slice(0, limit)
        names = [name for name in table.column_names if name != "window"]
        columns = [[plain(value) for value in table.column(name).to_pylist()] for name in names]
        edges = units_of(table.column("window")) if "window" in table.column_names else []
        order = sorted(
            range(table.num_rows),
            key=lambda at: (edges[at : at + 1], [str(column[at]) for column in columns]),
        )
        return {
            **{name: value for name, value in self.__dict__.items() if name != "table"},
            "columns": [
                {"name": name, "type": str(table.schema.field(name).type)} for name in names
            ],
            "windows": [edges[at] for at in order] if edges else [],
            "rows": [[column[at] for column in columns] for at in order],
            "groups": len(self),
        }


@dataclass(frozen=True)
class Question:
    """A request to the state: one window of some queries, the same for all of them."""

    numbers: tuple[int, ...]
    windows: QueryWindows
    at: int | None
    complete_from: int | None

    def window(self, moment: Moment) -> WindowAt | None:
        """The requested window; None for sessions, and if no row has arrived yet."""
        if self.windows.session:
            return None
        return asked_window(self.windows, self.at, self.complete_from, moment)


@dataclass(frozen=True)
class AnswerFromState:
    """For `mapInArrow`: answers from the pieces of some buckets, as the operator's output rows."""

    program: Program
    lowerings: Lowerings
    question: Question

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        buckets: dict[int, dict[str, bytes]] = {}
        for batch in batches:
            columns = (batch.column(name).to_pylist() for name in ("bucket", "name", "data"))
            for bucket, name, data in zip(*columns, strict=True):
                buckets.setdefault(bucket, {})[name] = data
        for number, pieces in buckets.items():
            yield self._answers(number, Bucket(self.program, ReadOnly(pieces)))

    def _answers(self, number: int, bucket: Bucket) -> pa.RecordBatch:
        moment = Moment(bucket.frontier, bucket.index.max_event_time)
        made = [(FIGURES, 0, json.dumps(asdict(moment)).encode())]
        window = self.question.window(moment)
        found: Iterator[Combined] = iter(())
        if self.question.windows.session:
            found = open_sessions(bucket)
        elif window is not None and window.is_open(self.question.windows, moment):
            found = answers_at(bucket, window)
        for combined in found:
            for numbers, table in self.lowerings.answers(combined):
                made += [(query, table.num_rows, to_wire(table)) for query in numbers]
        queries, rows, payloads = zip(*made, strict=True)
        columns = [queries, [number] * len(made), rows, payloads]
        arrays = [pa.array(c, f.type) for c, f in zip(columns, _SCHEMA, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA)


def agreed(figures: Sequence[Mapping[str, Any]]) -> Moment | None:
    """The progress that all buckets agree on; None if there is no state yet."""
    moments = [Moment(**one) for one in figures]
    if not moments:
        return None
    times = [m.max_event_time for m in moments if m.max_event_time is not None]
    return Moment(max(m.frontier for m in moments), max(times, default=None))


def only_groups(table: pa.Table, wanted: pa.Table) -> pa.Table:
    """The rows whose keys equal those of the single row of `wanted`, by Spark's grouping equality.

    >>> table = pa.table({"k": ["a", None, "a"], "n": [1, 2, 3]})
    >>> only_groups(table, pa.table({"k": ["a"]})).column("n").to_pylist()
    [1, 3]
    """
    if not table.num_rows:
        return table
    columns = [
        pa.concat_arrays([flat(wanted, name).cast(flat(table, name).type), flat(table, name)])
        for name in wanted.column_names
    ]
    ids = group_rows(columns, table.num_rows + 1).ids
    return table.filter(pa.array(ids[1:] == ids[0]))
