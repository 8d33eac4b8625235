"""First, last, min_by, max_by over numbers: the same picks as in `picks`, but in NumPy arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.types as pt

from weft.algebra.ops import numba_ops as tags
from weft.algebra.ops.base import Columns, VectorOp, flat, validity
from weft.algebra.ops.order import array_of, float_keys, is_number, numbers_of
from weft.algebra.ops.picks import PickOp

__all__ = ["TAGS", "NumberPickOp", "is_number"]

TAGS: dict[str, Any] = {
    "first": tags.First(),
    "first_valid": tags.First(),
    "last": tags.Last(),
    "last_valid": tags.Last(),
    "first_at": tags.Earliest(),
    "first_valid_at": tags.Earliest(),
    "last_at": tags.MaxBy(),
    "last_valid_at": tags.MaxBy(),
    "min_by": tags.MinBy(),
    "max_by": tags.MaxBy(),
}


class NumberPickOp(PickOp):
    """Columns: whether any row was seen; the value compared by, if any; the value; and, if it is
    nullable, whether it is not null."""

    @property
    def tag(self) -> Any:
        return TAGS[self.kind]

    @property
    def _value(self) -> int:
        """The position of the component that is the value."""
        return len(self.types) - 1

    def encode(self, arrays: Sequence[pa.Array]) -> Columns:
        first, value = flat(arrays[0]), flat(arrays[self._value])
        if self.kind in ("first", "last"):
            seen = numbers_of(first)
            return seen, numbers_of(value), validity(value).astype(np.int64)
        seen = validity(first).astype(np.int64)
        if len(self.types) == 1:
            return seen, numbers_of(value)
        return seen, numbers_of(first), numbers_of(value), validity(value).astype(np.int64)

    def decode(self, columns: Columns) -> list[pa.Array]:
        unseen = columns[0] == 0
        if len(self.types) == 1:
            return [array_of(np.where(unseen, 0, columns[1]), self.types[0], unseen)]
        *_, value, valid = columns
        null = unseen | (valid == 0)
        values = array_of(np.where(null, 0, value), self.types[1], null)
        if self.kind in ("first", "last"):
            return [pa.array(~unseen), values]
        return [array_of(np.where(unseen, 0, columns[1]), self.types[0], unseen), values]

    def seen(self, columns: Columns) -> npt.NDArray[np.bool_]:
        return np.asarray(columns[0] != 0)

    def keys(self, columns: Columns) -> npt.NDArray[np.int64]:
        by = columns[1]
        return float_keys(by) if by.dtype == np.float64 else by

    def combine(self, older: Columns, newer: Columns) -> Columns:
        wins = self.newer_wins(self.concat([older, newer]), len(older[0]))
        return tuple(np.where(wins, b, a) for a, b in zip(older, newer, strict=True))

    def blank(self, rows: int) -> Columns:
        def zeros(kind: pa.DataType) -> npt.NDArray[Any]:
            return np.zeros(rows, dtype=np.float64 if pt.is_floating(kind) else np.int64)

        long, value = pa.int64(), self.types[self._value]
        if len(self.types) == 1:
            return zeros(long), zeros(value)
        if self.kind in ("first", "last"):
            return zeros(long), zeros(value), zeros(long)
        return zeros(long), zeros(self.types[0]), zeros(value), zeros(long)

    def unpack(self, arrays: Sequence[pa.Array]) -> Columns:
        return VectorOp.unpack(self, arrays)
