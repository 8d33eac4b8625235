"""Dialects are told by what no other dialect has, and names are no signs."""

from __future__ import annotations

import pytest

from weft.errors import QueryError
from weft.query.sql.recognise import recognise
from weft.query.syntax.lexer import tokenize


def dialect_of(sql: str) -> str:
    return recognise(sql, tuple(tokenize(sql)))


@pytest.mark.parametrize(
    ("sql", "dialect"),
    [
        ("SELECT 1", "spark"),
        ("SELECT tumble, hop, cumulate, session, system FROM windows", "spark"),
        ("SELECT xs[range], xs[rows], xs[now] FROM t", "spark"),
        ("SELECT xs[range.a] FROM t", "spark"),
        ("SELECT a.tumble(x), b.windows(y) FROM t", "spark"),
        ("SELECT timestamp, by FROM t", "spark"),
        ("SELECT 'TUMBLE(x)', `HOP(`, \"[RANGE 5\" FROM t -- TumblingWindow(", "spark"),
        ("FROM t [RANGE 5", "cql"),
        ("FROM t [rows 5", "cql"),
        ("SELECT x FROM t [NOW]", "cql"),
        ("SELECT hop(minute, 5)", "spark"),
        ("SELECT System.Timestamp FROM t", "asa"),
        ("SELECT System.Name FROM t", "spark"),
        ("FROM t TIMESTAMP BY x", "asa"),
        ("SELECT * INTO out FROM t", "asa"),
        ("SELECT a INTO [my out] FROM t", "asa"),
        ("SELECT a AS into FROM t", "spark"),
        ("SELECT a, into FROM t", "spark"),
        ("SELECT LAG(x) OVER (LIMIT DURATION(hour, 1)) FROM t", "asa"),
        ("FROM t WHERE ISFIRST(minute, 10) = 1", "asa"),
        ("FROM t CROSS APPLY GetArrayElements(xs) AS x", "asa"),
        ("FROM tumble(t, ts, x) JOIN u FOR SYSTEM_TIME AS OF PROCTIME()", "risingwave"),
        ("FROM TABLE(x)", "flink"),
        ("SELECT SPLIT_INDEX(url, '/', 3) FROM t", "flink"),
        ("FROM t MATCH_RECOGNIZE (x)", "flink"),
        ("GROUP BY HOP(ts, INTERVAL '1' HOUR, INTERVAL '2' HOUR)", "flink"),
    ],
)
def test_recognised(sql: str, dialect: str) -> None:
    assert dialect_of(sql) == dialect


def test_two_dialects_in_one_statement_are_none() -> None:
    with pytest.raises(QueryError, match=r"HOP belongs to the dialect 'flink'.*began in 'asa'"):
        dialect_of("FROM t TIMESTAMP BY x GROUP BY HOP(ts, INTERVAL '1' HOUR)")
