"""Booleans and bits skip nulls."""

import pytest

from weft.algebra.bits import MONOIDS
from weft.algebra.monoid import Monoid

BY_KIND = {monoid.kind: monoid for monoid in MONOIDS}


@pytest.mark.parametrize(
    ("kind", "values", "answer"),
    [
        ("bool_and", [True, None, True], True),
        ("bool_and", [True, False], False),
        ("bool_or", [False, None], False),
        ("bool_or", [False, True], True),
        ("bit_and", [12, 10, None], 8),
        ("bit_or", [12, 10], 14),
        ("bit_xor", [12, 10], 6),
        ("bit_and", [-1, 5], 5),
    ],
)
def test_answers(kind: str, values: list[int | None], answer: int) -> None:
    monoid = BY_KIND[kind]
    assert monoid.fold(*map(monoid.lift, values)) == (answer,)


@pytest.mark.parametrize("monoid", MONOIDS, ids=lambda monoid: monoid.kind)
def test_only_nulls_give_null(monoid: Monoid) -> None:
    assert monoid.fold(monoid.lift(None), monoid.lift(None)) == (None,)
