"""Every suffix at once, compiled."""

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
    """Update the suffixes of all slices held, then read the ones needed."""
    first, end, capacity = numbers[0], numbers[1], numbers[2]
    ranges = counts.shape[1]
    step = 0 if counts.shape[0] == 1 else 1
    slot = end % capacity
    for slide in range(len(x[0])):
        fresh = load(x, slide)
        first = max(first, min(end, end + 1 - hold))
        oldest = first % capacity
        held = end - first
        straight = min(held, capacity - oldest)
        for at in range(oldest, oldest + straight):
            save(ring, at, combine(tag, load(ring, at), fresh))
        for at in range(held - straight):
            save(ring, at, combine(tag, load(ring, at), fresh))
        save(ring, slot, fresh)
        slot = slot + 1 if slot + 1 < capacity else 0
        end += 1
        for place in range(ranges):
            query = order[place]
            count = min(counts[slide * step, query], end - first)
            at = slot - count if slot >= count else slot - count + capacity
            save(out, slide * ranges + query, load(ring, at))
    numbers[0], numbers[1] = first, end


@njit(cache=True)
def every_range(tag: Any, ring: Any, numbers: Int64, x: Any, out: Any) -> None:
    """All ranges from 1 to the window; the answers of a slide are the state of the next one.

    It computes `S_t[r] = S_{t-1}[r - 1] combine x_t`; `out` has a row per slide. While the window
    is not full, ranges longer than it are answered from all slices that there are.
    """
    first, end, capacity = numbers[0], numbers[1], numbers[2]
    many, window = out[0].shape
    held = min(end - first, window - 1)
    slot = end % capacity
    fresh, row = load(x, 0), load(out, 0)
    save(row, 0, fresh)
    for count in range(1, window):
        if count <= held:
            at = slot - count if slot >= count else slot - count + capacity
            save(row, count, combine(tag, load(ring, at), fresh))
        else:
            save(row, count, load(row, count - 1))
    for slide in range(1, many):
        # Two rows as two arrays, so that the compiler sees that it can process them in parallel.
        fresh, before, row = load(x, slide), load(out, slide - 1), load(out, slide)
        save(row, 0, fresh)
        for count in range(1, window):
            save(row, count, combine(tag, load(before, count - 1), fresh))
    end += many
    first = max(first, end - window)
    row = load(out, many - 1)
    for count in range(1, end - first + 1):
        save(ring, (end - count) % capacity, load(row, count - 1))
    numbers[0], numbers[1] = first, end
