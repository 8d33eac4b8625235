"""`value::type` is a CAST of the whole value before it."""

from __future__ import annotations

import pytest

from weft.query.sql import parse_query, read_statements
from weft.query.sql.tokens.casts import casts_spelled_out


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("SELECT t.a::int", "SELECT CAST(t.a AS int)"),
        ("SELECT '5'::int, `a b`::int", "SELECT CAST('5' AS int), CAST(`a b` AS int)"),
        ("SELECT a::int::string", "SELECT CAST(CAST(a AS int) AS string)"),
        (
            "SELECT -a::double precision::decimal(8, 2)[1]::text",
            "SELECT -CAST(CAST(CAST(a AS double precision) AS decimal(8, 2))[1] AS text)",
        ),
        ("SELECT f(a::int)::string", "SELECT CAST(f(CAST(a AS int)) AS string)"),
        ("SELECT m['k'][0]::int", "SELECT CAST(m['k'][0] AS int)"),
        ("WHERE (a + b)::decimal(8, 2) > 1", "WHERE CAST((a + b) AS decimal(8, 2)) > 1"),
        ("SELECT a, (b)::int", "SELECT a, CAST((b) AS int)"),
        ("SELECT CASE WHEN a THEN (b) END::int", "SELECT CAST(CASE WHEN a THEN (b) END AS int)"),
        ("SELECT CASE WHEN a THEN (b)::int END", "SELECT CASE WHEN a THEN CAST((b) AS int) END"),
        ("SELECT sum(a) OVER (ORDER BY b)::int", "SELECT CAST(sum(a) OVER (ORDER BY b) AS int)"),
        ("SELECT count(*) FILTER (WHERE b)::int", "SELECT CAST(count(*) FILTER (WHERE b) AS int)"),
        (
            "SELECT p(1) WITHIN GROUP (ORDER BY b)::int",
            "SELECT CAST(p(1) WITHIN GROUP (ORDER BY b) AS int)",
        ),
        ("SELECT 'a::int' -- b::int", "SELECT 'a::int' -- b::int"),
        ("SELECT a::array<int>, b::int", "SELECT a::array<int>, CAST(b AS int)"),
        ("SELECT ::int, a::", "SELECT ::int, a::"),
    ],
)
def test_the_value_before_it(text: str, spelled: str) -> None:
    assert casts_spelled_out(text) == spelled


def test_it_is_read_as_a_cast_is() -> None:
    text = (
        "SELECT k::string AS k2, sum(x::int) AS s FROM t GROUP BY window(ts, '1 hour'), k::string"
    )
    query = parse_query(text)
    assert query == parse_query(casts_spelled_out(text))
    assert (query.aggs, query.by) == ({"s": "sum(CAST(x AS INT))"}, ("CAST(k AS STRING) AS `k2`",))


def test_what_runs_as_it_is_stays_as_it_was_written() -> None:
    (statement,) = read_statements("SELECT a::int FROM t")
    assert statement.sql == "SELECT a::int FROM t"
