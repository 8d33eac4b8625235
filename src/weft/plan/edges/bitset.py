"""Bit Set (WeaveShare section 8): mark every edge of the composite slide and count the marks."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from numba import njit

from weft.errors import BudgetError
from weft.plan.edges.progressions import Int64, Progressions
from weft.plan.edges.rate import Rate

MEMORY = 256 * 2**20
"""Default limit of a bit set, in bytes."""


def composite_slide(edges: Progressions) -> int:
    """The period after which all edges repeat, in ticks: the lcm of the steps.

    >>> composite_slide(Progressions.of_arrays([0, 0, 0], [4, 6, 9]))
    36
    """
    return math.lcm(*edges.step.tolist())


def bitset_rate(edges: Progressions, memory: int = MEMORY, *, fractions: bool = False) -> Rate:
    """The edge rate from a bit set over the composite slide; `BudgetError` past `memory` bytes.

    >>> bitset_rate(Progressions.of_arrays([0] * 5, [2, 3, 4, 5, 6])).value * 60  # F1 example 2
    44.0
    """
    period = composite_slide(edges)
    needed = -(-period // 64) * 8
    if needed > memory:
        raise BudgetError(
            f"method='bitset' needs {needed:,} bytes for a composite slide of {period:,} ticks, "
            f"more than budget={memory:,}; method='exact' needs none"
        )
    count = count_bits(mark(edges.offset, edges.step, period))
    value = Fraction(count, period) if fractions else count / period
    return Rate(value, "bit set", period).per(edges.unit)


@njit(cache=True, error_model="numpy")
def mark(offset: Int64, step: Int64, period: int) -> npt.NDArray[np.uint64]:
    """The bit set: bit x is one where some progression has an edge at tick x.

    >>> mark(np.array([0]), np.array([3]), 9)
    array([73], dtype=uint64)
    """
    words = np.zeros((period + 63) // 64, np.uint64)
    for i in range(len(step)):
        for x in range(offset[i], period, step[i]):
            words[x >> 6] |= np.uint64(1) << np.uint64(x & 63)
    return words


@njit(cache=True, error_model="numpy")
def count_bits(words: npt.NDArray[np.uint64]) -> int:
    """The number of ones.

    >>> count_bits(np.array([7, 2**63], np.uint64))
    4
    """
    ones = np.uint64(0)
    for word in words:
        # Sums of bits in pairs, fours, eights, then all bytes at once by a multiplication.
        word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
        low = word & np.uint64(0x3333333333333333)
        word = low + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
        word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
        ones += (word * np.uint64(0x0101010101010101)) >> np.uint64(56)
    return int(ones)


@njit(cache=True, error_model="numpy")
def bitset_count(offset: Int64, step: Int64, most: int) -> tuple[float, int]:
    """`union_rate` by bit set, for compiled searches: the rate and the bits, -1 past `most` bits.

    >>> bitset_count(np.array([0, 0]), np.array([2, 3]), 64)
    (0.6666666666666666, 6)
    """
    period = 1
    for i in range(len(step)):
        x, y = period, step[i]
        while y:
            x, y = y, x % y
        if step[i] // x > most // period:
            return -1.0, period
        period *= step[i] // x
    return count_bits(mark(offset, step, period)) / period, period
