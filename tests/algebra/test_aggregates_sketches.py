"""Sketches stay within their error, and treat the same values as equal as Spark does."""

from __future__ import annotations

import math
import random
from decimal import Decimal

import pytest

from weft.algebra.part import Part
from weft.algebra.registry import monoid_of
from weft.algebra.sketches import (
    estimate_distinct,
    estimate_quantiles,
    hll_size,
    kll_size,
)
from weft.errors import AggregateError

HLL = monoid_of(Part("hll", ("x",), None, (12,)))
KLL = monoid_of(Part("kll", ("x",), None, (200,)))


def test_distinct_counts_across_slices() -> None:
    slices = [range(start, start + 1500) for start in range(0, 5000, 500)]
    partials = [HLL.fold(*map(HLL.lift, numbers)) for numbers in slices]
    assert estimate_distinct(HLL.fold(*partials)) == pytest.approx(6000, rel=0.07)


def test_few_values_are_counted_exactly() -> None:
    values = ["", "a", None, math.nan, math.nan, 0.0, -0.0, Decimal("1.0"), Decimal("1.00"), 2**70]
    assert estimate_distinct(HLL.fold(*map(HLL.lift, values))) == 6


def test_nothing_is_zero_values_and_no_quantile() -> None:
    assert estimate_distinct(HLL.identity) == 0
    assert estimate_quantiles(KLL.identity, (0.5,)) is None
    assert estimate_quantiles(KLL.lift(math.nan), (0.5,)) is None


def test_quantiles_are_exact_while_everything_is_kept() -> None:
    partial = KLL.fold(*map(KLL.lift, [1, 2, 2, 3]))
    # Spark's approx_percentile of the same values.
    assert estimate_quantiles(partial, (0.25, 0.5, 0.0, 1.0, 0.75)) == [1, 2, 1, 3, 2]


def test_quantiles_stay_within_their_rank_error() -> None:
    numbers = list(range(4000))
    random.Random(7).shuffle(numbers)
    partials = [KLL.fold(*map(KLL.lift, numbers[i : i + 400])) for i in range(0, 4000, 400)]
    (median,) = estimate_quantiles(KLL.fold(*partials), (0.5,)) or []
    assert abs(median / 4000 - 0.5) < 3 * 0.0133  # three times the error at k = 200


@pytest.mark.parametrize("rsd", [0.39, 0.05, 0.01, 0.002])
def test_registers_reach_the_wanted_error(rsd: float) -> None:
    assert 1.04 / math.sqrt(2 ** hll_size(rsd)) <= rsd


@pytest.mark.parametrize("accuracy", [1, 100, 10000])
def test_k_reaches_the_wanted_accuracy(accuracy: int) -> None:
    assert 2.296 / kll_size(accuracy) ** 0.9723 <= 1 / accuracy


def test_what_no_sketch_can_do_is_refused() -> None:
    with pytest.raises(AggregateError, match=r"rsd=0.5 .* up to 0.39"):
        hll_size(0.5)
    with pytest.raises(AggregateError, match="accuracy=0 must be at least 1"):
        kll_size(0)
