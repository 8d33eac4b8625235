"""Each structure over a complete array: windows in order, one compiled loop per structure.

The ranges `[low, high)` ascend at both ends and none is empty; `out` gets one partial for each.
Positions are rows, so plain arrays replace the ring buffers of the sliding forms
(`benchmarks.slides`). Rows in no range are never combined.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from numba import njit

from weft.algebra.ops.numba_ops import combine, load, save

Int64: TypeAlias = npt.NDArray[np.int64]


@njit(cache=True)
def between(tag: Any, nodes: Any, low: int, high: int) -> Any:
    """The combination of the leaves under the nodes low to high (inclusive) of one level."""
    left = load(nodes, low)
    right = load(nodes, high)
    if low == high:
        return left
    while low >> 1 != high >> 1:
        # `left` and `right` combine all leaves from the range's ends to these nodes.
        if low & 1 == 0:
            left = combine(tag, left, load(nodes, low + 1))
        if high & 1 == 1:
            right = combine(tag, load(nodes, high - 1), right)
        low, high = low >> 1, high >> 1
    return combine(tag, left, right)


@njit(cache=True)
def naive(tag: Any, partials: Any, low: Int64, high: Int64, out: Any) -> None:
    """Fold every range from scratch."""
    for answer in range(len(low)):
        total = load(partials, low[answer])
        for row in range(low[answer] + 1, high[answer]):
            total = combine(tag, total, load(partials, row))
        save(out, answer, total)


@njit(cache=True)
def flatfat(
    tag: Any, partials: Any, nodes: Any, leaves: int, low: Int64, high: Int64, out: Any
) -> None:
    """A complete binary tree over the rows; nodes without a full subtree are not computed."""
    rows = len(partials[0])
    for row in range(rows):
        save(nodes, leaves + row, load(partials, row))
    first, whole = leaves >> 1, rows >> 1
    while whole:
        for node in range(first, first + whole):
            save(nodes, node, combine(tag, load(nodes, 2 * node), load(nodes, 2 * node + 1)))
        first, whole = first >> 1, whole >> 1
    for answer in range(len(low)):
        save(out, answer, between(tag, nodes, leaves + low[answer], leaves + high[answer] - 1))


@njit(cache=True)
def bint(
    tag: Any, partials: Any, intervals: Any, leaves: int, low: Int64, high: Int64, out: Any
) -> None:
    """Dyadic intervals, level by level; a range is covered by the longest ones."""
    rows = len(partials[0])
    for row in range(rows):
        save(intervals, row, load(partials, row))
    level = 1
    while rows >> level:
        below, base = 2 * (leaves - (leaves >> (level - 1))), 2 * (leaves - (leaves >> level))
        for at in range(rows >> level):
            left, right = load(intervals, below + 2 * at), load(intervals, below + 2 * at + 1)
            save(intervals, base + at, combine(tag, left, right))
        level += 1
    for answer in range(len(low)):
        at, end = low[answer], high[answer]
        total = load(intervals, at)
        begun = False
        while at < end:
            level = 0
            while at & ((2 << level) - 1) == 0 and at + (2 << level) <= end:
                level += 1
            interval = load(intervals, 2 * (leaves - (leaves >> level)) + (at >> level))
            total = combine(tag, total, interval) if begun else interval
            begun = True
            at += 1 << level
        save(out, answer, total)


@njit(cache=True)
def flatfit(
    tag: Any, partials: Any, pointers: Int64, stack: Int64, low: Int64, high: Int64, out: Any
) -> None:
    """Follow the pointers to the newest row, then make all on the way point past it.

    `partials` are overwritten: a row holds the combination up to where its pointer leads.
    """
    end, skips_until = 0, -1
    for answer in range(len(low)):
        start, newest = low[answer], high[answer]
        while end < newest:
            pointers[end] = end + 1
            end += 1
        if start > skips_until:  # wReset: no row skips yet, so go backwards, without the stack
            total = load(partials, newest - 1)
            for row in range(newest - 2, start, -1):
                total = combine(tag, load(partials, row), total)
                save(partials, row, total)
                pointers[row] = newest
            if newest - start > 2:
                skips_until = newest - 2
            if newest - start > 1:
                total = combine(tag, load(partials, start), total)
        else:
            depth, row = 0, start
            while row < newest:
                stack[depth] = row
                depth += 1
                row = pointers[row]
            depth -= 1
            total = load(partials, stack[depth])
            if depth > 1:
                skips_until = max(skips_until, stack[depth - 1])
            while depth > 1:
                depth -= 1
                row = stack[depth]
                total = combine(tag, load(partials, row), total)
                save(partials, row, total)
                pointers[row] = newest
            if depth == 1:
                total = combine(tag, load(partials, start), total)
        save(out, answer, total)


@njit(cache=True)
def daba(tag: Any, partials: Any, blank: Any, low: Int64, high: Int64, out: Any) -> None:
    """Moves the cuts of `finals.daba` by one step for every row inserted or evicted.

    `partials` are overwritten; `blank` is one row, the identity.
    """
    first = end = left = right = accum = back = 0
    none = load(blank, 0)
    middle_total, back_total = none, none
    for answer in range(len(low)):
        while first < low[answer] or end < high[answer]:
            if first < low[answer] and first == end:  # skip rows that are in no range
                first = end = left = right = accum = back = low[answer]
                middle_total, back_total = none, none
                continue
            if first < low[answer]:
                first += 1
            else:
                back_total = combine(tag, back_total, load(partials, end))
                end += 1
            if first == back:
                left = right = accum = back = end
                middle_total, back_total = none, none
                continue
            if left == back:
                left, right = first, back
                accum = back = end
                middle_total, back_total = back_total, none
            if left == right:
                left, right, accum = left + 1, right + 1, accum + 1
                continue
            save(partials, left, combine(tag, load(partials, left), middle_total))
            left += 1
            if accum < back:
                newer = load(partials, accum)
                save(partials, accum - 1, combine(tag, load(partials, accum - 1), newer))
            accum -= 1
        if first < back:
            save(out, answer, combine(tag, load(partials, first), back_total))
        else:
            save(out, answer, back_total)


@njit(cache=True)
def shift(tag: Any, partials: Any, suffixes: Any, low: Int64, high: Int64, out: Any) -> None:
    """Each new row updates the suffixes of all rows held; an answer only reads."""
    end = 0
    for answer in range(len(low)):
        first = low[answer]
        end = max(end, first)
        while end < high[answer]:
            fresh = load(partials, end)
            for row in range(first, end):
                save(suffixes, row, combine(tag, load(suffixes, row), fresh))
            save(suffixes, end, fresh)
            end += 1
        save(out, answer, load(suffixes, first))
