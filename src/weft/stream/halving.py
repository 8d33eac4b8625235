"""Finds which of many numbers fail by bisection, when only sets of them can be tried."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

Stretch: TypeAlias = tuple[int, int]
"""The numbers from the first to the last, inclusive."""


def failing_numbers(
    stretches: Sequence[Stretch],
    fails: Callable[[Sequence[Stretch]], bool],
    *,
    most: int,
    tries: int,
) -> list[int]:
    """The first numbers that fail, at most `most`, found in at most `tries` tries.

    `fails` tries several ranges together. A set that fails contains a number that fails alone, so
    if the first half does not fail, the second half fails and needs no try.

    >>> bad = {3, 1_000_017}
    >>> def fails(some):
    ...     return any(low <= one <= high for one in bad for low, high in some)
    >>> failing_numbers([(0, 9_999), (1_000_000, 1_000_099)], fails, most=10, tries=100)
    [3, 1000017]
    >>> failing_numbers([(0, 9_999), (1_000_000, 1_000_099)], fails, most=1, tries=100)
    [3]
    """
    found: list[int] = []
    left = tries

    def search(piece: Sequence[Stretch], known: bool) -> bool:
        """Whether a piece fails; adds the numbers in it that do."""
        nonlocal left
        if len(found) >= most:
            return True
        if not known:
            if left <= 0:
                return False
            left -= 1
            if not fails(piece):
                return False
        if size(piece) == 1:
            found.append(piece[0][0])
            return True
        first, second = halves(piece)
        one = search(first, False)
        if left > 0:  # otherwise it is unknown whether the first half failed
            search(second, not one)
        return True

    if size(stretches):
        search(list(stretches), False)
    return found


def size(piece: Sequence[Stretch]) -> int:
    """The count of the numbers."""
    return sum(high - low + 1 for low, high in piece)


def halves(piece: Sequence[Stretch]) -> tuple[list[Stretch], list[Stretch]]:
    """The numbers split into two halves, in order.

    >>> halves([(0, 2), (10, 14)])
    ([(0, 2), (10, 10)], [(11, 14)])
    """
    first: list[Stretch] = []
    second: list[Stretch] = []
    left = size(piece) // 2
    for low, high in piece:
        cut = min(high + 1, low + left)
        left -= cut - low
        first += [(low, cut - 1)] if cut > low else []
        second += [(cut, high)] if cut <= high else []
    return first, second
