"""Partials that only their own library can combine (sketches): the monoid, value by value."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from weft.algebra.monoid import Monoid
from weft.algebra.ops.base import Columns, VectorOp, flat


class ObjectOp(VectorOp):
    """Arrow arrays, combined through Python by the monoid itself; correct for every kind."""

    def __init__(self, monoid: Monoid, types: Sequence[pa.DataType]) -> None:
        super().__init__(monoid.kind, monoid.laws, types)
        self.monoid = monoid

    def encode(self, arrays: Sequence[pa.Array]) -> Columns:
        return tuple(flat(array) for array in arrays)

    def decode(self, columns: Columns) -> list[pa.Array]:
        return list(columns)

    def combine(self, older: Columns, newer: Columns) -> Columns:
        left = zip(*(column.to_pylist() for column in older), strict=True)
        right = zip(*(column.to_pylist() for column in newer), strict=True)
        combined = [self.monoid.combine(a, b) for a, b in zip(left, right, strict=True)]
        return self.columns(combined)

    def columns(self, partials: Sequence[tuple[object, ...]]) -> Columns:
        """The columns of partials given as Python values."""
        return tuple(
            pa.array([partial[position] for partial in partials], kind)
            for position, kind in enumerate(self.types)
        )

    def blank(self, rows: int) -> Columns:
        return self.columns([self.monoid.identity] * rows)

    def is_blank(self, columns: Columns) -> npt.NDArray[np.bool_]:
        identity = self.monoid.identity
        rows = zip(*(column.to_pylist() for column in columns), strict=True)
        return np.array([row == identity for row in rows], dtype=bool)

    def unpack(self, arrays: Sequence[pa.Array]) -> Columns:
        return tuple(arrays)
