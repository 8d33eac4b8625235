"""All answers in one long table, with their types."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from weft.plan.lower import having_condition, lowered_outputs
from weft.plan.time_axis import TimeAxis, quote
from weft.query.query import Query
from weft.spark.batch.run import Direct, SharedFrame


@dataclass(frozen=True)
class LongRows:
    """The answers of some queries as SQL over one frame: each column's expression and type."""

    frame: DataFrame
    query: str
    window: str
    columns: dict[tuple[str, str], str]
    """Expression by column name and type."""


def long_table(pieces: Sequence[SharedFrame | Direct], axis: TimeAxis) -> DataFrame:
    """The answers of all pieces: `query`, `window`, then keys and aggregates by name."""
    parts = [_direct(p) if isinstance(p, Direct) else _woven(p, axis) for p in pieces]
    types: dict[str, dict[str, None]] = {}
    for part in parts:
        for name, kind in part.columns:
            types.setdefault(name, {})[kind] = None
    frames = []
    for part in parts:
        columns = [f"{part.query} AS query", f"{part.window} AS window"]
        for name, kinds in types.items():
            for kind in kinds:
                shown = name if len(kinds) == 1 else f"{name}_{kind}"
                value = part.columns.get((name, kind), f"CAST(NULL AS {kind})")
                columns.append(f"{value} AS {quote(shown)}")
        frames.append(part.frame.selectExpr(*columns))
    return reduce(DataFrame.unionAll, frames)


def _direct(piece: Direct) -> LongRows:
    columns = {
        (field.name, field.dataType.simpleString()): quote(field.name)
        for field in piece.frame.schema.fields[1:]
    }
    return LongRows(piece.frame, _text(piece.query.name), "window", columns)


def _woven(piece: SharedFrame, axis: TimeAxis) -> LongRows:
    """A grouping set's answers: each row of a target becomes one row per query of the target."""
    layout, queries = piece.layout, piece.queries
    number = {query.name: position for position, query in enumerate(queries)}
    asked: dict[int, list[int]] = {}
    for query, (grouping_set, target) in zip(layout.queries, layout.places, strict=True):
        if grouping_set == piece.grouping_set:
            asked.setdefault(target, []).append(number[query.name])
    most = max(asked, default=0)
    frame = piece.frame
    single = all(len(some) == 1 for some in asked.values())
    table = [asked.get(target, []) for target in range(most + 1)]
    if single:
        flat = [some[0] if some else 0 for some in table]
        frame = frame.withColumn("weft_q", F.expr(_at(flat, "array<int>", "target")))
    else:
        listed = _at(table, "array<array<int>>", "target")
        frame = frame.withColumn("weft_q", F.explode(F.expr(listed)))
    kept = _having(piece, queries, axis)
    frame = frame if kept is None else frame.where(kept)
    names = _at([query.name for query in queries], "array<string>", "weft_q")
    ranges = _at([query.window.range for query in queries], "array<bigint>", "weft_q")
    window = axis.session("start", "end" if layout.has_ends else f"(start + {ranges})")
    # By column name and expression, the queries that have such a column.
    wanted: dict[str, dict[str, list[int]]] = {}
    for position, query in enumerate(queries):
        for key in query.keys:
            sql = f"k{layout.keys.index(key.expression)}"
            wanted.setdefault(key.name, {}).setdefault(sql, []).append(position)
        for name, sql in lowered_outputs(layout, query).items():
            wanted.setdefault(name, {}).setdefault(sql, []).append(position)
    expressions = [(name, sql) for name, some in wanted.items() for sql in some]
    kinds = [
        field.dataType.simpleString()
        for field in frame.selectExpr(*(f"{sql} AS c{i}" for i, (_, sql) in enumerate(expressions)))
        .schema.fields
    ]  # fmt: skip
    columns: dict[tuple[str, str], str] = {}
    by_type: dict[tuple[str, str], list[tuple[str, list[int]]]] = {}
    for (name, sql), kind in zip(expressions, kinds, strict=True):
        by_type.setdefault((name, kind), []).append((sql, wanted[name][sql]))
    for column, choices in by_type.items():
        if len(choices) == 1 and len(choices[0][1]) == len(queries):
            columns[column] = choices[0][0]
        else:
            branches = " ".join(
                f"WHEN weft_q IN ({', '.join(map(str, some))}) THEN {sql}" for sql, some in choices
            )
            columns[column] = f"CASE {branches} END"
    return LongRows(frame, names, window, columns)


def _having(piece: SharedFrame, queries: Sequence[Query], axis: TimeAxis) -> str | None:
    """SQL of the rows to keep: each query's HAVING on its rows; None if no query has one."""
    asked: dict[str, list[int]] = {}
    for position, query in enumerate(queries):
        condition = having_condition(piece.layout, query, axis)
        if condition is not None:
            asked.setdefault(condition, []).append(position)
    if not asked:
        return None
    branches = " ".join(
        f"WHEN weft_q IN ({', '.join(map(str, some))}) THEN {condition}"
        for condition, some in asked.items()
    )
    return f"CASE {branches} ELSE true END"


def _at(values: Sequence[object], kind: str, index: str) -> str:
    """SQL of the entry of a table at a position; the table is one literal, which Spark folds."""
    return f"element_at(from_json({_text(json.dumps(values))}, '{kind}'), {index} + 1)"


def _text(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
