"""Divisors and prime powers, also of large integers."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.plan.coverage.divisors import divisors, multiples_dividing, prime_powers


@settings(deadline=None, max_examples=300)
@given(st.integers(1, 3000))
def test_divisors_are_all_that_divide_largest_first(number):
    expected = tuple(part for part in range(number, 0, -1) if number % part == 0)
    assert divisors(number) == expected
    assert divisors(number, limit=3) == expected[:3]


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 2**62))
def test_prime_powers_multiply_to_the_number(number):
    assert math.prod(prime**power for prime, power in prime_powers(number)) == number


@pytest.mark.parametrize(
    ("number", "powers"),
    [
        (1, ()),
        (43 * 43, ((43, 2),)),
        (43**3, ((43, 3),)),
        (3215031751, ((151, 1), (751, 1), (28351, 1))),  # passes Miller-Rabin in bases 2, 3, 5, 7
        (2**61 - 1, ((2**61 - 1, 1),)),
        ((2**31 - 1) * (2**31 - 19), ((2147483629, 1), (2147483647, 1))),
        (86_400_000_000, ((2, 13), (3, 3), (5, 8))),
    ],
)
def test_prime_powers_of_hard_numbers(number, powers):
    assert prime_powers(number) == powers


@settings(deadline=None, max_examples=200)
@given(st.integers(1, 500), st.integers(1, 30))
def test_multiples_dividing_are_both(number, base):
    expected = [part for part in range(number, 0, -1) if number % part == 0 and part % base == 0]
    assert list(multiples_dividing(number, base)) == expected
