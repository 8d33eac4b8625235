"""Outputs: scalar expressions over aggregate calls."""

from __future__ import annotations

import pytest

from weft.errors import AggregateError, ExpressionError
from weft.query.output import read_output


def test_a_plain_call() -> None:
    output = read_output("n", "count(*)")
    assert output.is_plain
    assert output.render(["p0"]) == "p0"


def test_values_are_put_into_the_expression_as_operands() -> None:
    output = read_output("spread", "(max(price) - min(price)) / avg(price)")
    assert output.expression == "({0} - {1}) / {2}"
    assert output.render(["a", "b - c", "`odd name`"]) == "(a - (b - c)) / `odd name`"


def test_equal_calls_are_one() -> None:
    output = read_output("x", "mean(p) + AVG(P) * 2")
    assert output.expression == "{0} + {0} * 2"
    assert len(output.calls) == 1


def test_braces_in_strings_survive() -> None:
    output = read_output("x", "concat('{0}', max(s), '}')")
    assert output.render(["v"]) == "concat('{0}', v, '}')"


def test_spelling_does_not_matter() -> None:
    assert read_output("x", "MAX( Price )-MIN(`price`)") == read_output(
        "x", "max(price) - min(price)"
    )


@pytest.mark.parametrize(
    ("sql", "native"),
    [
        ("max(Price) - 1", "max(Price) - 1"),
        ("value_range(x) / 2", "(max(x) - min(x)) / 2"),
        ("geo_mean(x) FILTER (WHERE y > 1)", "(exp(avg(ln(x)) FILTER (WHERE y > 1)))"),
        ("first_n(x, 3)", "(slice(collect_list(x), 1, 3))"),
        ("last_n(x, 3)", "(reverse(slice(reverse(collect_list(x)), 1, 3)))"),
        ("first(x IGNORE NULLS)", "first(x) IGNORE NULLS"),
    ],
)
def test_native_is_plain_spark_sql(sql: str, native: str) -> None:
    assert read_output("x", sql).native == native


def test_lambdas_over_collected_values() -> None:
    output = read_output("x", "transform(collect_list(p), v -> v + 1)")
    assert output.expression == "transform({0}, v -> v + 1)"


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("price", r"column price is not under an aggregate: accepted are .* max\(price\)"),
        ("price + max(price)", "column price is not under an aggregate"),
        ("coalesce(price, max(price))", "column price is not under an aggregate"),
        ("foo(x)", "foo is not an aggregate that weft supports; accepted are any,"),
        ("maxx(x)", "maxx is not an aggregate that weft supports; did you mean max"),
        ("upper(max(x), y)", r"column y is not under an aggregate.* \(line 1, column 15\)"),
        ("5", "'5' has no aggregate"),
        ("foo(DISTINCT max(x))", "foo is not an aggregate that weft supports"),
        ("foo(*)", "foo is not an aggregate that weft supports"),
        ("max(x) > current_timestamp", "current_timestamp depends on when"),
        ("max(x) + rand()", "rand is not deterministic"),
        (
            "transform(collect_list(x), v -> v + max(y))",
            "an aggregate in a lambda is not supported",
        ),
        ("transform(collect_list(x), v -> v + y)", "column y is not under an aggregate"),
        ("window(max(ts), '1 hour')", "window makes windows"),
    ],
)
def test_refused(sql: str, message: str) -> None:
    with pytest.raises(AggregateError, match=message):
        read_output("x", sql)


def test_what_cannot_be_read_is_an_expression_error() -> None:
    with pytest.raises(ExpressionError, match=r"cannot be read as Spark SQL \(line 1, column"):
        read_output("x", "sum(x")
