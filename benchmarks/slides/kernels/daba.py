"""DABA lite, compiled."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from numba import njit

from weft.algebra.ops.numba_ops import combine, load, save

Int64: TypeAlias = npt.NDArray[np.int64]


@njit(cache=True)
def _slot(position: int, base: int, capacity: int) -> int:
    """The slot of a position in the ring; `base` is where the oldest slice's round begins."""
    slot = position - base
    return slot if slot < capacity else slot - capacity


@njit(cache=True)
def slides(
    tag: Any, ring: Any, registers: Any, blank: Any, numbers: Int64, x: Any, counts: Int64, out: Any
) -> None:
    """One range; `blank` is the identity. The steps are those of `weft.engine.finals.daba`."""
    first, end, capacity = numbers[0], numbers[1], numbers[2]
    left, right, accum, back = numbers[4], numbers[5], numbers[6], numbers[7]
    base = first // capacity * capacity
    middle_total, back_total, none = load(registers, 0), load(registers, 1), load(blank, 0)
    step = 0 if len(counts) == 1 else 1
    for slide in range(len(x[0])):
        leaving = max(0, min(end, end + 1 - counts[slide * step]) - first)
        # Slices are evicted one by one, then one is inserted; each moves the cuts by one step.
        for turn in range(leaving + 1):
            if turn < leaving:
                first += 1
                if first - base >= capacity:
                    base += capacity
            else:
                fresh = load(x, slide)
                save(ring, _slot(end, base, capacity), fresh)
                back_total = combine(tag, back_total, fresh)
                end += 1
            if first == back:
                left = right = accum = back = end
                middle_total = none
                back_total = none
                continue
            if left == back:
                left, right = first, back
                accum = back = end
                middle_total, back_total = back_total, none
            if left == right:
                left, right, accum = left + 1, right + 1, accum + 1
                continue
            slot = _slot(left, base, capacity)
            save(ring, slot, combine(tag, load(ring, slot), middle_total))
            left += 1
            if accum < back:
                newer = load(ring, _slot(accum, base, capacity))
                slot = _slot(accum - 1, base, capacity)
                save(ring, slot, combine(tag, load(ring, slot), newer))
            accum -= 1
        if first < back:
            front = load(ring, _slot(first, base, capacity))
            save(out, slide, combine(tag, front, back_total))
        else:
            save(out, slide, back_total)
    save(registers, 0, middle_total)
    save(registers, 1, back_total)
    numbers[0], numbers[1] = first, end
    numbers[4], numbers[5], numbers[6], numbers[7] = left, right, accum, back
