"""Integer arithmetic on progressions that cannot overflow, compiled."""

from __future__ import annotations

from typing import Any

from numba import njit

INNER: dict[str, Any] = {
    "cache": True,
    "error_model": "numpy",
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}
"""For functions called only by compiled ones: without wrappers, which are slow to compile."""
# Products of two residues below this modulus fit in 63 bits.
_SMALL = 3_037_000_499


@njit(cache=True, error_model="numpy")
def gcd(a: int, b: int) -> int:
    """The greatest common divisor of two integers that are not negative.

    >>> gcd(12, 18)
    6
    """
    while b:
        a, b = b, a % b
    return a


@njit(cache=True, error_model="numpy")
def mulmod(a: int, b: int, modulus: int) -> int:
    """`a * b % modulus` for residues of a modulus up to 2**62, without overflow.

    >>> mulmod(2**61, 2**61 + 1, 2**62 - 1) == 2**61 * (2**61 + 1) % (2**62 - 1)
    True
    """
    if modulus < _SMALL:
        return a * b % modulus
    product = 0
    while b:
        if b & 1:
            product = (product + a) % modulus
        a = (a + a) % modulus
        b >>= 1
    return product


@njit(cache=True, error_model="numpy")
def restrict(offset: int, step: int, at: int, every: int) -> tuple[int, int]:
    """The k for which the instant `x = at + every * k` satisfies `x = offset mod step`.

    They are a progression `(offset, step)` in k; a step of 1 means all k, a step of 0 none.

    >>> restrict(1, 4, 3, 6), restrict(0, 3, 0, 6), restrict(0, 4, 1, 6)
    ((1, 2), (0, 1), (0, 0))
    """
    # Extended Euclid on (every mod step, step): one pass gives the common divisor and the inverse.
    low, high = every % step, step
    x, y = 1, 0
    while low:
        quotient = high // low
        high, low = low, high - quotient * low
        y, x = x, y - quotient * x
    distance = offset - at
    if distance % high:
        return 0, 0
    left = step // high
    if left == 1:
        return 0, 1
    return mulmod(distance // high % left, y % left, left), left
