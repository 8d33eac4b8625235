"""Naive, compiled: fold the ring for every answer."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from numba import njit

from weft.algebra.ops.numba_ops import combine, load, save

Int64: TypeAlias = npt.NDArray[np.int64]


@njit(cache=True)
def slides(
    tag: Any, ring: Any, numbers: Int64, x: Any, counts: Int64, order: Int64, hold: int, out: Any
) -> None:
    first, end, capacity = numbers[0], numbers[1], numbers[2]
    ranges = counts.shape[1]
    step = 0 if counts.shape[0] == 1 else 1
    slot = end % capacity
    for slide in range(len(x[0])):
        save(ring, slot, load(x, slide))
        slot = slot + 1 if slot + 1 < capacity else 0
        end += 1
        first = max(first, end - hold)
        for place in range(ranges):
            query = order[place]
            count = min(counts[slide * step, query], end - first)
            at = slot - count if slot >= count else slot - count + capacity
            total = load(ring, at)
            for row in range(at + 1, min(at + count, capacity)):
                total = combine(tag, total, load(ring, row))
            for row in range(at + count - capacity):
                total = combine(tag, total, load(ring, row))
            save(out, slide * ranges + query, total)
    numbers[0], numbers[1] = first, end
