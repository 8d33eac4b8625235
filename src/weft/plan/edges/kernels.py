"""Edge rates inside compiled code: the functions that a search calls in its own loops.

Progressions are two int64 arrays, `offset` and `step`, cleaned (see `clean`).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from weft.plan.edges.arithmetic import gcd, restrict

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]


@njit(cache=True)
def clean(offset: Int64, step: Int64) -> tuple[Int64, Int64]:
    """Sort by step, then offset, and drop what another progression already covers.

    >>> clean(np.array([7, 0, 2, 1]), np.array([6, 4, 4, 3]))
    (array([1, 0, 2]), array([3, 4, 4]))
    """
    n = len(step)
    reduced = np.empty(n, np.int64)
    for i in range(n):
        reduced[i] = offset[i] % step[i]
    by_offset = np.argsort(reduced, kind="mergesort")
    order = by_offset[np.argsort(step[by_offset], kind="mergesort")]
    kept_offset = np.empty(n, np.int64)
    kept_step = np.empty(n, np.int64)
    kept = 0
    for i in order:
        a, s = reduced[i], step[i]
        covered = False
        for j in range(kept):
            if s % kept_step[j] == 0 and a % kept_step[j] == kept_offset[j]:
                covered = True
                break
        if not covered:
            kept_offset[kept] = a
            kept_step[kept] = s
            kept += 1
    return kept_offset[:kept].copy(), kept_step[:kept].copy()


@njit(cache=True)
def merge(off_x: Int64, step_x: Int64, off_y: Int64, step_y: Int64) -> tuple[Int64, Int64]:
    """The cleaned union of two sets.

    >>> merge(np.array([0]), np.array([4]), np.array([0]), np.array([2]))
    (array([0]), array([2]))
    """
    return clean(np.concatenate((off_x, off_y)), np.concatenate((step_x, step_y)))


@njit(cache=True)
def _cover(off: Int64, step: Int64, weight: Float64, lo: int, hi: int, state: Int64) -> float:
    """The density covered by the weighted progressions in [lo, hi) of the arena.

    `state` is (nodes so far, budget, exceeded); scratch space begins at `hi`.
    """
    state[0] += 1
    n = hi - lo
    if n == 0:
        return 0.0
    if n == 1:
        return weight[lo] / step[lo]
    if state[0] > state[1] or hi + 2 * n > len(step):
        state[2] = 1
        return 0.0
    total = 0.0
    for i in range(lo, hi):
        free = 1.0
        top = hi
        for j in range(lo, i):
            a, s = restrict(off[j], step[j], off[i], step[i])
            if s == 0:
                continue
            if s == 1:
                free *= 1.0 - weight[j]
                if free == 0.0:
                    break
                continue
            off[top] = a
            step[top] = s
            weight[top] = weight[j]
            top += 1
        if free > 0.0:
            if top > hi:
                top = _tidy(off, step, weight, hi, top)
                free *= 1.0 - _cover(off, step, weight, hi, top, state)
                if state[2]:
                    return 0.0
            total += weight[i] / step[i] * free
    return total


@njit(cache=True)
def _tidy(off: Int64, step: Int64, weight: Float64, lo: int, hi: int) -> int:
    """Sort [lo, hi) by step and drop what is covered; return the new end."""
    for i in range(lo + 1, hi):
        a, s, w = off[i], step[i], weight[i]
        j = i - 1
        while j >= lo and step[j] > s:
            off[j + 1], step[j + 1], weight[j + 1] = off[j], step[j], weight[j]
            j -= 1
        off[j + 1], step[j + 1], weight[j + 1] = a, s, w
    kept = lo
    for i in range(lo, hi):
        a, s = off[i], step[i]
        covered = False
        for j in range(lo, kept):
            if s % step[j] == 0 and (a - off[j]) % step[j] == 0:
                covered = True
                break
        if not covered:
            off[kept], step[kept], weight[kept] = a, s, weight[i]
            kept += 1
    return kept


@njit(cache=True)
def union_rate(offset: Int64, step: Int64, budget: int) -> tuple[float, int]:
    """The edge rate of a cleaned set, and the nodes that it took; -1 past the budget.

    >>> rate, nodes = union_rate(np.array([0, 0, 0]), np.array([2, 3, 5]), 1000)
    >>> round(rate * 30)
    22
    """
    none = np.empty(0, np.int64)
    return merged_rate(0.0, none, none, offset, step, budget)


@njit(cache=True)
def merged_rate(
    rate_x: float, off_x: Int64, step_x: Int64, off_y: Int64, step_y: Int64, budget: int
) -> tuple[float, int]:
    """The edge rate of x and y together, given x's; -1 past the budget.

    The cost grows with y: pass the smaller tree as y.
    """
    nx, ny = len(step_x), len(step_y)
    n = nx + ny
    size = n + min(n * (n + 1) // 2 + 2, 4_000_000)
    off = np.empty(size, np.int64)
    step = np.empty(size, np.int64)
    weight = np.empty(size, np.float64)
    state = np.zeros(3, np.int64)
    state[1] = budget
    off[:nx], step[:nx] = off_x, step_x
    off[nx:n], step[nx:n] = off_y, step_y
    rate = rate_x
    for i in range(nx, n):
        top = n
        free = 1.0
        for j in range(i):
            a, s = restrict(off[j], step[j], off[i], step[i])
            if s == 0:
                continue
            if s == 1:
                free = 0.0
                break
            off[top], step[top], weight[top] = a, s, 1.0
            top += 1
        if free > 0.0:
            top = _tidy(off, step, weight, n, top)
            free = 1.0 - _cover(off, step, weight, n, top, state)
            if state[2]:
                return -1.0, state[0]
            rate += free / step[i]
    return rate, state[0]


@njit(cache=True)
def pair_rate(
    start_x: int, end_x: int, slide_x: int, start_y: int, end_y: int, slide_y: int
) -> float:
    """The edge rate of two windows together, in closed form.

    `start` and `end` are modulo the slide; they are equal where the window has one progression.

    >>> round(pair_rate(6, 0, 9, 2, 0, 6) * 18)  # WeaveShare example 2
    8
    """
    g = gcd(slide_x, slide_y)
    two_x, two_y = start_x != end_x, start_y != end_y
    common = int((start_x - start_y) % g == 0)
    if two_x:
        common += (end_x - start_y) % g == 0
    if two_y:
        common += (start_x - end_y) % g == 0
        if two_x:
            common += (end_x - end_y) % g == 0
    return (1 + two_x) / slide_x + (1 + two_y) / slide_y - common / (slide_x / g * slide_y)
