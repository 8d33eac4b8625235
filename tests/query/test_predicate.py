"""Predicates are split into conjuncts, and comparisons with typed constants are found."""

from __future__ import annotations

from decimal import Decimal

import pytest

from weft.query.expression import normalise
from weft.query.predicate import Comparison, Constant, comparison, conjuncts


@pytest.mark.parametrize(
    ("sql", "parts"),
    [
        ("a > 1", ("a > 1",)),
        ("b > 2 AND a > 1", ("a > 1", "b > 2")),
        ("a BETWEEN 1 AND 5 AND s = 'x'", ("s = 'x'", "a <= 5", "a >= 1")),
        ("a > 1 OR b > 2", ("a > 1 OR b > 2",)),
        ("(a > 1 OR b > 2) AND c", ("c", "(a > 1 OR b > 2)")),
    ],
)
def test_conjuncts(sql: str, parts: tuple[str, ...]) -> None:
    assert conjuncts(normalise(sql)) == parts


def test_conjuncts_make_up_the_predicate() -> None:
    whole = normalise("(a > 1 OR b > 2) AND c > 3 AND f(d)")
    assert normalise(" AND ".join(conjuncts(whole))) == whole


@pytest.mark.parametrize(
    ("sql", "constant"),
    [
        ("50", Constant("integer", "50", 50)),
        ("-50", Constant("integer", "-50", -50)),
        ("5L", Constant("long", "5L", 5)),
        ("5s", Constant("short", "5S", 5)),
        ("1.50", Constant("decimal", "1.50", Decimal("1.50"))),
        ("2BD", Constant("decimal", "2BD", Decimal(2))),
        ("1e3", Constant("double", "1E3", 1000.0)),
        ("1.5D", Constant("double", "1.5D", 1.5)),
        ("-1.5f", Constant("float", "-1.5F", -1.5)),
        ("'abc'", Constant("string", "'abc'", "abc")),
        ("'it''s'", Constant("string", "'it''s'", None)),
        ("date'2024-01-01'", Constant("date", "DATE '2024-01-01'", None)),
        (
            "TIMESTAMP '2024-01-01 00:00:00'",
            Constant("timestamp", "TIMESTAMP '2024-01-01 00:00:00'", None),
        ),
        ("interval 1 day", Constant("interval", "INTERVAL 1 DAY", None)),
    ],
)
def test_constants_keep_their_type(sql: str, constant: Constant) -> None:
    found = comparison(normalise(f"x > {sql}"))
    assert found == Comparison("x", ">", constant)
    assert found is not None
    assert type(found.constant.value) is type(constant.value)


@pytest.mark.parametrize(
    ("sql", "expression", "op"),
    [
        ("50 <= price * volume", "price * volume", ">="),
        ("NOT (f(x) = 50)", "f(x)", "<>"),
        ("(a + b) < 50", "a + b", "<"),
        ("a.b.c = 50", "a.b.c", "="),
    ],
)
def test_comparisons(sql: str, expression: str, op: str) -> None:
    found = comparison(normalise(sql))
    assert found is not None
    assert (found.expression, found.op, found.constant.value) == (expression, op, 50)


@pytest.mark.parametrize(
    "sql",
    ["a > b", "a <=> 5", "a IS NULL", "a > NULL", "a = true", "f(a)", "a > 1 OR b > 2", "1 > 0"],
)
def test_the_rest_is_opaque(sql: str) -> None:
    assert comparison(normalise(sql)) is None
