"""Expressions of obviously equal meaning have one normal form; different ones differ."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.query.expression import normalise

EQUAL = [
    ("50 < volume", "volume > 50"),
    ("(volume) > ((50))", "volume > 50"),
    ("VOLUME>50", "`volume` > 50"),
    ("b > a", "a < b"),
    ("b = a", "a = b"),
    ("b <=> a", "a IS NOT DISTINCT FROM b"),
    ("a != 1", "NOT (a = 1)"),
    ("a == 1", "1 = a"),
    ("NOT (a < 1)", "a >= 1"),
    ("NOT NOT (a < 1)", "a < 1"),
    ("NOT (a IS NULL)", "a IS NOT NULL"),
    ("isnotnull(a)", "NOT isnull(a)"),
    ("NOT (a <=> b)", "a IS DISTINCT FROM b"),
    ("a BETWEEN 1 AND 5", "a <= 5 AND a >= 1"),
    ("a NOT BETWEEN 1 AND 5", "a < 1 OR a > 5"),
    ("NOT (a BETWEEN 1 AND 5)", "5 < a OR 1 > a"),
    ("NOT (a > 1 AND b > 2)", "b <= 2 OR a <= 1"),
    ("NOT (a IN (1, 2))", "a NOT IN (2, 1, 1)"),
    ("s IN ('b', 'a')", "s IN ('a', 'b', 'a')"),
    ("a > 1 AND b > 2", "b > 2 AND a > 1"),
    ("a > 1 AND (b > 2 AND c > 3)", "c > 3 AND b > 2 AND a > 1"),
    ("a > 1 OR a > 1", "a > 1"),
    ("(a > 1 OR b > 1) AND c > 1", "c > 1 AND (b > 1 OR a > 1)"),
    ("price * volume > 5", "5 < Volume * Price"),
    ("2 * a + 1", "a * 2 + 1"),
    ('UPPER(s) = "X"', "upper(S) = 'X'"),
    ("ucase(s) = 'X' AND a > 1", "a > 1 AND upper(s) = 'X'"),
    ("nvl(a, 0) > 1", "coalesce(a, 0) > 1"),
    ("filter(m, X -> x > 1)", "filter(M, x -> x > 1)"),
    ("a > 007", "a > 7"),
    ("a > 5l", "a > 5L"),
    ("cast(a as int) > 1", "CAST(A AS INT) > 1"),
    ("a > date'2024-01-01'", "a > DATE '2024-01-01'"),
    ("a > -5", "-5 < a"),
    ("NOT (s LIKE 'a%')", "s NOT LIKE 'a%'"),
    ("`a b` > 1", "1 < `A B`"),
]

DIFFERENT = [
    ("a > 50", "a > 50.0", "types"),
    ("a > 5", "a > 5L", "types"),
    ("a > 1.5", "a > 1.50", "scales"),
    ("a = 1", "a <=> 1", "nulls"),
    ("a IN (5)", "a = 5", "types are found in another way"),
    ("s = 'a'", "s = 'A'", "strings have a case"),
    ("m.Key = 1", "m.key = 1", "keys of maps have a case"),
    ("m['K'] = 1", "m['k'] = 1", "keys of maps have a case"),
    ("NOT s", "NOT NOT NOT NOT s", "a string is no boolean"),
    ("NOT NOT s", "s", "a string is no boolean"),
    ("x <> 0 AND 10 / x > 1", "10 / x > 1 AND x <> 0", "the guard stands first"),
    ("f(a) > 1 AND g(b) > 2", "g(b) > 2 AND f(a) > 1", "either may fail"),
    ("x = 0 OR 10 / x > 1", "10 / x > 1 OR x = 0", "the guard stands first"),
    ("a + b + c", "c + b + a", "grouping"),
    ("(a + b) * c", "c * (a + b)", "a null c would hide an overflow of a + b"),
    ("a + b * c", "(a + b) * c", "precedence"),
    ("a - b", "b - a", "order"),
    ("a = true", "a", "an integer is no boolean"),
    ("x LIKE ANY ('a', 'b')", "x LIKE ALL ('a', 'b')", "quantifiers"),
    ("`end` > 1", "`end` > 2", "constants"),
    ("f(a) BETWEEN 1 AND 2", "f(a) >= 1 AND f(a) <= 2", "f is worth calling once"),
]


@pytest.mark.parametrize(("one", "other"), EQUAL)
def test_equal(one: str, other: str) -> None:
    assert normalise(one) == normalise(other)


@pytest.mark.parametrize(("one", "other", "why"), DIFFERENT)
def test_different(one: str, other: str, why: str) -> None:
    assert normalise(one) != normalise(other), why


@pytest.mark.parametrize(
    ("sql", "normal"),
    [
        ("x <> 0 AND 10 / x > 1", "x <> 0 AND 10 / x > 1"),
        (
            "b > 1 AND a > 1 AND f(x) AND d > 1 AND c > 1",
            "a > 1 AND b > 1 AND f(x) AND c > 1 AND d > 1",
        ),
        ("volume > 50 AND side = 'B'", "side = 'B' AND volume > 50"),
        ("raw > 5 AND kind = 'number'", "kind = 'number' AND raw > 5"),
        ("NOT f(x)", "NOT f(x)"),
        ("`date` > 1 AND `order` > 2", "`date` > 1 AND `order` > 2"),
        ("a IN (10, 9, 10)", "a IN (9, 10)"),
        ("a IN (10, b)", "a IN (10, b)"),
        ("CASE WHEN NOT (a > 1) THEN 2 > B END", "CASE WHEN a <= 1 THEN b < 2 END"),
    ],
)
def test_normal_forms(sql: str, normal: str) -> None:
    assert normalise(sql) == normal


names = st.sampled_from(["a", "B", "`c`", "t.X", "`d e`"])
numbers = st.sampled_from(["1", "2.5", "-3", "4L", "1e3"])
values = st.recursive(
    names | numbers,
    lambda inner: st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from("+-*/%"), inner),
        st.builds("f({}, {})".format, inner, inner),
    ),
    max_leaves=3,
)
conditions = st.recursive(
    st.one_of(
        st.builds(
            "{} {} {}".format, values, st.sampled_from(["<", ">=", "=", "!=", "<=>"]), values
        ),
        st.builds("{} IS NOT NULL".format, names),
        st.builds("{} BETWEEN {} AND {}".format, values, numbers, numbers),
        st.builds("{} IN ({}, {})".format, names, numbers, numbers),
        st.builds("s LIKE {}".format, st.sampled_from(["'a%'", '"b"', "'it''s'"])),
    ),
    lambda inner: st.one_of(
        st.builds("({} AND {})".format, inner, inner),
        st.builds("({} OR {})".format, inner, inner),
        st.builds("NOT ({})".format, inner),
    ),
    max_leaves=6,
)


@settings(max_examples=300, deadline=None)
@given(sql=conditions)
def test_the_normal_form_is_normal(sql: str) -> None:
    once = normalise(sql)
    assert normalise(once) == once


small = st.sampled_from(["1", "2", "3"])
columns = st.sampled_from(["a", "b", "c"])
plain = st.recursive(
    st.one_of(
        st.builds(
            "{} {} {}".format,
            columns,
            st.sampled_from(["<", "<=", ">", ">=", "=", "<>"]),
            columns | small,
        ),
        st.builds("{} < {}".format, small, columns),
        st.builds("{} BETWEEN {} AND {}".format, columns, small, small),
        st.builds("{} IS NULL".format, columns),
        st.builds("{} NOT IN ({}, {})".format, columns, small, small),
    ),
    lambda inner: st.one_of(
        st.builds("({} AND {})".format, inner, inner),
        st.builds("({} OR {})".format, inner, inner),
        st.builds("(NOT {})".format, inner),
    ),
    max_leaves=6,
)


@settings(max_examples=200, deadline=None)
@given(sql=plain)
def test_the_normal_form_keeps_three_valued_logic(sql: str) -> None:
    """Checked with SQLite, which treats nulls in such conditions as Spark does."""
    domain = "WITH v(x) AS (VALUES (NULL), (1), (2), (3)) "
    rows = "FROM (SELECT p.x AS a, q.x AS b, r.x AS c FROM v p, v q, v r)"
    with closing(sqlite3.connect(":memory:")) as database:
        text = f"{domain} SELECT ({sql}) IS ({normalise(sql)}) {rows}"
        assert {row[0] for row in database.execute(text)} == {1}
