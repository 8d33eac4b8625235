"""Every function's answer over rows in slices is the answer over the rows themselves."""

from __future__ import annotations

import math
import statistics
from typing import Any

import numpy as np
import pytest

from weft.algebra.aggregate import Aggregate
from weft.algebra.catalogue import (
    BY_NAME,
    BY_ORDER,
    CALLABLE,
    FUNCTIONS,
    IGNORING_NULLS,
    OVER_DISTINCT,
)
from weft.algebra.registry import monoid_of
from weft.query.functions import AGGREGATES, OWN_AGGREGATES

X = [3, None, 1, 4, 1, None, 5]
Y = [2.0, 1.0, None, 0.5, 4.0, 8.0, 3.0]
BOTH = [(3.0, 2.0), (4.0, 0.5), (1.0, 4.0), (5.0, 3.0)]
VALID = [3, 1, 4, 1, 5]


def answer(function: str, *columns: list[Any], options: tuple[Any, ...] = (), cut: int = 3) -> Any:
    """The answer over rows in two slices."""
    aggregate = Aggregate(function, ("x", "y")[: len(columns)], None, options)
    totals = []
    for part in aggregate.parts:
        monoid = monoid_of(part)
        rows = list(zip(*columns, strict=True))
        if function == "geo_mean":
            rows = [(None if x is None or x <= 0 else math.log(x),) for (x,) in rows]
        lifted = [monoid.lift(*row) for row in rows]
        totals.append(monoid.combine(monoid.fold(*lifted[:cut]), monoid.fold(*lifted[cut:])))
    return aggregate.lower(totals)


ONE = {
    "count": 5,
    "count_distinct": 4,
    "sum": 14,
    "sum_distinct": 13,
    "try_sum": 14,
    "min": 1,
    "max": 5,
    "value_range": 4,
    "avg": 2.8,
    "try_avg": 2.8,
    "geo_mean": statistics.geometric_mean(VALID),
    "product": 60.0,
    "var_pop": statistics.pvariance(VALID),
    "var_samp": statistics.variance(VALID),
    "stddev_pop": statistics.pstdev(VALID),
    "stddev_samp": statistics.stdev(VALID),
    "skewness": sum((x - 2.8) ** 3 for x in VALID) / 5 / statistics.pstdev(VALID) ** 3,
    "kurtosis": sum((x - 2.8) ** 4 for x in VALID) / 5 / statistics.pvariance(VALID) ** 2 - 3,
    "first": 3,
    "first_valid": 3,
    "last": 5,
    "last_valid": 5,
    "bit_and": 0,
    "bit_or": 7,
    "bit_xor": 3 ^ 1 ^ 4 ^ 1 ^ 5,
    "collect_list": VALID,
    "collect_set": [1, 3, 4, 5],
}
XS, YS = [x for x, _ in BOTH], [y for _, y in BOTH]
TWO = {
    "covar_pop": statistics.covariance(XS, YS) * 3 / 4,
    "covar_samp": statistics.covariance(XS, YS),
    "corr": statistics.correlation(XS, YS),
    # numpy's least squares of y on x: the first argument is y.
    **dict(zip(("regr_slope", "regr_intercept"), np.polyfit(YS, XS, 1).tolist(), strict=True)),
    "regr_count": 4,
    "regr_sxx": statistics.pvariance(YS) * 4,
    "regr_syy": statistics.pvariance(XS) * 4,
    "regr_sxy": statistics.covariance(XS, YS) * 3,
    "regr_r2": statistics.correlation(XS, YS) ** 2,
    "min_by": 4,
    "max_by": None,
    "first_at": 4,
    "first_valid_at": 4,
    "last_at": None,
    "last_valid_at": 1,
    "collect_list_at": [4, 3, 5, 1],
}
CONSTANT = {
    ("first_n", (2,)): [3, 1],
    ("last_n", (2,)): [1, 5],
    ("approx_count_distinct", (9,)): 4,
    ("percentile", ("value", "ASC", 0.5)): statistics.median(VALID),
    ("percentile", ("array", "ASC", 0.25, 1.0)): [1.0, 5.0],
    ("percentile", ("value", "DESC", 0.1)): 4.6,
    ("percentile_disc", ("value", "ASC", 0.41)): 3,
    ("percentile_disc", ("array", "DESC", 0.0, 0.6)): [5, 3],
    ("mode", ("ASC",)): 1,
    ("approx_percentile", (200, "value", 0.5)): 3.0,
    ("approx_percentile", (200, "array", 0.0, 1.0)): [1.0, 5.0],
}
OTHERS = {"bool_and", "bool_or", "first_n_at", "last_n_at"}
OTHERS |= {"listagg_distinct", "listagg", "listagg_at", "min_by_n", "max_by_n"}


def test_every_function_is_tried() -> None:
    tried = {*ONE, *TWO, *(name for name, _ in CONSTANT), *OTHERS}
    assert tried == {function.name for function in FUNCTIONS}


