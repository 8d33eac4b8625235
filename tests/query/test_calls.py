"""Calls: the meaning of each, and why others are refused."""

from __future__ import annotations

import pytest

from weft.algebra.aggregate import Aggregate
from weft.errors import AggregateError, ExpressionError, QueryError
from weft.query.calls import make_aggregate
from weft.query.syntax.reader import read_expression
from weft.query.syntax.tree import Call


def read(sql: str) -> Aggregate:
    node = read_expression(sql)
    assert isinstance(node, Call)
    return make_aggregate(sql, node)


@pytest.mark.parametrize(
    ("sql", "aggregate"),
    [
        ("count(*)", Aggregate("count")),
        ("COUNT(1)", Aggregate("count")),
        ("count('x')", Aggregate("count")),
        ("count(NULL)", Aggregate("count", ("NULL",))),
        ("count(X)", Aggregate("count", ("x",))),
        ("count(a, 1, b)", Aggregate("count", ("a", "b"))),
        ("count(DISTINCT a, b)", Aggregate("count_distinct", ("a", "b"))),
        ("count_if(5 < x)", Aggregate("count", (), "x > 5")),
        ("count_if(x > 5) FILTER (WHERE y)", Aggregate("count", (), "y AND x > 5")),
        ("count(*) FILTER (WHERE 5 < x)", Aggregate("count", (), "x > 5")),
        ("sum(price * volume)", Aggregate("sum", ("price * volume",))),
        ("sum(volume * price)", Aggregate("sum", ("price * volume",))),
        ("sum(DISTINCT x)", Aggregate("sum_distinct", ("x",))),
        ("mean(x)", Aggregate("avg", ("x",))),
        ("std(x)", Aggregate("stddev_samp", ("x",))),
        ("stddev(x)", Aggregate("stddev_samp", ("x",))),
        ("variance(x)", Aggregate("var_samp", ("x",))),
        ("max(DISTINCT x)", Aggregate("max", ("x",))),
        ("first(x)", Aggregate("first", ("x",))),
        ("first_value(x) RESPECT NULLS", Aggregate("first", ("x",))),
        ("any_value(x)", Aggregate("first", ("x",))),
        ("first(x, true)", Aggregate("first_valid", ("x",))),
        ("first(x, false)", Aggregate("first", ("x",))),
        ("first(x IGNORE NULLS)", Aggregate("first_valid", ("x",))),
        ("last_value(x) IGNORE NULLS", Aggregate("last_valid", ("x",))),
        ("every(b)", Aggregate("bool_and", ("b",))),
        ("some(b)", Aggregate("bool_or", ("b",))),
        ("any(b)", Aggregate("bool_or", ("b",))),
        ("first_n(x, 3)", Aggregate("first_n", ("x",), None, (3,))),
        ("array_agg(x)", Aggregate("collect_list", ("x",))),
        ("collect_list(DISTINCT x)", Aggregate("collect_set", ("x",))),
        ("approx_count_distinct(x)", Aggregate("approx_count_distinct", ("x",), None, (9,))),
        ("approx_count_distinct(x, 0.01)", Aggregate("approx_count_distinct", ("x",), None, (14,))),
        (
            "percentile_approx(x, 0.5D, 100)",
            Aggregate("approx_percentile", ("x",), None, (269, "value", 0.5)),
        ),
        (
            "approx_percentile(x, array(0.25, 1))",
            Aggregate("approx_percentile", ("x",), None, (30565, "array", 0.25, 1.0)),
        ),
        ("`sum`(x)", Aggregate("sum", ("x",))),
        ("median(x)", Aggregate("percentile", ("x",), None, ("value", "ASC", 0.5))),
        (
            "percentile_cont(0.5) WITHIN GROUP (ORDER BY X ASC) FILTER (WHERE y > 1)",
            Aggregate("percentile", ("x",), "y > 1", ("value", "ASC", 0.5)),
        ),
        (
            "percentile_disc(array(0, 1)) WITHIN GROUP (ORDER BY x DESC)",
            Aggregate("percentile_disc", ("x",), None, ("array", "DESC", 0.0, 1.0)),
        ),
        ("mode(x, true)", Aggregate("mode", ("x",), None, ("ASC",))),
        ("mode() WITHIN GROUP (ORDER BY x DESC)", Aggregate("mode", ("x",), None, ("DESC",))),
        ("string_agg(x, '; ')", Aggregate("listagg", ("x",), None, ("; ", "ASC"))),
        (
            "listagg(x) WITHIN GROUP (ORDER BY y DESC, z DESC)",
            Aggregate("listagg_at", ("x", "struct(y, z)"), None, ("", "DESC")),
        ),
        (
            "listagg(DISTINCT x, ',') WITHIN GROUP (ORDER BY X DESC)",
            Aggregate("listagg_distinct", ("x",), None, (",", "DESC")),
        ),
        ("listagg(DISTINCT x)", Aggregate("listagg_distinct", ("x",), None, ("", "ASC"))),
        ("max_by(x, y, 3)", Aggregate("max_by_n", ("x", "y"), None, (3,))),
        ("regr_r2(y, x)", Aggregate("regr_r2", ("y", "x"))),
        (
            "regr_avgx(y, x)",
            Aggregate("avg", ("CASE WHEN CAST(y AS DOUBLE) IS NOT NULL THEN x END",)),
        ),
        (
            "regr_avgy(y, x)",
            Aggregate("avg", ("CASE WHEN CAST(x AS DOUBLE) IS NOT NULL THEN y END",)),
        ),
    ],
)
def test_calls(sql: str, aggregate: Aggregate) -> None:
    assert read(sql) == aggregate


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        (
            "vector_sum(x)",
            "vector_sum is not an aggregate that weft supports: it is not supported yet",
        ),
        ("median(x, 2)", r"median is supported as median\(x\)"),
        ("median(DISTINCT x)", r"median\(DISTINCT ...\) is not supported"),
        ("percentile(x, 0.5, n)", r"percentile is supported as percentile\(x, p\), without"),
        ("percentile(x, 2)", "percentage=2.0 must be from 0 to 1"),
        ("percentile_disc(0.5)", r"supported as percentile_disc\(p\) WITHIN GROUP \(ORDER BY x\)"),
        ("mode(x, y)", "mode is supported as"),
        ("mode(x) WITHIN GROUP (ORDER BY y)", "mode is supported as"),
        ("sum(x) WITHIN GROUP (ORDER BY y)", "sum takes no WITHIN GROUP; listagg, string_agg"),
        ("listagg(x, y)", "listagg: the separator must be a constant text"),
        ("listagg(x, '') WITHIN GROUP (ORDER BY y, z DESC)", "supported in one direction"),
        ("listagg(DISTINCT x) WITHIN GROUP (ORDER BY y)", "ORDER BY x, as in Spark"),
        ("max_by(x, y, z)", "max_by: n must be a constant whole number above 0, not z"),
        ("regr_slope(x)", "regr_slope takes 2 arguments, y and x, not 1"),
        ("summ(x)", "summ is not an aggregate that weft supports; did you mean sum"),
        ("count_distinct(x)", "did you mean approx_count_distinct"),
        ("sum(max(x))", r"max inside sum: aggregates do not nest \(line 1, column 5\)"),
        ("sum(x) FILTER (WHERE max(y) > 1)", "max inside sum"),
        (
            "avg(DISTINCT x)",
            r"avg\(DISTINCT ...\) is not supported; DISTINCT is accepted in approx_",
        ),
        ("first(DISTINCT x)", r"first\(DISTINCT ...\) is not supported"),
        ("count_if(DISTINCT x)", r"count_if\(DISTINCT ...\) is not supported"),
        ("count_if(x, y)", "count_if takes one condition"),
        ("sum(x) IGNORE NULLS", "sum takes no IGNORE NULLS; first and last do"),
        ("sum(*)", "sum takes no star"),
        ("count(DISTINCT *)", "count takes no star"),
        ("count(*, x)", "count takes a star or expressions, not both"),
        ("count()", "count takes a star or expressions"),
        ("sum()", r"sum takes 1 argument\(s\), not 0"),
        ("sum(x, y)", r"sum takes 1 argument\(s\), not 2"),
        ("corr(x)", r"corr takes 2 argument\(s\), not 1"),
        ("first(x, y)", "first: the second argument must be true or false"),
        ("first_n(x)", r"first_n takes an expression and a number: first_n\(x, 10\)"),
        ("first_n(x, 0)", "first_n: n must be a constant whole number above 0, not 0"),
        ("last_n(x, y)", "last_n: n must be a constant whole number above 0, not y"),
        ("approx_percentile(x)", r"approx_percentile takes \(x, percentage\)"),
        ("approx_percentile(x, 1.5)", "percentage=1.5 must be from 0 to 1"),
        ("approx_percentile(x, array(0.5, 2))", "percentage=2.0 must be from 0 to 1"),
        ("approx_percentile(x, p)", "percentage must be a constant number, not p"),
        ("approx_percentile(x, 0.5, 0)", "accuracy must be a constant whole number above 0"),
        ("approx_count_distinct(x, 0.5)", "rsd=0.5 is out of reach"),
        ("approx_count_distinct(x, 0.1, 2)", r"takes 1 argument\(s\), not 2"),
    ],
)
def test_refused(sql: str, message: str) -> None:
    with pytest.raises(AggregateError, match=message):
        read(sql)


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("sum(rand())", r"rand is not deterministic.* \(line 1, column 5\)"),
        ("sum(x) FILTER (WHERE ts > now())", "now depends on when the query runs"),
        ("max(explode(x))", "explode makes several rows of one"),
        ("sum(lag(x))", "lag is a window function"),
    ],
)
def test_arguments_are_checked(sql: str, message: str) -> None:
    with pytest.raises(ExpressionError, match=message) as caught:
        read(sql)
    assert isinstance(caught.value, QueryError)
