"""Calls of standard SQL with words between their arguments."""

from __future__ import annotations

import pytest

from weft.query.sql import parse_query
from weft.query.sql.tokens.standard_calls import calls_spelled_out


@pytest.mark.parametrize(
    ("sql", "made"),
    [
        ("substr(substring(a FROM 2) FROM 1 FOR 3)", "substr(substring(a, 2), 1, 3)"),
        ("position('a' IN b) IN (1, 2)", "position('a', b) IN (1, 2)"),
        ("substring(extract(YEAR FROM t) FROM 1)", "substring(extract(YEAR FROM t), 1)"),
        ("position IN (1)", "position IN (1)"),
        ("SELECT ALL k, sum(ALL v) FROM t", "SELECT k, sum(v) FROM t"),
        ("SELECT ALL FROM t GROUP BY ALL", "SELECT ALL FROM t GROUP BY ALL"),
        ("x LIKE ALL ('a', 'b')", "x LIKE ALL ('a', 'b')"),
        ("SELECT 1 UNION ALL SELECT 2", "SELECT 1 UNION ALL SELECT 2"),
        ("f.substring(a FROM 1)", "f.substring(a FROM 1)"),
        ("position(a, (SELECT 1 FROM t))", "position(a, (SELECT 1 FROM t))"),
    ],
)
def test_words_become_commas(sql: str, made: str) -> None:
    assert calls_spelled_out(sql) == made


def test_a_key_may_be_such_a_call() -> None:
    key = "substring(k FROM 1 FOR 2)"
    sql = f"SELECT {key} AS p, count(*) AS n FROM t GROUP BY window(ts, '1 hour'), {key}"
    assert parse_query(sql).by == ("substring(k, 1, 2) AS `p`",)
