"""Spark's order and equality of values."""

import math

import pytest

from weft.algebra.values import is_nan, less, order_key, same


def test_null_is_first_and_nan_last() -> None:
    values = [math.nan, 2.0, None, -math.inf, math.inf, 0.0]
    assert sorted(values, key=order_key)[:5] == [None, -math.inf, 0.0, 2.0, math.inf]


@pytest.mark.parametrize(
    ("left", "right"),
    [(math.inf, math.nan), (1, 2), ("Z", "a"), ("z", "é"), ([1, None], [1, 0]), (b"\x01", b"\xff")],
)
def test_less(left: object, right: object) -> None:
    assert less(left, right)
    assert not less(right, left)


@pytest.mark.parametrize(
    ("left", "right"),
    [(math.nan, math.nan), (0.0, -0.0), ((1, math.nan), (1, math.nan)), (None, None)],
)
def test_same(left: object, right: object) -> None:
    assert same(left, right)


def test_not_same() -> None:
    assert not same(None, math.nan)
    assert not same("a", "A")


def test_strings_are_ordered_by_their_bytes() -> None:
    words = ["a", "Z", "é", "中", "\U0001f600", ""]
    assert sorted(words, key=order_key) == sorted(words, key=lambda word: word.encode())


def test_is_nan() -> None:
    assert is_nan(math.nan)
    assert not is_nan("nan")
