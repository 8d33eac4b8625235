"""Minimum and maximum, with NaN greater than all numbers."""

import math

import pytest

from weft.algebra.extremes import MAX, MIN
from weft.algebra.monoid import Monoid


def test_nan_is_the_greatest() -> None:
    partials = [MAX.lift(value) for value in (1.0, math.nan, math.inf)]
    assert math.isnan(MAX.fold(*partials)[0])
    assert MIN.fold(*partials) == (1.0,)


def test_only_nan_gives_nan() -> None:
    assert math.isnan(MIN.fold(MIN.lift(math.nan), MIN.lift(None))[0])


@pytest.mark.parametrize("monoid", [MIN, MAX], ids=["min", "max"])
def test_nulls_are_skipped(monoid: Monoid) -> None:
    assert monoid.fold((None,), (3,), (None,)) == (3,)
    assert monoid.fold((None,), (None,)) == (None,)


def test_strings() -> None:
    assert (MIN.fold(("b",), ("a",)), MAX.fold(("b",), ("B",))) == (("a",), ("b",))
