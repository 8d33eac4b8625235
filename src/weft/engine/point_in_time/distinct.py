"""Counts the distinct values in ranges of rows without collecting the values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from numba import njit

from weft.algebra.ops.base import Columns, validity
from weft.engine.groups import group_rows

Int64: TypeAlias = npt.NDArray[np.int64]
NO_VALUE = -1


class DistinctCounts:
    """Counts distinct values, or distinct tuples of values of which none is null.

    Ranges ascend at both ends, so each row enters and leaves only once: the cost is one step per
    row and per answer, however long the ranges are.

    >>> counts = DistinctCounts([pa.array(["a", "b", None, "a"])], None)
    >>> counts.over(np.array([0, 0, 2]), np.array([2, 4, 4]))[0].tolist()
    [2, 2, 1]
    """

    in_order = True

    def __init__(self, arguments: Sequence[pa.Array], where: npt.NDArray[np.bool_] | None) -> None:
        rows = len(arguments[0])
        groups = group_rows(list(arguments), rows)
        counted = np.ones(rows, dtype=bool) if where is None else where
        for argument in arguments:
            counted = counted & validity(argument)
        self.codes = np.where(counted, groups.ids, NO_VALUE)
        self.size = groups.count

    def over(self, low: Int64, high: Int64) -> Columns:
        """How many distinct values every range `[low, high)` has; low and high ascend."""
        out = np.empty(len(low), dtype=np.int64)
        _slide(self.codes, np.zeros(self.size, dtype=np.int64), low, high, out)
        return (out,)


@njit(cache=True)
def _slide(codes: Int64, held: Int64, low: Int64, high: Int64, out: Int64) -> None:
    """`held` counts how often each value is in the range."""
    if len(low) == 0:
        return
    first = last = low[0]
    distinct = 0
    for answer in range(len(low)):
        begin, end = low[answer], high[answer]
        while first < min(begin, last):
            code = codes[first]
            if code != NO_VALUE:
                held[code] -= 1
                distinct -= held[code] == 0
            first += 1
        if last < begin:  # skip rows between two ranges, which are in none
            first = last = begin
        while last < end:
            code = codes[last]
            if code != NO_VALUE:
                distinct += held[code] == 0
                held[code] += 1
            last += 1
        out[answer] = distinct
