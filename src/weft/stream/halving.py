"""Which of many things fail, where only some of them together can be tried: by halving."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

Stretch: TypeAlias = tuple[int, int]
"""The numbers from the first to the last, both included."""


def failing_numbers(
    stretches: Sequence[Stretch],
    fails: Callable[[Sequence[Stretch]], bool],
    *,
    most: int,
    tries: int,
) -> list[int]:
    """The first numbers that fail, at most so many, found in at most so many tries.

    `fails` tries some stretches together. What fails has a number in it that fails alone, so of
    two halves the second needs no try if the first does not fail.

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
        if left > 0:  # or else it is not known whether the first has failed
            search(second, not one)
        return True

    if size(stretches):
        search(list(stretches), False)
    return found


def size(piece: Sequence[Stretch]) -> int:
    """How many numbers there are."""
    return sum(high - low + 1 for low, high in piece)


def halves(piece: Sequence[Stretch]) -> tuple[list[Stretch], list[Stretch]]:
    """Both halves of some numbers, in their order.

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
