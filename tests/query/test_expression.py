"""Expressions over one row: what they read, and what they must not contain."""

from __future__ import annotations

import pytest

from weft.errors import ExpressionError
from weft.query.expression import columns, normalise


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("volume > 50", {"volume"}),
        ("Price * `Volume` > `net price`", {"price", "volume", "net price"}),
        ("event.payload.size > 5", {"event"}),
        ("exists(tags, t -> t = name)", {"tags", "name"}),
        ("aggregate(xs, 0, (acc, x) -> acc + x) > y", {"xs", "y"}),
        ("exists(xs, x -> x > 1) AND x > 2", {"xs", "x"}),
        ("CASE a WHEN b THEN c ELSE d END = CAST(e AS INT)", {"a", "b", "c", "d", "e"}),
        ("`a``b` > 1", {"a`b"}),
        ("1 > 0", set()),
    ],
)
def test_columns(sql: str, found: set[str]) -> None:
    assert columns(sql) == found


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("rand() > 0.5", r"rand is not deterministic.* \(line 1, column 1\)"),
        ("RAND(5) > 0.5", "rand is not deterministic"),
        ("x > randn()", "randn is not deterministic"),
        ("uuid() = x", "uuid is not deterministic"),
        ("shuffle(xs)[0] = 1", "shuffle is not deterministic"),
        ("monotonically_increasing_id() > 5", "depends on how the rows are read"),
        ("spark_partition_id() = 1", "depends on how the rows are read"),
        ("input_file_name() = 'x'", "depends on how the rows are read"),
        ("ts > current_timestamp()", "current_timestamp depends on when the query runs"),
        ("ts > current_timestamp", "a column of this name needs backquotes"),
        ("ts > CURRENT_DATE", "current_date depends on when the query runs"),
        ("ts > now()", r"now depends on when the query runs.* \(line 1, column 6\)"),
        ("unix_timestamp() > 5", r"unix_timestamp\(\) depends on when the query runs"),
        ("sum(x) > 5", "sum is an aggregate; here only expressions over one row"),
        ("geo_mean(x) > 5", "geo_mean is an aggregate"),
        ("`max`(x) > 5", "max is an aggregate"),
        ("explode(xs) > 5", "explode makes several rows of one"),
        ("row_number() > 5", "row_number is a window function"),
        ("window(ts, '1 hour').start > x", "window makes windows"),
        ("f(DISTINCT x)", "f takes no DISTINCT"),
        ("f(x) FILTER (WHERE y)", "f takes no DISTINCT, FILTER"),
        ("f(*)", "a star is accepted in"),
        ("x AS y", "a name .AS. is not accepted here"),
        ("x IN (SELECT 1)", "a subquery cannot be shared"),
        ("sum(x) OVER () > 1", "a window function"),
        ("x >", "cannot be read as Spark SQL"),
    ],
)
def test_refused(sql: str, message: str) -> None:
    for read in (normalise, columns):
        with pytest.raises(ExpressionError, match=message):
            read(sql)


@pytest.mark.parametrize("sql", ["`current_date` > x", "unix_timestamp(ts) > 5", "my_udf(x) > 5"])
def test_accepted(sql: str) -> None:
    assert normalise(sql) == sql


def test_only_text_is_an_expression() -> None:
    with pytest.raises(ExpressionError, match="5 is not an expression"):
        normalise(5)  # type: ignore[arg-type]
