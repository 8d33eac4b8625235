"""Which expressions can fail, and that these are evaluated in Spark's order."""

from __future__ import annotations

import pytest

from weft.engine.fragments.formula import formula_of, leaves_of, opaque_of
from weft.engine.fragments.safety import may_raise, shielded, typed_expressions
from weft.query.syntax.reader import read_expression
from weft.query.syntax.writer import write

TYPES = {
    "i": "int",
    "l": "bigint",
    "d": "double",
    "r": "float",
    "c": "decimal(10,2)",
    "w": "decimal(38,18)",
    "s": "string",
    "f": "boolean",
    "a": "date",
    "t": "timestamp",
    # The types that Spark would give expressions.
    "upper(s)": "string",
    "length(s)": "int",
    "abs(d)": "double",
    "s || 'x'": "string",
    "coalesce(i, i)": "int",
    "CAST(i AS BIGINT)": "bigint",
    "CAST(i AS STRING)": "string",
    "TRY_CAST(s AS INT)": "int",
    "coalesce(i, l)": "bigint",
    "upper(i)": "string",
}


@pytest.mark.parametrize(
    "sql",
    [
        *("i > 5", "i < l", "i = 2.5", "d >= 0.1", "c < 100", "s = 'x'", "s IN ('a', 'b')", "f"),
        *("f AND NOT f", "i IS NULL", "f IS TRUE", "d * 2 > 5", "d * i < 7", "-d < 1", "d / 2 > 1"),
        *("s LIKE 'a%'", "upper(s) = 'A'", "length(s) > 3", "a >= DATE'2024-01-01'", "i > NULL"),
        *("a > '2024-01-01'", "t < '2024-01-01 10:00:00'", "t > a", "f = TRUE", "abs(d) > 1"),
        *("s || 'x' = 'yx'", "coalesce(i, i) > 2", "CAST(i AS BIGINT) > 2"),
        *(
            "CAST(i AS STRING) = s",
            "TRY_CAST(s AS INT) > 2",
            "isnan(d)",
            "i > -5",
            "d > -0.5",
            "i BETWEEN 1 AND 2",
        ),
    ],
)
def test_what_cannot_fail(sql: str) -> None:
    assert not may_raise(read_expression(sql), TYPES.get)


@pytest.mark.parametrize(
    "sql",
    [
        *("1 / i > 2", "d / d > 1", "i % i = 0", "i + 1 > 2", "i * i > 5", "c * c > 1", "-i > 2"),
        *("s > 5", "i = s", "CAST(s AS INT) > 2", "a > 'today'", "s RLIKE s", "s LIKE 'a\\\\'"),
        *("some_function(i)", "CASE WHEN f THEN i END > 2", "abs(i) > 1", "unknown_column > 'x'"),
        *("coalesce(i, l) > 2", "w > 12345678901234567890123.5", "upper(i) = 'A'", "i DIV 2 > 1"),
        *("f AND 1 / i > 2", "d / 0 > 1", "transform(s, x -> x) IS NULL", "s LIKE s"),
    ],
)
def test_what_can_fail(sql: str) -> None:
    assert may_raise(read_expression(sql), TYPES.get)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("i = 0 AND f", "i = 0 AND f"),
        ("i <> 0 AND 1 / i > 2", "CASE WHEN NOT i <> 0 THEN FALSE ELSE 1 / i > 2 AND i <> 0 END"),
        (
            "f OR i = 0 OR 1 / i > 2",
            "CASE WHEN f THEN TRUE WHEN i = 0 THEN TRUE ELSE 1 / i > 2 OR f OR i = 0 END",
        ),
        (
            "NOT (f OR 1 / i > 2)",
            "NOT CASE WHEN f THEN TRUE ELSE 1 / i > 2 OR f END",
        ),
    ],
)
def test_shields_keep_order_and_meaning(sql: str, expected: str) -> None:
    found = write(shielded(read_expression(sql), TYPES.get))
    assert found.replace("(", "").replace(")", "") == expected.replace("(", "").replace(")", "")


def test_conjuncts_that_can_fail_stand_behind_those_before_them() -> None:
    sql = "f AND 1 / i > 2 AND 1 / l > 3 AND d > 1"
    types = {**TYPES, "1 / i": "double", "1 / l": "double"}
    assert [test.atom for test in leaves_of(formula_of(sql, types.get))] == [
        "truth of f",
        "value of CASE WHEN f THEN 1 / i END",
        "value of CASE WHEN f THEN CASE WHEN 1 / i > 2 THEN 1 / l END END",
        "value of d",
    ]
    assert opaque_of("f AND 1 / i > 2", TYPES.get).condition == "CASE WHEN f THEN 1 / i > 2 END"


def test_the_first_conjunct_needs_no_guard() -> None:
    types = {**TYPES, "1 / i": "double"}
    assert [test.atom for test in leaves_of(formula_of("1 / i > 2 AND f", types.get))] == [
        "value of 1 / i",
        "truth of f",
    ]


def test_types_are_asked_for_what_is_compared() -> None:
    trees = [read_expression("i * 2 > 5 AND upper(s) LIKE 'A%' AND exists(m, x -> x > 1)")]
    assert list(dict.fromkeys(typed_expressions(trees))) == [
        "i * 2",
        "i",
        "upper(s)",
        "s",
        "exists(m, x -> x > 1)",
    ]
