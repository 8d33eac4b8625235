"""Group numbers for rows of Arrow columns: dense, by hashing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Groups:
    """The group number of every row, numbered by first appearance."""

    ids: Int64
    count: int

    @cached_property
    def first(self) -> Int64:
        """The first row of each group."""
        rows = np.empty(self.count, dtype=np.int64)
        rows[self.ids[::-1]] = np.arange(len(self.ids) - 1, -1, -1)
        return rows

    @cached_property
    def array(self) -> pa.Array:
        """The group numbers as an Arrow column."""
        return pa.array(self.ids)

    @property
    def distinct(self) -> bool:
        """Whether no two rows are in the same group, so that there is nothing to combine."""
        return self.count == len(self.ids)


def group_rows(columns: Sequence[pa.Array | Int64], rows: int) -> Groups:
    """Number the groups of equal values in `columns`; null is a group too, as in Spark.

    >>> groups = group_rows([pa.array(["a", "b", "a", None]), pa.array([1, 1, 1, 1])], 4)
    >>> groups.ids.tolist(), groups.count, groups.first.tolist()
    ([0, 1, 0, 2], 3, [0, 1, 3])
    """
    ids, count = np.zeros(rows, dtype=np.int64), min(rows, 1)
    for column in columns:
        codes, size = _codes(column)
        if size <= 1:
            continue
        if count <= 1:
            ids, count = codes, size
        else:  # both are dense, so the product of two counts of rows cannot overflow
            ids, count = _dense(ids * size + codes)
    return Groups(ids, count)


def _codes(column: pa.Array | Int64) -> tuple[Int64, int]:
    if isinstance(column, np.ndarray):
        return _dense(column)
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pa.types.is_nested(column.type):
        return _nested_codes(column)
    encoded = column.dictionary_encode("encode")
    return encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64), len(encoded.dictionary)


def _dense(values: Int64) -> tuple[Int64, int]:
    encoded = pa.array(values).dictionary_encode()
    return encoded.indices.to_numpy().astype(np.int64), len(encoded.dictionary)


def _nested_codes(column: pa.Array) -> tuple[Int64, int]:
    """Codes for nested values, which Arrow cannot hash: by a struct's fields, a list's elements."""
    valid = pc.is_valid(column)
    if pa.types.is_struct(column.type):
        groups = group_rows([valid, *column.flatten()], len(column))
        return groups.ids, groups.count
    seen: dict[str, int] = {}
    codes = [seen.setdefault(repr(value), len(seen)) for value in column.to_pylist()]
    return np.array(codes, dtype=np.int64), len(seen)
