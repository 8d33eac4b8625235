"""Exact sums of integers and decimals: 128-bit integers as two arrays of 64 bits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.types as pt

from weft.algebra.monoid import Laws
from weft.algebra.ops.base import Columns, Mask, VectorOp, only, validity
from weft.algebra.ops.numba_ops import Wide
from weft.algebra.ops.order import integers
from weft.errors import AggregateError

UInt64: TypeAlias = npt.NDArray[np.uint64]
Int64: TypeAlias = npt.NDArray[np.int64]
Limbs: TypeAlias = tuple[UInt64, Int64]
"""The low and the high 64 bits of 128-bit integers in two's complement."""

_ALL = (1 << 64) - 1
_NEAR = 1.5e38
"""Less than 2**127, where 128 bits overflow, and more than any decimal."""


def limbs(array: pa.Array) -> Limbs:
    """The 128-bit integers of an integer array, or the unscaled ones of a decimal array.

    >>> low, high = limbs(pa.array([5, -1]))
    >>> high.tolist(), low[0]
    ([0, -1], np.uint64(5))
    """
    if not pt.is_decimal(array.type):
        values = integers(array)
        return values.view(np.uint64), values >> 63
    array = array.cast(pa.decimal128(array.type.precision, array.type.scale))
    pairs = np.frombuffer(
        array.buffers()[1], dtype=np.uint64, count=2 * (array.offset + len(array))
    )
    pairs = pairs.reshape(-1, 2)[array.offset :]
    low, high = pairs[:, 0].copy(), pairs[:, 1].view(np.int64).copy()
    if array.null_count:
        null = ~validity(array)
        low[null], high[null] = 0, 0
    return low, high


def add(a: Limbs, b: Limbs) -> Limbs:
    """Sums modulo 2**128."""
    low = a[0] + b[0]
    return low, a[1] + b[1] + (low < a[0])


def take_away(a: Limbs, b: Limbs) -> Limbs:
    """Differences modulo 2**128."""
    return a[0] - b[0], a[1] - b[1] - (a[0] < b[0])


def fits(value: Limbs, kind: pa.DataType) -> npt.NDArray[np.bool_]:
    """Whether each number fits the type: a 64-bit integer, or a decimal of its precision."""
    low, high = value
    if not pt.is_decimal(kind):
        return np.asarray(high == low.view(np.int64) >> 63)
    bound = 10**kind.precision
    return _below(value, bound) & ~_below(value, 1 - bound)


def _below(value: Limbs, bound: int) -> npt.NDArray[np.bool_]:
    low, high = np.uint64(bound & _ALL), np.int64(bound >> 64)
    return np.asarray((value[1] < high) | ((value[1] == high) & (value[0] < low)))


def to_arrow(value: Limbs, kind: pa.DataType, null: npt.NDArray[np.bool_]) -> pa.Array:
    """The array of the type with these numbers, which must fit where they are not null."""
    if not pt.is_decimal(kind):
        return pa.array(value[0].view(np.int64), mask=null if null.any() else None).cast(kind)
    pairs = np.empty((len(value[0]), 2), dtype=np.uint64)
    pairs[:, 0], pairs[:, 1] = value[0], value[1].view(np.uint64)
    valid = pa.array(~null).buffers()[1] if null.any() else None
    return pa.Array.from_buffers(kind, len(pairs), [valid, pa.py_buffer(pairs)])


class WideSum(VectorOp):
    """`sum` and `try_sum` of integers and decimals: exact in any order of adding.

    Columns: low, high, the count of non-null partials, and for `try_sum` the count of rows and of
    partials that had overflowed before; for the longest decimals, also the total as a double. Only
    an answer can overflow, never an intermediate result: then `sum` is an error, as in Spark with
    ANSI mode, and `try_sum` is null.
    """

    def __init__(self, kind: str, laws: Laws, types: Sequence[pa.DataType]) -> None:
        super().__init__(kind, laws, types)
        self.tries = kind == "try_sum"
        self.near = bool(pt.is_decimal(types[0]) and types[0].precision > 36)
        """Whether totals may overflow 128 bits and wrap around: then the last column, the total as
        a double, shows it."""

    @property
    def tag(self) -> Wide | None:
        return None if self.tries or self.near else Wide()

    def lift(self, arguments: Sequence[pa.Array], where: Mask | None) -> Columns:
        value = only(arguments[0], where)
        counts = [pa.array(validity(value).astype(np.int64))] if self.tries else []
        return self.encode([value, *counts])

    def encode(self, arrays: Sequence[pa.Array]) -> Columns:
        low, high = limbs(arrays[0])
        valid = validity(arrays[0]).astype(np.int64)
        about = (high * 2.0**64 + low.astype(np.float64),) if self.near else ()
        if not self.tries:
            return low, high, valid, *about
        rows = integers(arrays[1])
        return low, high, valid, rows, ((rows > 0) & (valid == 0)).astype(np.int64), *about

    def decode(self, columns: Columns) -> list[pa.Array]:
        value, null = (columns[0], columns[1]), columns[2] == 0
        fitting = fits(value, self.types[0])
        if self.near:
            fitting &= np.abs(columns[-1]) < _NEAR
        if self.tries:
            null = null | ~fitting | (columns[4] > 0)
            return [to_arrow(value, self.types[0], null), pa.array(columns[3])]
        if not (fitting | null).all():
            raise AggregateError(
                f"sum overflows {self.types[0]}: a total is beyond its limits, an error in Spark "
                f"(ANSI) too; use try_sum, or cast the argument to a wider decimal"
            )
        return [to_arrow(value, self.types[0], null)]

    def combine(self, older: Columns, newer: Columns) -> Columns:
        counts = (a + b for a, b in zip(older[2:], newer[2:], strict=True))
        return (*add(older[:2], newer[:2]), *counts)

    def subtract(self, total: Columns, oldest: Columns) -> Columns:
        counts = (a - b for a, b in zip(total[2:], oldest[2:], strict=True))
        return (*take_away(total[:2], oldest[:2]), *counts)

    def blank(self, rows: int) -> Columns:
        zeros = np.zeros(rows, dtype=np.int64)
        about = (np.zeros(rows),) if self.near else ()
        return (zeros.view(np.uint64), *([zeros] * (4 if self.tries else 2)), *about)

    def is_blank(self, columns: Columns) -> npt.NDArray[np.bool_]:
        return np.asarray(columns[3 if self.tries else 2] == 0)
