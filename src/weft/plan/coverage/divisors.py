"""The divisors of an integer: the slides and ranges that a factor window may have."""

from __future__ import annotations

import math
from functools import lru_cache

# These bases decide primality for every integer below 3.3e24, hence for all 64-bit ones.
_WITNESSES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41)


@lru_cache(maxsize=4096)
def prime_powers(number: int) -> tuple[tuple[int, int], ...]:
    """The prime factors of `number` with their exponents, smallest first.

    >>> prime_powers(60_000_000)
    ((2, 8), (3, 1), (5, 7))
    """
    found: dict[int, int] = {}
    for prime in _WITNESSES:
        while number % prime == 0:
            found[prime] = found.get(prime, 0) + 1
            number //= prime
    rest = [number] if number > 1 else []
    while rest:
        part = rest.pop()
        if _is_prime(part):
            found[part] = found.get(part, 0) + 1
        else:
            split = _proper_divisor(part)
            rest += [split, part // split]
    return tuple(sorted(found.items()))


@lru_cache(maxsize=4096)
def divisors(number: int, limit: int = 1 << 14) -> tuple[int, ...]:
    """The divisors of `number`, largest first; only the `limit` largest of them.

    >>> divisors(12)
    (12, 6, 4, 3, 2, 1)
    """
    # Built as cofactors, so that cutting off at the limit drops the small divisors.
    found = [1]
    for prime, exponent in prime_powers(number):
        found = sorted(part * prime**power for power in range(exponent + 1) for part in found)
        found = found[:limit]
    return tuple(number // part for part in found)


def multiples_dividing(number: int, base: int, limit: int = 1 << 14) -> tuple[int, ...]:
    """The divisors of `number` that are multiples of `base`, largest first.

    >>> multiples_dividing(12, 2)
    (12, 6, 4, 2)
    >>> multiples_dividing(12, 5)
    ()
    """
    if number % base:
        return ()
    return tuple(part * base for part in divisors(number // base, limit))


def _is_prime(number: int) -> bool:
    """The Miller-Rabin test, with bases that make it deterministic in this range."""
    if number < 2:
        return False
    if number in _WITNESSES:
        return True
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    return all(_passes(base, odd, twos, number) for base in _WITNESSES)


def _passes(base: int, odd: int, twos: int, number: int) -> bool:
    power = pow(base, odd, number)
    if power in (1, number - 1):
        return True
    for _ in range(twos - 1):
        power = power * power % number
        if power == number - 1:
            return True
    return False


def _proper_divisor(number: int) -> int:
    """A divisor other than 1 and itself of an odd composite (Pollard's rho)."""
    root = math.isqrt(number)
    if root * root == number:
        return root
    for shift in range(1, number):
        slow = fast = 2
        divisor = 1
        while divisor == 1:
            slow = (slow * slow + shift) % number
            fast = (fast * fast + shift) % number
            fast = (fast * fast + shift) % number
            divisor = math.gcd(slow - fast, number)
        if divisor != number:
            return divisor
    raise AssertionError(f"{number} has no proper divisor, though it is composite")
