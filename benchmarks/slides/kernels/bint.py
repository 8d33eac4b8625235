"""B-Int, compiled."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from numba import njit

from weft.algebra.ops.numba_ops import combine, load, save

Int64: TypeAlias = npt.NDArray[np.int64]


@njit(cache=True)
def _cell(leaves: int, level: int, position: int) -> int:
    ring = leaves >> level
    return 2 * (leaves - ring) + ((position >> level) & (ring - 1))


@njit(cache=True)
def slides(
    tag: Any,
    intervals: Any,
    numbers: Int64,
    x: Any,
    counts: Int64,
    order: Int64,
    hold: int,
    out: Any,
) -> None:
    first, end, leaves = numbers[0], numbers[1], numbers[4]
    ranges = counts.shape[1]
    step = 0 if counts.shape[0] == 1 else 1
    for slide in range(len(x[0])):
        save(intervals, _cell(leaves, 0, end), load(x, slide))
        level = 1
        while leaves >> level and (end + 1) & ((1 << level) - 1) == 0:
            begin = end + 1 - (1 << level)
            left = load(intervals, _cell(leaves, level - 1, begin))
            right = load(intervals, _cell(leaves, level - 1, end))
            save(intervals, _cell(leaves, level, begin), combine(tag, left, right))
            level += 1
        end += 1
        first = max(first, end - hold)
        for place in range(ranges):
            query = order[place]
            at = max(first, end - counts[slide * step, query])
            level = 0
            total = load(intervals, _cell(leaves, 0, at))
            begun = False
            while at < end:
                level = 0
                while (
                    leaves >> (level + 1)
                    and at & ((2 << level) - 1) == 0
                    and at + (2 << level) <= end
                ):
                    level += 1
                interval = load(intervals, _cell(leaves, level, at))
                total = combine(tag, total, interval) if begun else interval
                begun = True
                at += 1 << level
            save(out, slide * ranges + query, total)
    numbers[0], numbers[1] = first, end
