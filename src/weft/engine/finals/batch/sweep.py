"""One query at a time: suffixes up to a moving middle, and a running total after it."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from numba import njit

from weft.algebra.ops.numba_ops import combine, load, save

Int64: TypeAlias = npt.NDArray[np.int64]


@njit(cache=True)
def sweep(tag: Any, partials: Any, low: Int64, high: Int64, suffix: Any, out: Any) -> None:
    """Combine every range `[low, high)`, both ascending and none empty, in at most 3 steps per row.

    Two stacks (see `finals.two_stacks`) over a complete array: `suffix` holds, for rows from `low`
    to the middle, the combination up to the middle; one running total combines the rows after it.
    """
    middle = 0
    ahead = 0
    back = load(partials, 0)
    for answer in range(len(low)):
        begin, end = low[answer], high[answer]
        if begin >= middle:
            middle = ahead = end
            total = load(partials, end - 1)
            save(suffix, end - 1, total)
            for row in range(end - 2, begin - 1, -1):
                total = combine(tag, load(partials, row), total)
                save(suffix, row, total)
            save(out, answer, total)
            continue
        if ahead < end:
            row = ahead
            if row == middle:
                back = load(partials, row)
                row += 1
            while row < end:
                back = combine(tag, back, load(partials, row))
                row += 1
            ahead = end
        if end > middle:
            save(out, answer, combine(tag, load(suffix, begin), back))
        else:
            save(out, answer, load(suffix, begin))
