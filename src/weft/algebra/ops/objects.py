"""Partials that only their own library can combine (sketches): by the monoid, value by value."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from weft.algebra.monoid import Monoid
from weft.algebra.ops.base import Columns, Mask, Rows, VectorOp, flat, only, rounded
from weft.algebra.part import Part


class ObjectOp(VectorOp):
    """Arrow arrays, combined through Python by the monoid itself; correct for every kind."""

    def __init__(self, monoid: Monoid, types: Sequence[pa.DataType]) -> None:
        super().__init__(monoid.kind, monoid.laws, types)
        self.monoid = monoid

    def lift(self, arguments: Sequence[pa.Array], where: Mask | None) -> Columns:
        rows = zip(*(only(argument, where).to_pylist() for argument in arguments), strict=True)
        return self.columns([self.monoid.lift(*row) for row in rows])

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


class SketchOp(ObjectOp):
    """Sketches of Apache DataSketches: one per group, updated in place.

    One per row would take a kilobyte each.
    """

    def __init__(self, part: Part, monoid: Monoid, types: Sequence[pa.DataType]) -> None:
        super().__init__(monoid, types)
        self.size = part.options[0]

    def lift_groups(
        self, arguments: Sequence[pa.Array], where: Mask | None, ids: Rows, count: int
    ) -> Columns:
        column = only(arguments[0], where)
        kept = np.flatnonzero(column.is_valid().to_numpy(zero_copy_only=False))
        kept = kept[np.argsort(ids[kept], kind="stable")]
        cuts = np.searchsorted(ids[kept], np.arange(count + 1)).tolist()
        values = column.take(pa.array(kept))
        made = self._hll(values, cuts) if self.kind == "hll" else self._kll(values, cuts)
        return (pa.array(made, pa.binary()),)

    def _hll(self, values: pa.Array, cuts: list[int]) -> list[bytes | None]:
        from datasketches import hll_sketch, tgt_hll_type

        from weft.algebra.sketches import hashable

        sketches: list[bytes | None] = []
        for low, high in pairwise(cuts):
            if low == high:
                sketches.append(None)
                continue
            sketch = hll_sketch(self.size, tgt_hll_type.HLL_8)
            for value in {hashable(value) for value in values[low:high].to_pylist()}:
                sketch.update(value)
            sketches.append(bytes(sketch.serialize_compact()))
        return sketches

    def _kll(self, values: pa.Array, cuts: list[int]) -> list[bytes | None]:
        from datasketches import kll_doubles_sketch

        # A copy, because the sketch does not accept a read-only array.
        doubles = np.array(rounded(values, pa.float64()).to_numpy(zero_copy_only=False))
        sketches: list[bytes | None] = []
        for low, high in pairwise(cuts):
            if low == high:
                sketches.append(None)
                continue
            sketch = kll_doubles_sketch(self.size)
            sketch.update(doubles[low:high])
            sketches.append(bytes(sketch.serialize()))
        return sketches
