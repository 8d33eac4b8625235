"""Greatest common divisors looked up instead of computed (F1 section 3.3)."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt
from numba import njit

Int32 = npt.NDArray[np.int32]

MEMORY = 16 * 2**20
"""Default limit of a table, in bytes: pairs of numbers up to 2,896."""
_WORD = 2**31


@lru_cache(maxsize=4)
def gcd_table(memory: int = MEMORY) -> Int32:
    """The table of gcd(i, j) for j < i that fits in `memory` bytes, in a row per i.

    Half of all pairs at 4 bytes each: numbers up to the square root of `memory / 2`.

    >>> table = gcd_table(4096)
    >>> look_up(table, 12, 18), look_up(table, 10**12, 36)
    (6, 4)
    """
    largest = max(int((memory / 2) ** 0.5), 1)
    table = np.empty(largest * (largest + 1) // 2, np.int32)
    _fill(table, largest)
    table.setflags(write=False)
    return table


@njit(cache=True, error_model="numpy")
def _fill(table: Int32, largest: int) -> None:
    for i in range(1, largest + 1):
        row = i * (i - 1) // 2
        table[row] = i  # gcd(i, 0)
        for j in range(1, i):
            # Euclid's step leads to an earlier row.
            table[row + j] = table[j * (j - 1) // 2 + i % j]


@njit(cache=True, error_model="numpy")
def look_up(table: Int32, a: int, b: int) -> int:
    """gcd(a, b): Euclid's algorithm until the numbers are in the table (never, if it is empty).

    >>> look_up(gcd_table(0)[:0], 12, 18)
    6
    """
    while b:
        if b < _WORD and b * (b + 1) // 2 <= len(table):
            return int(table[b * (b - 1) // 2 + a % b])
        a, b = b, a % b
    return a
