"""Halving finds the elements that fail, within its limits."""

from __future__ import annotations

import random

import pytest

from weft.stream.halving import Stretch, failing_numbers


@pytest.mark.parametrize("seed", range(40))
def test_all_that_fail_are_found_in_few_tries(seed: int) -> None:
    drawn = random.Random(seed)
    stretches, at = list[Stretch](), 0
    for _ in range(drawn.randint(1, 4)):
        at += drawn.randint(1, 1000)
        stretches.append((at, at + drawn.randint(0, 500)))
        at = stretches[-1][1]
    numbers = [n for low, high in stretches for n in range(low, high + 1)]
    bad = set(drawn.sample(numbers, min(len(numbers), drawn.randint(0, 5))))
    tries = 0

    def fails(some: list[Stretch]) -> bool:
        nonlocal tries
        tries += 1
        return any(low <= one <= high for one in bad for low, high in some)

    assert failing_numbers(stretches, fails, most=10, tries=1000) == sorted(bad)
    assert tries <= 1 + 2 * len(bad) * (len(numbers)).bit_length()


def test_it_ends_when_it_has_tried_enough() -> None:
    tries = 0

    def fails(some: list[Stretch]) -> bool:
        nonlocal tries
        tries += 1
        return True

    found = failing_numbers([(0, 999_999)], fails, most=1000, tries=60)
    assert tries == 60
    assert found == list(range(len(found)))
    assert 20 < len(found) < 60
    assert failing_numbers([], fails, most=1, tries=1) == []
