"""Subtract on evict, compiled."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from numba import njit

from weft.algebra.ops.numba_ops import combine, load, save, subtract

Int64: TypeAlias = npt.NDArray[np.int64]


@njit(cache=True)
def slides(
    tag: Any, ring: Any, registers: Any, numbers: Int64, x: Any, counts: Int64, out: Any
) -> None:
    """One range; partials of no rows count like any other, because their numbers add nothing."""
    first, end, capacity = numbers[0], numbers[1], numbers[2]
    step = 0 if len(counts) == 1 else 1
    slot, oldest = end % capacity, first % capacity
    total = load(registers, 0)
    for slide in range(len(x[0])):
        until = min(end, end + 1 - counts[slide * step])
        while first < until:
            total = subtract(tag, total, load(ring, oldest))
            oldest = oldest + 1 if oldest + 1 < capacity else 0
            first += 1
        fresh = load(x, slide)
        save(ring, slot, fresh)
        slot = slot + 1 if slot + 1 < capacity else 0
        end += 1
        total = combine(tag, total, fresh)
        save(out, slide, total)
    save(registers, 0, total)
    numbers[0], numbers[1] = first, end