@pytest.mark.parametrize("cut", [0, 2, 5, 7])
@pytest.mark.parametrize("function", ONE)
def test_functions_of_one_argument(function: str, cut: int) -> None:
    expected = ONE[function]
    found = answer(function, X, cut=cut)
    assert found == (pytest.approx(expected) if isinstance(expected, float) else expected)


@pytest.mark.parametrize("cut", [0, 3, 7])
@pytest.mark.parametrize("function", TWO)
def test_functions_of_two_arguments(function: str, cut: int) -> None:
    expected = TWO[function]
    found = answer(function, X, Y, cut=cut)
    assert found == (pytest.approx(expected) if isinstance(expected, float) else expected)


@pytest.mark.parametrize(("function", "options"), CONSTANT)
def test_functions_with_constants(function: str, options: tuple[Any, ...]) -> None:
    assert answer(function, X, options=options) == CONSTANT[function, options]


def test_booleans() -> None:
    assert answer("bool_and", [True, None, False]) is False
    assert answer("bool_or", [True, None, False]) is True


def test_first_and_last_n_by_the_order_column() -> None:
    assert answer("first_n_at", X, Y, options=(2,)) == [4, 3]
    assert answer("last_n_at", X, Y, options=(2,)) == [5, 1]


def test_texts_end_to_end() -> None:
    texts = ["b", None, "a", "c"]
    assert answer("listagg", texts, options=("; ", "ASC")) == "b; a; c"
    assert answer("listagg_at", texts, [3, 1, 2, None], options=("", "ASC")) == "ab"
    assert answer("listagg_at", texts, [3, 1, 2, 0], options=(",", "DESC")) == "b,a,c"


def test_distinct_texts_are_in_their_order() -> None:
    texts = ["b", "a", None, "b"]
    assert answer("listagg_distinct", texts, options=(",", "ASC")) == "a,b"
    assert answer("listagg_distinct", texts, options=(",", "DESC")) == "b,a"


def test_the_values_of_the_least_and_greatest_others() -> None:
    # The argument is a struct, so that its nulls are kept.
    structs = [(x,) for x in X]
    assert answer("min_by_n", structs, Y, options=(2,)) == [4, None]
    assert answer("max_by_n", structs, Y, options=(3,)) == [None, 1, 5]
    assert answer("max_by_n", structs, [None] * 7, options=(3,)) is None


def test_the_most_frequent_value_is_the_least_or_greatest_of_several() -> None:
    assert answer("mode", [2, 1, 2, 1, 0], options=("ASC",)) == 1
    assert answer("mode", [2, 1, 2, 1, 0], options=("DESC",)) == 2


@pytest.mark.parametrize(
    ("ys", "xs", "expected"),
    [
        # As Spark 4.3 answers: slope, intercept and r2.
        ([1.0], [2.0], (None, None, None)),
        ([1.0, 3.0], [2.0, 2.0], (None, None, None)),
        ([3.0, 3.0], [2.0, 4.0], (0.0, 3.0, 1.0)),
    ],
)
def test_regression_where_nothing_varies(
    ys: list[float], xs: list[float], expected: tuple[float | None, ...]
) -> None:
    names = ("regr_slope", "regr_intercept", "regr_r2")
    assert tuple(answer(name, ys, xs, cut=1) for name in names) == expected
    assert answer("regr_sxx", [None], [1.0]) is None


NOT_NULL = {"count": 0, "count_distinct": 0, "approx_count_distinct": 0, "collect_list": []}


@pytest.mark.parametrize("function", [f for f in FUNCTIONS if f.arity[0] < 2], ids=lambda f: f.name)
def test_over_nulls_alone_the_answer_is_null_unless_it_counts_or_collects(function: Any) -> None:
    options = {
        "first_n": (2,),
        "last_n": (2,),
        "approx_count_distinct": (9,),
        "approx_percentile": (200, "value", 0.5),
        "percentile": ("value", "ASC", 0.5),
        "percentile_disc": ("array", "ASC", 0.5),
        "mode": ("ASC",),
        "listagg": (",", "ASC"),
        "listagg_distinct": (",", "ASC"),
    }
    found = answer(function.name, [None, None], options=options.get(function.name, ()))
    lists = ("collect_list", "collect_set", "first_n", "last_n")
    assert found == ([] if function.name in lists else NOT_NULL.get(function.name))


def test_the_names_that_queries_call_are_known_as_aggregates() -> None:
    assert set(CALLABLE) <= AGGREGATES
    assert set(CALLABLE) >= OWN_AGGREGATES


def test_what_spark_lacks_has_a_definition() -> None:
    for function in FUNCTIONS:
        assert (function.definition is not None) == (function.name in OWN_AGGREGATES)


def test_variants_exist() -> None:
    for variants in (OVER_DISTINCT, IGNORING_NULLS):
        assert set(variants) | set(variants.values()) <= set(BY_NAME)
    assert {f"{name}_at" for name in BY_ORDER} <= set(BY_NAME)
    assert {f.name for f in FUNCTIONS if f.distinct == "other"} == set(OVER_DISTINCT)
