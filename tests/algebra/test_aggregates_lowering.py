"""Answers from partials, with Spark's types, nulls and limits."""

from __future__ import annotations

import math
from datetime import timedelta
from decimal import Decimal

import pytest

from weft.algebra import lowering as low
from weft.errors import AggregateError


@pytest.mark.parametrize(
    ("total", "n", "mean"),
    [
        (None, 0, None),
        (7, 2, 3.5),
        (2**63, 1, float(2**63)),
        (Decimal("1.00"), 3, Decimal("0.333333")),
        (Decimal("-2.00"), 3, Decimal("-0.666667")),
        (Decimal("0.05"), 100000, Decimal("0.000001")),  # half a unit rounds away from zero
        (Decimal("1." + "0" * 18), 3, Decimal("0." + "3" * 22)),
        (timedelta(microseconds=5), 2, timedelta(microseconds=3)),
    ],
)
def test_mean(total: object, n: int, mean: object) -> None:
    assert low.lower_mean(total, n) == mean


def test_mean_of_decimals_has_four_digits_more() -> None:
    assert str(low.lower_mean(Decimal("10.00"), 4)) == "2.500000"


def test_mean_in_sql() -> None:
    assert low.lower_mean_sql("t", "n", None) == "t / nullif(n, 0)"
    assert low.lower_mean_sql("t", "n", ["double"]) == "t / nullif(n, 0)"
    narrow = low.lower_mean_sql("t", "n", ["decimal(10,2)"])
    assert narrow == "CAST(t / nullif(n, 0) AS DECIMAL(14,6))"


def test_wide_decimals_are_not_divided_in_sql() -> None:
    assert low.lower_mean_sql("t", "n", ["decimal(38,18)"]) is None


def test_sums_of_decimals_are_cut_back_to_sparks_type() -> None:
    assert low.lower_sum_sql("t", ["decimal(10,2)"]) == "CAST(t AS DECIMAL(20,2))"
    assert low.lower_sum_sql("t", ["decimal(38,2)"]) == "CAST(t AS DECIMAL(38,2))"
    assert low.lower_sum_sql("t", ["bigint"]) == low.lower_sum_sql("t", None) == "t"


@pytest.mark.parametrize("total", [2**63 - 1, -(2**63), None, 1.5, Decimal(2**70)])
def test_sums_that_fit(total: object) -> None:
    assert low.lower_sum(total) == total
    assert low.lower_try_sum((total, 1)) == total


def test_an_integer_sum_past_a_long() -> None:
    with pytest.raises(AggregateError, match=r"9223372036854775808 does not fit .* try_sum"):
        low.lower_sum(2**63)
    assert low.lower_try_sum((2**63, 2)) is None


@pytest.mark.parametrize(
    ("moments", "population", "sample"),
    [((0, 0.0, 0.0), None, None), ((1, 5.0, 0.0), 0.0, None), ((2, 5.0, 8.0), 4.0, 8.0)],
)
def test_variance(moments: tuple[float, ...], population: object, sample: object) -> None:
    assert low.lower_variance(moments, 0) == population
    assert low.lower_variance(moments, 1) == sample


def test_root_of_nan_and_null() -> None:
    assert low.root(None) is None
    assert math.isnan(low.root(math.nan) or 0.0)


def test_skewness_and_kurtosis_of_what_does_not_vary_are_null() -> None:
    for moments in ((0, 0.0, 0.0, 0.0, 0.0), (3, 1.0, 0.0, 0.0, 0.0)):
        assert low.lower_skewness(moments) is None
        assert low.lower_kurtosis(moments) is None


def test_correlation_of_one_row_or_a_constant_is_null() -> None:
    assert low.lower_correlation((1, 1.0, 1.0, 0.0, 0.0, 0.0)) is None
    assert low.lower_correlation((2, 1.0, 1.5, 0.0, 0.0, 0.5)) is None
    assert low.lower_correlation((2, 1.0, 1.5, 0.5, 0.5, 0.5)) == 1.0


@pytest.mark.parametrize(
    ("type_name", "total"),
    [
        ("tinyint", "bigint"),
        ("BIGINT", "bigint"),
        ("string", "double"),
        ("decimal(30,4)", "decimal(38,4)"),
    ],
)
def test_sum_types(type_name: str, total: str) -> None:
    assert low.sum_type(type_name) == total


def test_a_distinct_sum_has_the_type_of_a_sum() -> None:
    assert "CAST(NULL AS BIGINT)" in low.distinct_sum_sql("v", ["int"])
    assert "CAST(NULL AS DOUBLE)" in low.distinct_sum_sql("v", ["string"])
    with pytest.raises(AggregateError, match="needs the type"):
        low.distinct_sum_sql("v", None)
    assert "INTERVAL DAY TO SECOND" in low.distinct_sum_sql("v", ["interval day to second"])
