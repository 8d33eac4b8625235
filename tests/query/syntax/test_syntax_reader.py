"""An expression is read with the meaning that it has in Spark, or it is refused."""

from __future__ import annotations

from contextlib import suppress

import pytest

from weft.errors import ExpressionError
from weft.query.syntax.reader import read_expression
from weft.query.syntax.writer import write


@pytest.mark.parametrize(
    ("sql", "written"),
    [
        ("array(1,2)[0]", "array(1, 2)[0]"),
        ("a.b[0].c", "a.b[0].c"),
        ("cast(x AS int)", "CAST(x AS INT)"),
        ("try_cast(x as decimal(10, 2))", "TRY_CAST(x AS DECIMAL(10,2))"),
        ("cast(x as struct<A: int>)", "CAST(x AS struct<A:int>)"),
        ("cast(x as interval day to second)", "CAST(x AS INTERVAL DAY TO SECOND)"),
        ("extract(year from d) = 5", "EXTRACT(YEAR FROM d) = 5"),
        ("a & b = c", "a & b = c"),
        ("(a ^ b) | c", "(a ^ b) | c"),
        ("(a || b) + c", "(a || b) + c"),
        ("a || b || c", "a || b || c"),
        ("- a * b", "-a * b"),
        ("a - (b - c)", "a - (b - c)"),
        ("a - b - c", "a - b - c"),
        ("(a or b) and c", "(a OR b) AND c"),
        ("not a = b", "NOT a = b"),
        ("!a = b", "NOT a = b"),
        ("a == b", "a = b"),
        ("a != b", "a <> b"),
        ("x not in (1, 2)", "x NOT IN (1, 2)"),
        ("not x in (1, 2)", "x NOT IN (1, 2)"),
        ("not (x in (1, 2))", "NOT (x IN (1, 2))"),
        ("x not between 1 and 2 or b", "x NOT BETWEEN 1 AND 2 OR b"),
        ("x is not null", "x IS NOT NULL"),
        ("x is distinct from y", "x IS DISTINCT FROM y"),
        ("x is not distinct from y", "x IS NOT DISTINCT FROM y"),
        ("x <=> y", "x <=> y"),
        ("a like b || c", "a LIKE b || c"),
        ("x not like '%a' escape '!'", "x NOT LIKE '%a' ESCAPE '!'"),
        ("a like any ('x', 'y')", "a LIKE ANY ('x', 'y')"),
        ("not a like all ('x', 'y')", "NOT a LIKE ALL ('x', 'y')"),
        ("x regexp 'a'", "x RLIKE 'a'"),
        ("'it''s'", "'it''s'"),
        ("r'\\d'", "r'\\d'"),
        ("1.5BD + 5L", "1.5BD + 5L"),
        ("date '2024-01-01' < d", "DATE '2024-01-01' < d"),
        ("ts + interval 1 hour", "ts + INTERVAL 1 HOUR"),
        ("transform(a, x -> x + 1)", "transform(a, x -> x + 1)"),
        ("map_filter(m, (k, v) -> k > v)", "map_filter(m, (k, v) -> k > v)"),
        ("if(a, b, c) > 3", "if(a, b, c) > 3"),
        ("case x when 1 then 2 end", "CASE x WHEN 1 THEN 2 END"),
        ("(a, b) in ((1, 2), (3, 4))", "(a, b) IN ((1, 2), (3, 4))"),
        ("struct(a as b, c)", "struct(a AS b, c)"),
        ("count(distinct a, b) filter (where c)", "count(DISTINCT a, b) FILTER (WHERE c)"),
        ("first(x ignore nulls)", "first(x) IGNORE NULLS"),
        ("user = 'x' and date > 5 and end < 3", "user = 'x' AND date > 5 AND end < 3"),
        ("cat.db.f(x)", "cat.db.f(x)"),
        ("-(-a)", "-(-a)"),
    ],
)
def test_reads_and_writes(sql: str, written: str) -> None:
    node = read_expression(sql)
    assert write(node) == written
    assert read_expression(written) == node


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("", "the expression is empty"),
        ("-- only a comment", "the expression is empty"),
        ("a >", r"cannot be read as Spark SQL \(line 1, column 3\)"),
        ("sum(x", "cannot be read as Spark SQL"),
        ("a.", "cannot be read as Spark SQL"),
        ("a b c", "cannot be read as Spark SQL"),
        ("a in (1, 2) = b", "is ambiguous"),
        ("+5", "is ambiguous"),
        ("a b", "is ambiguous"),
        ("'a' 'b'", "two values in a row"),
        ("x = :k", r"parameters are not known here \(line 1, column 5\)"),
        ("x = $1", r"parameters are not known here"),
        ("f(:k)", r"parameters are not known here"),
        ("x:city", r"paths into variants"),
        ("x::int", r"write CAST\(value AS type\).* \(line 1, column 2\)"),
        ("a; b", "one expression is expected"),
        ("a = ?", "parameters are not known"),
        ("x:y.z", "paths into variants"),
        ("f(a => 1)", "named arguments are not supported"),
        ("x in (select 1)", r"a subquery cannot be shared.* \(line 1, column 7\)"),
        ("exists (select 1)", "a subquery cannot be shared"),
        ("sum(x) over (order by y)", "a window function"),
        ("sum(x) ignore nulls over ()", "a window function"),
        ("f(x) within group (order by x nulls last)", "cannot be read"),
        ("f(x) within group (order by x) within group (order by y)", "cannot be read|not know"),
        ("x not like any ('a', 'b')", r"write NOT \(x LIKE ANY"),
        ("count(t.*)", "a star with a table name is not supported"),
        ("x is unknown", "weft does not know|cannot be read"),
        ("case > 5", "cannot be read|is a word of SQL"),
    ],
)
def test_refused(sql: str, message: str) -> None:
    with pytest.raises(ExpressionError, match=message):
        read_expression(sql)


@pytest.mark.parametrize(
    ("sql", "as_spark_reads_it"),
    [
        ("a = b IS NULL", "(a = b) IS NULL"),
        ("a = b = c", "(a = b) = c"),
        ("a || b + c", "(a || b) + c"),
        ("a + b || c", "(a + b) || c"),
        ("a | b & c", "a | (b & c)"),
        ("a ^ b | c", "(a ^ b) | c"),
        ("a << 2 + 1", "a << (2 + 1)"),
        ("a - b % c", "a - (b % c)"),
        ("a % b * c", "(a % b) * c"),
        ("! a = b", "NOT a = b"),
    ],
)
def test_what_parsers_misread_is_read_as_spark_does_or_refused(
    sql: str, as_spark_reads_it: str
) -> None:
    """The release of sqlglot decides which of the two happens."""
    with suppress(ExpressionError):
        assert write(read_expression(sql)) == as_spark_reads_it


def test_errors_quote_the_line() -> None:
    with pytest.raises(ExpressionError) as caught:
        read_expression("a > 5\n  AND x IN (SELECT 1)")
    assert str(caught.value).splitlines()[1:] == ["    AND x IN (SELECT 1)", " " * 14 + "^"]


def test_long_chains_are_read_and_deep_nests_refused() -> None:
    many = " OR ".join(f"a = {i}" for i in range(3000))
    assert write(read_expression(many)) == many
    with pytest.raises(ExpressionError, match="nested too deeply"):
        read_expression("(" * 3000 + "a" + ")" * 3000)
