"""Edge rates as exact fractions.

The rate is a whole number of edges per composite slide. That number is computed by elimination
modulo enough primes, on machine integers, and reconstructed by the Chinese remainder theorem.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from weft.errors import BudgetError
from weft.plan.edges.digits import digits_of
from weft.plan.edges.elimination import WORK, Table, find_order, run_order
from weft.plan.edges.progressions import Progressions
from weft.plan.edges.rate import Rate


def exact_fraction(edges: Progressions, work: int = WORK // 4) -> Rate:
    """The edge rate as a fraction; `BudgetError` where only sampling would be possible.

    >>> edges = Progressions.of_arrays([0, 0, 3, 0, 2, 0], [3, 4, 4, 6, 6, 9])
    >>> exact_fraction(edges).value  # F1 example 6: 27 of 36
    Fraction(3, 4)
    """
    digits = digits_of(edges.offset, edges.step)
    order = find_order(digits)
    period = math.lcm(*edges.step.tolist())
    count, modulus, cells = 0, 1, 0
    for prime in _primes(period):
        if not order.complete or order.work + cells > work:
            raise BudgetError(
                f"{len(edges):,} progressions are too entangled for a fraction within "
                f"budget={work:,} cells; fractions=False gives a float, exact or sampled"
            )
        cells += order.work
        covered = int(run_order(digits, order, _Modulo(prime))) * period % prime
        # The count that is right modulo all primes so far.
        count += modulus * ((covered - count) * pow(modulus, -1, prime) % prime)
        modulus *= prime
        if modulus > period:  # the count is at most the period
            break
    return Rate(Fraction(count, period), "elimination", cells).per(edges.unit)


class _Modulo:
    """Probabilities as residues modulo a prime below 2**31, so that products fit in 64 bits."""

    dtype = np.int64

    def __init__(self, prime: int) -> None:
        self.prime = prime

    def number(self, value: Fraction) -> int:
        return value.numerator * pow(value.denominator, -1, self.prime) % self.prime

    def either(self, x: Table, y: Table) -> Table:
        either: Table = (x + y * (1 - x)) % self.prime
        return either

    def add(self, x: Table, y: Table) -> Table:
        total: Table = (x + y) % self.prime
        return total

    def scale(self, x: Table, by: Fraction) -> Table:
        scaled: Table = x * self.number(by) % self.prime
        return scaled


def _primes(period: int) -> Iterator[int]:
    """Primes below 2**31 that do not divide the period, largest first."""
    for number in range(2**31 - 1, 2**30, -2):
        if period % number and _is_prime(number):
            yield number


def _is_prime(number: int) -> bool:
    """Miller-Rabin; with these four bases deterministic for numbers below 3,215,031,751."""
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for base in (2, 3, 5, 7):
        x = pow(base, odd, number)
        if x in (1, number - 1):
            continue
        for _ in range(twos - 1):
            x = x * x % number
            if x == number - 1:
                break
        else:
            return False
    return True
