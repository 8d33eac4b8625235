"""Combines ranges of exact numbers as differences of running totals: one look-up at each end."""

from __future__ import annotations

from functools import reduce
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from weft.algebra.ops.base import Columns, VectorOp
from weft.algebra.ops.wide import WideSum, add, take_away

Int64: TypeAlias = npt.NDArray[np.int64]


class Combined(Protocol):
    """Partials prepared so that any ranges of them can be combined."""

    in_order: bool
    """Whether the ranges of one call have to ascend at both ends."""

    def over(self, low: Int64, high: Int64) -> Columns:
        """The combination of every row range `[low, high)`; none is empty."""


def by_subtraction(op: VectorOp, columns: Columns) -> Combined | None:
    """Exact numbers as differences of running totals."""
    if isinstance(op, WideSum):
        return _WideTotals(columns)
    if op.kind == "count":
        return _Totals(columns)
    if op.kind == "bit_xor":
        return Counted(_RunningXor(columns[0]), columns[1])
    return None


def _running(values: Int64) -> Int64:
    """Totals of the rows before each row, and of all rows; overflow cancels in differences."""
    totals = np.zeros(len(values) + 1, dtype=values.dtype)
    np.cumsum(values, out=totals[1:])
    return totals


class _Totals:
    """Integers: a range's total is the difference of two running totals."""

    in_order = False

    def __init__(self, columns: Columns) -> None:
        self.running = tuple(_running(column) for column in columns)

    def over(self, low: Int64, high: Int64) -> Columns:
        return tuple(totals[high] - totals[low] for totals in self.running)


class _RunningXor:
    """XOR is its own inverse: combine the running XOR at both ends of the range."""

    in_order = False

    def __init__(self, bits: Int64) -> None:
        self.running = np.concatenate([[0], np.bitwise_xor.accumulate(bits)])

    def over(self, low: Int64, high: Int64) -> Columns:
        return (self.running[high] ^ self.running[low],)


class Counted:
    """Combines one number by another method, and the number of non-null partials by counting."""

    def __init__(self, values: Combined, count: Int64) -> None:
        self.values, self.in_order = values, values.in_order
        self.count = None if (count > 0).all() else _Totals((count,))

    def over(self, low: Int64, high: Int64) -> Columns:
        counts = (high - low,) if self.count is None else self.count.over(low, high)
        return (*self.values.over(low, high), *counts)


class _WideTotals:
    """Exact sums: in 64 bits if no range can overflow them, else in 128."""

    in_order = False

    def __init__(self, columns: Columns) -> None:
        low, high, *counts = columns
        self.counts = _Totals(tuple(counts))
        narrow = low.view(np.int64)
        # Below this bound no total exceeds 64 bits, even though the bound itself is rounded.
        small = bool((high == narrow >> 63).all()) and (
            float(np.abs(narrow.astype(np.float64)).sum()) < 2.0**62
        )
        self.narrow = _running(narrow) if small else None
        self.wide = None if small else _running_wide((low, high))

    def over(self, low: Int64, high: Int64) -> Columns:
        counts = self.counts.over(low, high)
        if self.narrow is not None:
            total = self.narrow[high] - self.narrow[low]
            return (total.view(np.uint64), total >> 63, *counts)
        assert self.wide is not None
        lower, upper = self.wide
        return (*take_away((lower[high], upper[high]), (lower[low], upper[low])), *counts)


def _running_wide(value: Any) -> Any:
    """Running totals of 128-bit numbers, from those of their 32-bit digits, without overflow."""
    low, high = value
    mask = np.uint64(0xFFFFFFFF)
    digits = [low & mask, low >> np.uint64(32), high.view(np.uint64) & mask]
    top = _running(high >> 32)
    runs = [_running(digit.view(np.int64)) for digit in digits]
    shifted = []
    for place, run in enumerate([*runs, top]):
        # run * 2**(32 * place), modulo 2**128
        wide = (run.view(np.uint64), run >> 63)
        if place >= 2:
            wide = (np.zeros(len(run), dtype=np.uint64), run)
        if place % 2:
            lower, upper = wide
            carried = (lower >> np.uint64(32)).view(np.int64)
            wide = (lower << np.uint64(32), (upper << 32) | carried)
        shifted.append(wide)
    return reduce(add, shifted)
