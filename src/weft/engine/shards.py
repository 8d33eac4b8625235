"""Tables of shards: a row per slice, fragment and group, with the partials of every part.

Columns: `slice` (its start), `fragment` (a number in the bucket's fragment table), `k{n}` the keys
and `p{n}_{component}` the partials, where n is the number that the store gave to the key or part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from weft.algebra.part import Part
from weft.algebra.registry import monoid_of
from weft.engine.by_group import combine_partials
from weft.engine.groups import Groups, group_rows

SLICE, FRAGMENT = "slice", "fragment"


@dataclass(frozen=True)
class NumberedPart:
    """A part with its number in the store, and the types of its components."""

    number: int
    part: Part
    types: tuple[pa.DataType, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """Its columns, in the order of its components."""
        return tuple(f"p{self.number}_{c.name}" for c in monoid_of(self.part).components)


@dataclass(frozen=True)
class NumberedKey:
    """A key with its number in the store."""

    number: int
    type: pa.DataType

    @property
    def column(self) -> str:
        """Its column."""
        return f"k{self.number}"


@dataclass(frozen=True)
class ShardSchema:
    """The keys and parts that a store currently keeps."""

    keys: tuple[NumberedKey, ...]
    parts: tuple[NumberedPart, ...]

    @property
    def arrow(self) -> pa.Schema:
        """The columns of its shards."""
        return pa.schema(
            [(SLICE, pa.int64()), (FRAGMENT, pa.int64())]
            + [(key.column, key.type) for key in self.keys]
            + [
                (column, type_)
                for part in self.parts
                for column, type_ in zip(part.columns, part.types, strict=True)
            ]
        )

    def conform(self, table: pa.Table) -> pa.Table:
        """The table with these columns: dropped ones are removed, new ones are null in old rows."""
        schema = self.arrow
        if table.schema.equals(schema):
            return table
        have = set(table.column_names)
        # Casts: a timestamp may have another time zone name, a string may be a large_string.
        arrays = {
            field.name: table.column(field.name).cast(field.type)
            for field in schema
            if field.name in have
        }
        for key in self.keys:
            if key.column not in have:
                arrays[key.column] = pa.nulls(table.num_rows, key.type)
        for part in self.parts:
            blank = monoid_of(part.part).identity
            for column, type_, value in zip(part.columns, part.types, blank, strict=True):
                if column not in have:
                    value = list(value) if isinstance(value, tuple) else value
                    arrays[column] = pa.array([value] * table.num_rows, type_)
        return pa.table([arrays[name] for name in schema.names], schema=schema)

    def merge(self, table: pa.Table, by: Sequence[str]) -> pa.Table:
        """One row per combination of the `by` columns; partials are combined in row order."""
        groups = group_rows([flat(table, name) for name in by], table.num_rows)
        if groups.distinct:
            return table
        return merged(table, by, self.parts, groups)


def merged(
    table: pa.Table, by: Sequence[str], parts: Sequence[NumberedPart], groups: Groups
) -> pa.Table:
    """The `by` columns and these parts' partials, one row per group."""
    first = pa.array(groups.first)
    arrays = {name: flat(table, name).take(first) for name in by}
    for part in parts:
        columns = tuple(flat(table, column) for column in part.columns)
        arrays.update(zip(part.columns, combine_partials(part.part, columns, groups), strict=True))
    return pa.table(arrays)


def flat(table: pa.Table, name: str) -> pa.Array:
    """A column as one array."""
    column = table.column(name)
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def by_slice(table: pa.Table) -> pa.Table:
    """The rows, stably sorted by slice."""
    slices = flat(table, SLICE).to_numpy()
    if len(slices) < 2 or bool(np.all(slices[1:] >= slices[:-1])):
        return table
    return table.take(pa.array(np.argsort(slices, kind="stable")))
