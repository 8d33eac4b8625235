"""DABA lite, compiled."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from numba import njit

from weft.finals.ops.tags import combine, load, save

Int64: TypeAlias = npt.NDArray[np.int64]

_FIRST, _END, _CAPACITY, _LEFT, _RIGHT, _ACCUM, _BACK = 0, 1, 2, 4, 5, 6, 7


@njit(cache=True)
def _step(tag: Any, ring: Any, registers: Any, blank: Any, numbers: Int64, end: int) -> None:
    """Move the cuts by one (see `weft.finals.daba`)."""
    capacity = numbers[_CAPACITY]
    if numbers[_FIRST] == numbers[_BACK]:
        numbers[_LEFT] = numbers[_RIGHT] = numbers[_ACCUM] = numbers[_BACK] = end
        save(registers, 0, load(blank, 0))
        save(registers, 1, load(blank, 0))
        return
    if numbers[_LEFT] == numbers[_BACK]:
        numbers[_LEFT], numbers[_RIGHT] = numbers[_FIRST], numbers[_BACK]
        numbers[_ACCUM] = numbers[_BACK] = end
        save(registers, 0, load(registers, 1))
        save(registers, 1, load(blank, 0))
    if numbers[_LEFT] == numbers[_RIGHT]:
        numbers[_LEFT] += 1
        numbers[_RIGHT] += 1
        numbers[_ACCUM] += 1
        return
    slot = numbers[_LEFT] % capacity
    save(ring, slot, combine(tag, load(ring, slot), load(registers, 0)))
    numbers[_LEFT] += 1
    accum = numbers[_ACCUM]
    slot = (accum - 1) % capacity
    if accum < numbers[_BACK]:
        save(ring, slot, combine(tag, load(ring, slot), load(ring, accum % capacity)))
    numbers[_ACCUM] = accum - 1


@njit(cache=True)
def slides(
    tag: Any, ring: Any, registers: Any, blank: Any, numbers: Int64, x: Any, counts: Int64, out: Any
) -> None:
    """One range; `blank` is the identity."""
    capacity = numbers[_CAPACITY]
    step = 0 if len(counts) == 1 else 1
    for slide in range(len(x[0])):
        end = numbers[_END]
        until = min(end, end + 1 - counts[slide * step])
        while numbers[_FIRST] < until:
            numbers[_FIRST] += 1
            _step(tag, ring, registers, blank, numbers, end)
        fresh = load(x, slide)
        save(ring, end % capacity, fresh)
        save(registers, 1, combine(tag, load(registers, 1), fresh))
        numbers[_END] = end + 1
        _step(tag, ring, registers, blank, numbers, end + 1)
        first = numbers[_FIRST]
        if first < numbers[_BACK]:
            front = load(ring, first % capacity)
            save(out, slide, combine(tag, front, load(registers, 1)))
        else:
            save(out, slide, load(registers, 1))
