"""Counts the common edges of two trees by looking up each edge of one in the other (WeaveShare
section 8).

Slow on purpose: these are the paper's first two methods, kept to reproduce its figure 14.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from weft.plan.edges.arithmetic import gcd
from weft.plan.edges.bitset import count_bits, mark

Int64 = npt.NDArray[np.int64]


@njit(cache=True, error_model="numpy")
def _composite_slide(step_x: Int64, step_y: Int64, most: int) -> int:
    """The common period, or 0 if it is longer than `most`."""
    period = 1
    for steps in (step_x, step_y):
        for step in steps:
            part = step // gcd(period, step)
            if part > most // period:
                return 0
            period *= part
    return period


@njit(cache=True, error_model="numpy")
def probe_bitmap(
    off_x: Int64, step_x: Int64, off_y: Int64, step_y: Int64, most: int
) -> tuple[float, int, int]:
    """The edge rate of x and y, the length of the bit set, and the number of look-ups.

    Each edge of y is looked up in x's bit set, which is extended to the composite slide.

    >>> probe_bitmap(np.array([0]), np.array([2]), np.array([0]), np.array([3]), 100)
    (0.6666666666666666, 6, 2)
    """
    period = _composite_slide(step_x, step_y, most)
    if period == 0:
        return -1.0, 0, 0
    there = mark(off_x, step_x, period)
    edges = count_bits(there)
    looked = 0
    mine = mark(off_y, step_y, period)
    for at in range(len(mine)):
        word = mine[at]
        while word:
            bit = word & (~word + np.uint64(1))
            word ^= bit
            looked += 1
            if not there[at] & bit:
                edges += 1
    return edges / period, period, looked


@njit(cache=True, error_model="numpy")
def probe_queries(
    rate_x: float, off_x: Int64, step_x: Int64, off_y: Int64, step_y: Int64, most: int
) -> tuple[float, int, int]:
    """The same without a bit set, given x's rate: each edge of y's queries is tested against
    x's queries one by one, and against y's earlier queries so that it is not counted twice.

    >>> x, y, none = np.array([2]), np.array([3]), np.array([0])
    >>> probe_queries(0.5, none, x, none, y, 100)
    (0.6666666666666666, 6, 2)
    """
    period = _composite_slide(step_x, step_y, most)
    if period == 0:
        return -1.0, 0, 0
    looked = 0
    edges = 0
    nx = len(step_x)
    for q in range(len(step_y)):
        for edge in range(off_y[q], period, step_y[q]):
            new = 1
            for p in range(nx + q):
                looked += 1
                a, s = (off_x[p], step_x[p]) if p < nx else (off_y[p - nx], step_y[p - nx])
                if (edge - a) % s == 0:
                    new = 0
                    break
            edges += new
    return rate_x + edges / period, period, looked
