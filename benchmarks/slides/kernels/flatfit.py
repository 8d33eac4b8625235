"""FlatFIT, compiled: one key, many ranges; and many keys in lockstep."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from numba import njit

from weft.algebra.ops.numba_ops import combine, load, save

Int64: TypeAlias = npt.NDArray[np.int64]


@njit(cache=True)
def slides(
    tag: Any,
    ring: Any,
    pointers: Int64,
    numbers: Int64,
    x: Any,
    counts: Int64,
    order: Int64,
    hold: int,
    out: Any,
) -> None:
    first, end, capacity = numbers[0], numbers[1], numbers[2]
    skips_until, deepest = numbers[4], numbers[5]
    stack = np.empty(capacity, dtype=np.int64)
    ranges = counts.shape[1]
    step = 0 if counts.shape[0] == 1 else 1
    slot = end % capacity
    for slide in range(len(x[0])):
        newest = slot
        slot = slot + 1 if slot + 1 < capacity else 0
        save(ring, newest, load(x, slide))
        pointers[newest] = slot
        end += 1
        first = max(first, end - hold)
        for place in range(ranges):
            query = order[place]
            count = min(counts[slide * step, query], end - first)
            at = slot - count if slot >= count else slot - count + capacity
            start = end - count
            if start > skips_until:  # wReset, backwards and without the stack
                total = load(ring, newest)
                back = newest
                for _ in range(count - 2):
                    back = back - 1 if back > 0 else capacity - 1
                    total = combine(tag, load(ring, back), total)
                    save(ring, back, total)
                    pointers[back] = slot
                if count > 2:
                    skips_until = end - 2
                if count > 1:
                    total = combine(tag, load(ring, at), total)
            else:
                depth, follow = 0, at
                while True:
                    stack[depth] = follow
                    depth += 1
                    follow = pointers[follow]
                    if follow == slot:
                        break
                deepest = max(deepest, depth - 1)
                depth -= 1
                total = load(ring, stack[depth])
                if depth > 1:
                    back = stack[depth - 1]
                    age = slot - back if slot > back else slot - back + capacity
                    skips_until = max(skips_until, end - age)
                while depth > 1:
                    depth -= 1
                    back = stack[depth]
                    total = combine(tag, load(ring, back), total)
                    save(ring, back, total)
                    pointers[back] = slot
                if depth == 1:
                    total = combine(tag, load(ring, at), total)
            save(out, slide * ranges + query, total)
    numbers[0], numbers[1], numbers[4], numbers[5] = first, end, skips_until, deepest


@njit(cache=True)
def _fold_row(tag: Any, ring: Any, row: int, total: Any, keep: bool) -> None:
    """total = ring[row] combine total, for every key; optionally stored in the ring as well."""
    cells = load(ring, row)
    for key in range(len(total[0])):
        value = combine(tag, load(cells, key), load(total, key))
        save(total, key, value)
        if keep:
            save(cells, key, value)


@njit(cache=True)
def lockstep(
    tag: Any,
    ring: Any,
    pointers: Int64,
    numbers: Int64,
    x: Any,
    counts: Int64,
    hold: int,
    out: Any,
) -> None:
    """One range, many keys: all keys take the same path through the ring, row by row."""
    first, end, capacity = numbers[0], numbers[1], numbers[2]
    skips_until, deepest = numbers[4], numbers[5]
    step = 0 if len(counts) == 1 else 1
    stack = np.empty(capacity, dtype=np.int64)
    slot = end % capacity
    for slide in range(len(x[0])):
        newest = slot
        slot = slot + 1 if slot + 1 < capacity else 0
        cells, fresh, total = load(ring, newest), load(x, slide), load(out, slide)
        for key in range(len(fresh[0])):
            save(cells, key, load(fresh, key))
        pointers[newest] = slot
        end += 1
        first = max(first, end - hold)
        count = min(counts[slide * step], end - first)
        at = slot - count if slot >= count else slot - count + capacity
        depth = 0
        if end - count > skips_until:
            back = newest
            depth = 1
            for key in range(len(fresh[0])):
                save(total, key, load(fresh, key))
            for _ in range(count - 2):
                back = back - 1 if back > 0 else capacity - 1
                _fold_row(tag, ring, back, total, True)
                pointers[back] = slot
            if count > 2:
                skips_until = end - 2
            if count > 1:
                _fold_row(tag, ring, at, total, False)
        else:
            follow = at
            while True:
                stack[depth] = follow
                depth += 1
                follow = pointers[follow]
                if follow == slot:
                    break
            deepest = max(deepest, depth - 1)
            depth -= 1
            last = load(ring, stack[depth])
            for key in range(len(fresh[0])):
                save(total, key, load(last, key))
            if depth > 1:
                back = stack[depth - 1]
                age = slot - back if slot > back else slot - back + capacity
                skips_until = max(skips_until, end - age)
            while depth > 1:
                depth -= 1
                _fold_row(tag, ring, stack[depth], total, True)
                pointers[stack[depth]] = slot
            if depth == 1:
                _fold_row(tag, ring, at, total, False)
    numbers[0], numbers[1], numbers[4], numbers[5] = first, end, skips_until, deepest
