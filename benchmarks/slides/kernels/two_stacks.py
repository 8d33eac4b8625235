"""Two stacks, compiled: one key, in bulk where a batch has whole windows; keys in lockstep."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from numba import njit

from weft.algebra.ops.numba_ops import combine, load, save, span

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
    """One range; `older` and `newer` are scratch arrays for one window each."""
    first, end, capacity, middle = numbers[0], numbers[1], numbers[2], numbers[4]
    step = 0 if len(counts) == 1 else 1
    slot = end % capacity
    back = load(registers, 0)
    slide, many = 0, len(x[0])
    while slide < many:
        count = counts[0]
        if step == 0 and middle == end and end - first == count and many - slide >= count:
            whole = (many - slide) // count * count
            at = first % capacity
            front = _in_bulk(tag, ring, at, capacity, x, slide, count, whole, older, newer, out)
            slide, end = slide + whole, end + whole
            first, middle = end - count, end
            slot = end % capacity
            at = first % capacity
            for place in range(count):
                save(ring, at, load(front, place))
                at = at + 1 if at + 1 < capacity else 0
            continue
        if step == 0 and end > middle > first + 1 and end - first == count:
            # The window is full and there is a front: go on until the front or the ring ends.
            at = (first + 1) % capacity
            run = min(min(many - slide, middle - first - 1), capacity - max(slot, at))
            fresh_run, answers = span(x, slide, slide + run), span(out, slide, slide + run)
            newest, oldest = span(ring, slot, slot + run), span(ring, at, at + run)
            for place in range(run):
                fresh = load(fresh_run, place)
                save(newest, place, fresh)
                back = combine(tag, back, fresh)
                save(answers, place, combine(tag, load(oldest, place), back))
            slide, first, end = slide + run, first + run, end + run
            slot = end % capacity
            continue
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
    """Whole windows at a time, from one flip to the next (van Herk; Gil and Werman).

    One loop computes a block's prefixes and suffixes, which are two chains of dependent steps. The
    answers combine the suffixes of the previous block with the prefixes of this one; these steps
    are independent and vectorise. Returns the last block's suffixes.
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


@njit(cache=True)
def lockstep(
    tag: Any, ring: Any, registers: Any, numbers: Int64, x: Any, counts: Int64, out: Any
) -> None:
    """One range, many keys: all keys flip at the same slides, row by row.

    Each loop uses few arrays: with more than a handful, the compiler no longer proves that they do
    not overlap, and processes one key at a time.
    """
    first, end, capacity, middle = numbers[0], numbers[1], numbers[2], numbers[4]
    step = 0 if len(counts) == 1 else 1
    many, keys = x[0].shape
    back = load(registers, 0)
    slide = 0
    while slide < many:
        window = counts[slide * step]
        if step == 0 and middle == end and end - first == window and many - slide >= window:
            _lockstep_window(tag, ring, back, end % capacity, capacity, x, slide, window, out)
            slide, end = slide + window, end + window
            first, middle = end - window, end
            continue
        fresh, answer = load(x, slide), load(out, slide)
        newest = load(ring, end % capacity)
        for key in range(keys):
            save(newest, key, load(fresh, key))
        end += 1
        first = max(first, end - window)
        if first >= middle:
            middle = end
            newer = newest
            for position in range(end - 2, first - 1, -1):
                cells = load(ring, position % capacity)
                for key in range(keys):
                    save(cells, key, combine(tag, load(cells, key), load(newer, key)))
                newer = cells
            for key in range(keys):
                save(answer, key, load(newer, key))
        else:
            if end - 1 == middle:
                for key in range(keys):
                    save(back, key, load(fresh, key))
            else:
                for key in range(keys):
                    save(back, key, combine(tag, load(back, key), load(fresh, key)))
            front = load(ring, first % capacity)
            for key in range(keys):
                save(answer, key, combine(tag, load(front, key), load(back, key)))
        slide += 1
    numbers[0], numbers[1], numbers[4] = first, end, middle


@njit(cache=True)
def _lockstep_window(
    tag: Any,
    ring: Any,
    back: Any,
    slot: int,
    capacity: int,
    x: Any,
    slide: int,
    window: int,
    out: Any,
) -> None:
    """A whole window of slides from one flip to the next, whose first slice goes to `slot`.

    One loop computes the running total and the answer. The suffixes are computed directly from the
    slices, which therefore need not be copied to the ring first.
    """
    keys = x[0].shape[1]
    front = slot - window + 1 if slot >= window - 1 else slot - window + 1 + capacity
    last = load(x, slide + window - 1)
    for place in range(window - 1):
        fresh, answer, older = load(x, slide + place), load(out, slide + place), load(ring, front)
        if place == 0:
            for key in range(keys):
                save(back, key, load(fresh, key))
                save(answer, key, combine(tag, load(older, key), load(fresh, key)))
        else:
            for key in range(keys):
                total = combine(tag, load(back, key), load(fresh, key))
                save(back, key, total)
                save(answer, key, combine(tag, load(older, key), total))
        front = front + 1 if front + 1 < capacity else 0
    answer = load(out, slide + window - 1)
    if window == 1:
        for key in range(keys):
            save(answer, key, load(last, key))
    else:
        for key in range(keys):
            save(answer, key, combine(tag, load(back, key), load(last, key)))
    row = slot + window - 1 if slot + window - 1 < capacity else slot + window - 1 - capacity
    newer = load(ring, row)
    for key in range(keys):
        save(newer, key, load(last, key))
    for place in range(window - 2, -1, -1):
        row = row - 1 if row > 0 else capacity - 1
        fresh, cells = load(x, slide + place), load(ring, row)
        for key in range(keys):
            save(cells, key, combine(tag, load(fresh, key), load(newer, key)))
        newer = cells
