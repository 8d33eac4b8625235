"""Moments agree with the definitions, also far from zero."""

from __future__ import annotations

import math
import statistics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.algebra.moments import COMOMENTS, MOMENTS, MOMENTS4
from weft.algebra.monoid import Monoid, Partial

numbers = st.integers(-99, 99)
values = st.lists(st.integers(-1000, 1000).map(lambda i: i / 8), min_size=1, max_size=30)


def split(monoid: Monoid, rows: list[tuple[float, ...]], cut: int) -> Partial:
    """The partial of rows in two slices."""
    halves = [
        monoid.fold(*(monoid.lift(*row) for row in half)) for half in (rows[:cut], rows[cut:])
    ]
    return monoid.combine(*halves)


def power_sum(sample: list[float], power: int) -> float:
    mean = statistics.fmean(sample)
    return math.fsum((value - mean) ** power for value in sample)


@settings(max_examples=100, deadline=None)
@given(sample=values, cut=st.integers(0, 30))
def test_moments_are_sums_of_powers(sample: list[float], cut: int) -> None:
    n, mean, m2, m3, m4 = split(MOMENTS4, [(value,) for value in sample], cut)
    assert (n, mean) == (len(sample), pytest.approx(statistics.fmean(sample), abs=1e-9))
    for power, found in ((2, m2), (3, m3), (4, m4)):
        scale = max(abs(value) for value in sample) ** power * len(sample) + 1
        assert found == pytest.approx(power_sum(sample, power), abs=1e-11 * scale)
    two = split(MOMENTS, [(value,) for value in sample], cut)
    assert two == pytest.approx((n, mean, m2))


@settings(max_examples=50, deadline=None)
@given(
    pairs=st.lists(st.tuples(st.integers(-99, 99), st.integers(-99, 99)), min_size=2),
    data=st.data(),
)
def test_comoments_are_those_of_statistics(
    pairs: list[tuple[int, int]], data: st.DataObject
) -> None:
    rows = [(float(x), float(y)) for x, y in pairs]
    n, _, _, c, m2_x, m2_y = split(COMOMENTS, rows, data.draw(st.integers(0, len(rows))))
    xs, ys = zip(*rows, strict=True)
    assert c / (n - 1) == pytest.approx(statistics.covariance(xs, ys), abs=1e-7)
    assert m2_x == pytest.approx(statistics.pvariance(xs) * n, abs=1e-7)
    assert m2_y == pytest.approx(statistics.pvariance(ys) * n, abs=1e-7)


def test_a_large_mean_costs_no_digits() -> None:
    sample = [1e9 + value for value in (4.0, 7.0, 13.0, 16.0)]
    assert split(MOMENTS, [(value,) for value in sample], 2)[2] == 90.0


def test_a_row_counts_only_if_neither_is_null() -> None:
    rows = [(1.0, 2.0), (None, 5.0), (7.0, None)]
    assert COMOMENTS.fold(*(COMOMENTS.lift(*row) for row in rows)) == COMOMENTS.lift(1.0, 2.0)


@pytest.mark.parametrize("value", [math.inf, math.nan])
def test_what_is_not_finite_makes_the_deviation_nan(value: float) -> None:
    assert math.isnan(MOMENTS.lift(value)[2])
    assert math.isnan(MOMENTS.combine(MOMENTS.lift(1.0), MOMENTS.lift(value))[2])
