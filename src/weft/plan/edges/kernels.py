"""Edge rates inside compiled code: the functions that a search calls in its own loops.

Progressions are two int64 arrays, `offset` and `step`, cleaned (see `clean`). A rate of -1 means
that the budget is spent; call `hard_rate` from Python then. Numba compiles a function together
with everything that it calls, so call `merged_rate` from as few places as possible.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from weft.plan.edges.arithmetic import gcd
from weft.plan.edges.exact import merged_rate, tidy
from weft.plan.edges.hard import hard_rate

__all__ = ["clean", "hard_rate", "merge", "merged_rate", "pair_rate", "union_rate"]

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]


@njit(cache=True, error_model="numpy")
def clean(offset: Int64, step: Int64) -> tuple[Int64, Int64]:
    """Sort by step, then offset, and drop what another progression already covers.

    >>> clean(np.array([7, 0, 2, 1]), np.array([6, 4, 4, 3]))
    (array([1, 0, 2]), array([3, 4, 4]))
    """
    n = len(step)
    off, steps, weight = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.float64)
    for i in range(n):
        off[i], steps[i], weight[i] = offset[i] % step[i], step[i], 1.0
    end = tidy(off, steps, weight, n - n, n)
    return off[:end].copy(), steps[:end].copy()


@njit(cache=True, error_model="numpy")
def merge(off_x: Int64, step_x: Int64, off_y: Int64, step_y: Int64) -> tuple[Int64, Int64]:
    """The cleaned union of two sets.

    >>> merge(np.array([0]), np.array([4]), np.array([0]), np.array([2]))
    (array([0]), array([2]))
    """
    return clean(np.concatenate((off_x, off_y)), np.concatenate((step_x, step_y)))


@njit(cache=True, error_model="numpy")
def union_rate(offset: Int64, step: Int64, budget: int) -> tuple[float, int]:
    """The edge rate of a cleaned set, and the nodes used; -1 past the budget.

    >>> rate, nodes = union_rate(np.array([0, 0, 0]), np.array([2, 3, 5]), 1000)
    >>> round(rate * 30)
    22
    """
    return merged_rate(0.0, offset[:0], step[:0], offset, step, budget)


@njit(cache=True, error_model="numpy")
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
