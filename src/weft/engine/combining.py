"""Partials in Arrow columns, combined by group; rows come older first.

The meaning of every kind of part is that of `weft.algebra.ops`, as in the batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from weft.algebra.ops import bind
from weft.algebra.part import Part
from weft.engine.finals.batch.grouped import by_group
from weft.engine.groups import Groups

Columns = tuple[pa.Array, ...]


def combine(part: Part, columns: Columns, groups: Groups) -> Columns:
    """The partials of each group combined, older first: one row per group.

    >>> from weft.engine.groups import group_rows
    >>> groups = group_rows([pa.array(["a", "b", "a"])], 3)
    >>> [c.to_pylist() for c in combine(Part("sum", ("x",)), (pa.array([1, None, 4]),), groups)]
    [[5, None]]
    """
    if groups.distinct:
        return columns
    op = bind(part, [column.type for column in columns])
    return tuple(op.decode(by_group(op, op.encode(columns), groups.ids, groups.count)))


def to_python(column: pa.Array) -> list[Any]:
    """Values as monoids have them: lists and structs as tuples.

    >>> to_python(pa.array([[{"at": 1, "value": "a"}], None]))
    [((1, 'a'),), None]
    """
    values = column.to_pylist()
    return [_tuples(value) for value in values] if pa.types.is_nested(column.type) else values


def _tuples(value: Any) -> Any:
    if isinstance(value, dict):
        return tuple(_tuples(item) for item in value.values())
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value


def from_python(partials: Sequence[tuple[object, ...]], types: Sequence[pa.DataType]) -> Columns:
    """Partials as Arrow columns of these types."""
    columns = zip(*partials, strict=True) if partials else ([] for _ in types)
    return tuple(
        pa.array(list(column), type=type_) for column, type_ in zip(columns, types, strict=True)
    )
