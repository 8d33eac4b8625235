"""Aggregates share parts, and are lowered in Python and in Spark SQL."""

from __future__ import annotations

import pytest

from weft.algebra.aggregate import Aggregate
from weft.algebra.catalogue import FUNCTIONS
from weft.algebra.function import Function
from weft.algebra.part import Part
from weft.algebra.registry import monoid_of

OPTIONS = {
    "min_by_n": (2,),
    "max_by_n": (2,),
    "percentile": ("array", "DESC", 0.5),
    "percentile_disc": ("value", "ASC", 0.5),
    "mode": ("ASC",),
    "listagg": (", ", "ASC"),
    "listagg_distinct": (", ", "ASC"),
    "listagg_at": (", ", "DESC"),
    "first_n": (2,),
    "last_n": (2,),
    "first_n_at": (2,),
    "last_n_at": (2,),
    "approx_count_distinct": (9,),
    "approx_percentile": (200, "array", 0.25, 0.5),
}


def parts(function: str, *args: str, where: str | None = None) -> set[Part]:
    return set(Aggregate(function, args, where).parts)


def test_sum_count_and_avg_share_their_parts() -> None:
    assert parts("avg", "x") == parts("sum", "x") | parts("count", "x")


def test_the_variance_family_shares_one_part() -> None:
    family = ("var_pop", "var_samp", "stddev_pop", "stddev_samp")
    assert len(set.union(*(parts(function, "x") for function in family))) == 1
    assert parts("skewness", "x") == parts("kurtosis", "x")
    assert parts("corr", "x", "y") == parts("covar_pop", "x", "y") == parts("covar_samp", "x", "y")


def test_value_range_is_made_of_max_and_min() -> None:
    assert parts("value_range", "x") == parts("max", "x") | parts("min", "x")


def test_filters_and_arguments_keep_parts_apart() -> None:
    assert not parts("sum", "x") & parts("sum", "x", where="y > 1")
    assert not parts("sum", "x") & parts("sum", "y")


def test_distinct_values_are_kept_once() -> None:
    assert parts("count_distinct", "x") == parts("sum_distinct", "x") == parts("collect_set", "x")


def test_only_the_mean_of_bigint_has_parts_of_its_own() -> None:
    mean = Aggregate("avg", ("x",), "y > 1")
    assert mean.parts_for(["int"]) == mean.parts_for(None) == mean.parts
    assert mean.parts_for(["bigint"])[0] == Part("sum", ("CAST(x AS DOUBLE)",), "y > 1")
    total = Aggregate("sum", ("x",))
    assert total.parts_for(["bigint"]) == total.parts


def test_ordered_leaves_others_alone() -> None:
    total = Aggregate("sum", ("x",))
    assert total.ordered("ts") is total
    last = Aggregate("last_n", ("x",), "y > 1", (3,)).ordered("ts")
    assert last.parts == (Part("last_n_at", ("x", "ts"), "y > 1", (3,)),)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.name)
def test_spark_lower_reads_the_columns_of_its_parts_only(function: Function) -> None:
    args = ("x", "y")[: max(1, function.arity[0])]
    aggregate = Aggregate(function.name, args, None, OPTIONS.get(function.name, ()))
    columns = [
        [f"p{i}_{component.name}" for component in monoid_of(part).components]
        for i, part in enumerate(aggregate.parts)
    ]
    sql = aggregate.spark_lower(columns, ["double"])
    assert sql is not None
    assert any(column in sql for names in columns for column in names)
    assert sql.count("(") == sql.count(")")


def test_percentiles_in_sql_have_the_type_of_their_column() -> None:
    one = Aggregate("approx_percentile", ("x",), None, (200, "value", 0.5))
    assert one.spark_lower([["s"]], ["int"]) == (
        "CASE WHEN kll_sketch_get_n_double(s) > 0 "
        "THEN CAST(kll_sketch_get_quantile_double(s, 0.5D) AS int) END"
    )
    assert "AS array<int>" in str(
        Aggregate("approx_percentile", ("x",), None, (200, "array", 0.5)).spark_lower(
            [["s"]], ["int"]
        )
    )
