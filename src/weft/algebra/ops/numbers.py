"""Partials that are plain numbers: counts, sums of doubles, products, extremes, bits, moments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.types as pt

from weft.algebra.monoid import Laws
from weft.algebra.ops import numba_ops as tags
from weft.algebra.ops.base import Columns, Mask, VectorOp, only, rounded, validity
from weft.algebra.ops.order import array_of, integers, is_number, numbers_of

Array: TypeAlias = npt.NDArray[Any]
_LEAST, _MOST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


@dataclass(frozen=True)
class Rule:
    """One operation on numbers: its neutral number, its NumPy form and its compiled form."""

    neutral: float | int
    apply: Callable[[Array, Array], Array]
    tag: Any
    undo: Callable[[Array, Array], Array] | None = None


# NaN is the greatest number: np.maximum returns NaN if either is, np.fmin the other number.
DOUBLES: dict[str, Rule] = {
    "sum": Rule(0.0, np.add, tags.Add()),
    "product": Rule(1.0, np.multiply, tags.Multiply()),
    "max": Rule(-np.inf, np.maximum, tags.Max()),
    "min": Rule(np.nan, np.fmin, tags.Min()),
}
INTEGERS: dict[str, Rule] = {
    "count": Rule(0, np.add, tags.Add(), np.subtract),
    "max": Rule(_LEAST, np.maximum, tags.Max()),
    "min": Rule(_MOST, np.minimum, tags.Min()),
    "bool_or": Rule(0, np.maximum, tags.Max()),
    "bool_and": Rule(1, np.minimum, tags.Min()),
    "bit_and": Rule(-1, np.bitwise_and, tags.BitAnd()),
    "bit_or": Rule(0, np.bitwise_or, tags.BitOr()),
    "bit_xor": Rule(0, np.bitwise_xor, tags.BitXor(), np.bitwise_xor),
}


class NumberOp(VectorOp):
    """One number per partial, and the count of non-null partials (left out for counts).

    Null is the neutral number with a count of zero, so that no step has to test for it.
    """

    def __init__(
        self,
        kind: str,
        laws: Laws,
        types: Sequence[pa.DataType],
        rule: Rule,
        nullable: bool = True,
    ) -> None:
        super().__init__(kind, laws, types)
        self.rule = rule
        self.floats = bool(pt.is_floating(self.types[0]))
        self.counted = nullable and kind != "count"

    @property
    def tag(self) -> Any:
        return self.rule.tag

    def lift(self, arguments: Sequence[pa.Array], where: Mask | None) -> Columns:
        if self.kind != "count":
            return self.encode([only(rounded(arguments[0], self.types[0]), where)])
        counted = where  # a count of rows, which has no argument, always gets a `where`
        for argument in arguments:
            counted = validity(argument) if counted is None else counted & validity(argument)
        assert counted is not None
        return (counted.astype(np.int64),)

    def encode(self, arrays: Sequence[pa.Array]) -> Columns:
        (array,) = arrays
        values = numbers_of(array)
        if not self.counted:
            return (values,)
        valid = validity(array)
        if array.null_count:
            values = np.where(valid, values, self.rule.neutral)
        return values, valid.astype(np.int64)

    def decode(self, columns: Columns) -> list[pa.Array]:
        values = columns[0]
        null = columns[1] == 0 if self.counted else np.zeros(len(values), dtype=bool)
        return [array_of(np.where(null, 0, values), self.types[0], null)]

    def combine(self, older: Columns, newer: Columns) -> Columns:
        with np.errstate(all="ignore"):  # infinities and NaN are values here, as in Spark
            value = self.rule.apply(older[0], newer[0])
        return (value, older[1] + newer[1]) if self.counted else (value,)

    def subtract(self, total: Columns, oldest: Columns) -> Columns:
        if self.rule.undo is None:
            return super().subtract(total, oldest)
        value = self.rule.undo(total[0], oldest[0])
        return (value, total[1] - oldest[1]) if self.counted else (value,)

    def blank(self, rows: int) -> Columns:
        values = np.full(rows, self.rule.neutral, dtype=np.float64 if self.floats else np.int64)
        return (values, np.zeros(rows, dtype=np.int64)) if self.counted else (values,)

    def is_blank(self, columns: Columns) -> npt.NDArray[np.bool_]:
        return np.asarray(columns[1] == 0 if self.counted else columns[0] == 0)


def number_op(
    kind: str, laws: Laws, types: Sequence[pa.DataType], nullable: bool = True
) -> NumberOp | None:
    """The numeric operation of a kind; None if it is not numeric over these types.

    If no partial is null and no window empty (`nullable=False`), no counts are needed.
    """
    if not is_number(types[0]):
        return None
    rule = (DOUBLES if pt.is_floating(types[0]) else INTEGERS).get(kind)
    return None if rule is None else NumberOp(kind, laws, types, rule, nullable)


class TrySumDouble(VectorOp):
    """`try_sum` of doubles, which cannot overflow: the total, and the count of rows."""

    @property
    def tag(self) -> Any:
        return tags.Add()

    def lift(self, arguments: Sequence[pa.Array], where: Mask | None) -> Columns:
        value = only(rounded(arguments[0], pa.float64()), where)
        return self.encode([value, pa.array(validity(value).astype(np.int64))])

    def encode(self, arrays: Sequence[pa.Array]) -> Columns:
        total = arrays[0].cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False)
        return total, integers(arrays[1])

    def decode(self, columns: Columns) -> list[pa.Array]:
        total, rows = columns
        null = rows == 0
        return [pa.array(total, mask=null if null.any() else None), pa.array(rows)]

    def combine(self, older: Columns, newer: Columns) -> Columns:
        with np.errstate(all="ignore"):
            return older[0] + newer[0], older[1] + newer[1]

    def blank(self, rows: int) -> Columns:
        return np.zeros(rows), np.zeros(rows, dtype=np.int64)

    def is_blank(self, columns: Columns) -> npt.NDArray[np.bool_]:
        return np.asarray(columns[1] == 0)


class MomentsOp(VectorOp):
    """`moments`, `moments4` and `comoments`: a count first, then means and sums of powers."""

    def __init__(self, kind: str, laws: Laws, types: Sequence[pa.DataType]) -> None:
        super().__init__(kind, laws, types)
        self._join, self._tag = _MOMENTS[kind]

    @property
    def tag(self) -> Any:
        return self._tag

    def lift(self, arguments: Sequence[pa.Array], where: Mask | None) -> Columns:
        valid = np.ones(len(arguments[0]), dtype=bool) if where is None else where
        for argument in arguments:
            valid = valid & validity(argument)
        values = []
        for argument in arguments:
            doubles = rounded(argument, pa.float64()).fill_null(0.0)
            values.append(np.where(valid, doubles.to_numpy(zero_copy_only=False), 0.0))
        with np.errstate(invalid="ignore"):
            zeros = [value * 0.0 for value in values]  # NaN for NaN and infinities, as in Spark
        n = valid.astype(np.int64)
        if self.kind == "comoments":
            return (n, *values, zeros[0] * zeros[1], *zeros)
        return (n, values[0], *zeros * (len(self.types) - 2))

    def encode(self, arrays: Sequence[pa.Array]) -> Columns:
        counts = integers(arrays[0])
        rest = (a.cast(pa.float64()).fill_null(0.0) for a in arrays[1:])
        return (counts, *(a.to_numpy(zero_copy_only=False) for a in rest))

    def decode(self, columns: Columns) -> list[pa.Array]:
        return [pa.array(column) for column in columns]

    def combine(self, older: Columns, newer: Columns) -> Columns:
        alone = (older[0] == 0) | (newer[0] == 0)
        with np.errstate(all="ignore"):
            joined = self._join(older, newer)
        if not alone.any():
            return joined
        other = older[0] != 0
        return tuple(
            np.where(alone, np.where(other, a, b), both)
            for a, b, both in zip(older, newer, joined, strict=True)
        )

    def blank(self, rows: int) -> Columns:
        counts, zeros = np.zeros(rows, dtype=np.int64), np.zeros(rows, dtype=np.float64)
        return (counts, *([zeros] * (len(self.types) - 1)))

    def is_blank(self, columns: Columns) -> npt.NDArray[np.bool_]:
        return np.asarray(columns[0] == 0)


def _moments(older: Columns, newer: Columns) -> Columns:
    (na, mean_a, m2_a), (nb, mean_b, m2_b) = older, newer
    n, delta = na + nb, mean_b - mean_a
    share = delta / n
    return n, mean_a + share * nb, m2_a + m2_b + delta * share * na * nb


def _moments4(older: Columns, newer: Columns) -> Columns:
    (na, mean_a, m2_a, m3_a, m4_a), (nb, mean_b, m2_b, m3_b, m4_b) = older, newer
    n, delta = na + nb, mean_b - mean_a
    share = delta / n
    a, b = na.astype(np.float64), nb.astype(np.float64)
    m2 = m2_a + m2_b + delta * share * a * b
    m3 = m3_a + m3_b + share * share * delta * a * b * (a - b)
    m3 += 3.0 * share * (a * m2_b - b * m2_a)
    m4 = m4_a + m4_b + share * share * share * delta * a * b * (a * a - a * b + b * b)
    m4 += 6.0 * share * share * (a * a * m2_b + b * b * m2_a)
    m4 += 4.0 * share * (a * m3_b - b * m3_a)
    return n, mean_a + share * b, m2, m3, m4


def _comoments(older: Columns, newer: Columns) -> Columns:
    (na, xa, ya, ca, m2xa, m2ya), (nb, xb, yb, cb, m2xb, m2yb) = older, newer
    n, dx, dy = na + nb, xb - xa, yb - ya
    sx, sy = dx / n, dy / n
    return (
        n,
        xa + sx * nb,
        ya + sy * nb,
        ca + cb + dx * sy * na * nb,
        m2xa + m2xb + dx * sx * na * nb,
        m2ya + m2yb + dy * sy * na * nb,
    )


_MOMENTS: dict[str, tuple[Callable[[Columns, Columns], Columns], Any]] = {
    "moments": (_moments, tags.Moments()),
    "moments4": (_moments4, tags.Moments4()),
    "comoments": (_comoments, tags.Comoments()),
}
