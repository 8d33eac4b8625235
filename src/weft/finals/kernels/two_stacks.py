"""Two stacks, compiled: one key, in bulk where a batch has whole windows; keys in lockstep."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from numba import njit

from weft.finals.ops.tags import combine, load, save, span

Int64: TypeAlias = npt.NDArray[np.int64]


@njit(cache=True)
def slides(
    tag: Any,
    ring: Any,
    registers: Any,
    numbers: Int64,
    x: Any,
    counts: Int64,
    older: Any,
    newer: Any,
    out: Any,
) -> None:
    """One range; `older` and `newer` lend room for one window each."""
    first, end, capacity, middle = numbers[0], numbers[1], numbers[2], numbers[4]
    step = 0 if len(counts) == 1 else 1
    slot = end % capacity
    back = load(registers, 0)
    slide, many = 0, len(x[0])
    while slide < many:
        fresh = load(x, slide)
        save(ring, slot, fresh)
        back = combine(tag, back, fresh) if end > middle else fresh
        slot = slot + 1 if slot + 1 < capacity else 0
        end += 1
        first = max(first, end - counts[slide * step])
        count = end - first
        at = slot - count if slot >= count else slot - count + capacity
        if first < middle:
            save(out, slide, combine(tag, load(ring, at), back))
            slide += 1
            continue
        middle = end
        row = slot - 1 if slot > 0 else capacity - 1
        total = load(ring, row)
        for _ in range(count - 1):
            row = row - 1 if row > 0 else capacity - 1
            total = combine(tag, load(ring, row), total)
            save(ring, row, total)
        save(out, slide, total)
        slide += 1
        if step == 0 and count == counts[0] and many - slide >= count:
            whole = (many - slide) // count * count
            front = _in_bulk(tag, ring, at, capacity, x, slide, count, whole, older, newer, out)
            slide, end = slide + whole, end + whole
            first, middle = end - count, end
            slot = end % capacity
            at = first % capacity
            for place in range(count):
                save(ring, at, load(front, place))
                at = at + 1 if at + 1 < capacity else 0
    save(registers, 0, back)
    numbers[0], numbers[1], numbers[4] = first, end, middle


@njit(cache=True)
def _in_bulk(
    tag: Any,
    ring: Any,
    at: int,
    capacity: int,
    x: Any,
    slide: int,
    count: int,
    whole: int,
    older: Any,
    newer: Any,
    out: Any,
) -> Any:
    """Whole windows at a time, from a flip to a flip (van Herk; Gil and Werman).

    A block's prefixes and suffixes are two chains in one loop; the answers combine the suffixes of
    the block before with the prefixes of this one, which needs no chain and vectorises. Returns
    the last block's suffixes.
    """
    for place in range(count):
        save(older, place, load(ring, at))
        at = at + 1 if at + 1 < capacity else 0
    for begin in range(slide, slide + whole, count):
        fresh, answers = span(x, begin, begin + count), span(out, begin, begin + count)
        prefix, suffix = load(fresh, 0), load(fresh, count - 1)
        save(answers, 0, prefix)
        save(newer, count - 1, suffix)
        for place in range(1, count):
            prefix = combine(tag, prefix, load(fresh, place))
            save(answers, place, prefix)
            suffix = combine(tag, load(fresh, count - 1 - place), suffix)
            save(newer, count - 1 - place, suffix)
        rest = span(older, 1, count)
        for place in range(count - 1):
            save(answers, place, combine(tag, load(rest, place), load(answers, place)))
        older, newer = newer, older
    return older


BLOCK = 1024
"""Keys worked on at a time, so that their part of a ring stays in the second-level cache."""


@njit(cache=True)
def lockstep(
    tag: Any, ring: Any, registers: Any, numbers: Int64, x: Any, counts: Int64, out: Any
) -> None:
    """One range, many keys: the same flips for all of them, row by row."""
    keys = x[0].shape[1]
    first, end, middle = numbers[0], numbers[1], numbers[4]
    for low in range(0, keys, BLOCK):
        high = min(keys, low + BLOCK)
        first, end, middle = _lockstep_block(
            tag, ring, registers, numbers, x, counts, out, low, high
        )
    numbers[0], numbers[1], numbers[4] = first, end, middle


@njit(cache=True)
def _lockstep_block(
    tag: Any,
    ring: Any,
    registers: Any,
    numbers: Int64,
    x: Any,
    counts: Int64,
    out: Any,
    low: int,
    high: int,
) -> Any:
    first, end, capacity, middle = numbers[0], numbers[1], numbers[2], numbers[4]
    step = 0 if len(counts) == 1 else 1
    back = load(registers, 0)
    slot = end % capacity
    for slide in range(len(x[0])):
        fresh, newest, answer = load(x, slide), load(ring, slot), load(out, slide)
        begins = end <= middle
        slot = slot + 1 if slot + 1 < capacity else 0
        end += 1
        first = max(first, end - counts[slide * step])
        count = end - first
        at = slot - count if slot >= count else slot - count + capacity
        front = load(ring, at)
        # Short loops over few arrays: past a handful the compiler gives up on telling them apart,
        # and works key by key.
        for key in range(low, high):
            save(newest, key, load(fresh, key))
        if first >= middle:
            middle = end
            for key in range(low, high):
                save(answer, key, load(fresh, key))
            row = slot - 1 if slot > 0 else capacity - 1
            for _ in range(count - 1):
                row = row - 1 if row > 0 else capacity - 1
                cells = load(ring, row)
                for key in range(low, high):
                    value = combine(tag, load(cells, key), load(answer, key))
                    save(cells, key, value)
                    save(answer, key, value)
            continue
        if begins:
            for key in range(low, high):
                save(back, key, load(fresh, key))
        else:
            for key in range(low, high):
                save(back, key, combine(tag, load(back, key), load(fresh, key)))
        for key in range(low, high):
            save(answer, key, combine(tag, load(front, key), load(back, key)))
    return first, end, middle
