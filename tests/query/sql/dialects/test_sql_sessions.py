"""Sessions as Azure Stream Analytics writes them, where the texts in `texts/` do not reach."""

from __future__ import annotations

import pytest

from weft.query.sql import parse_query, read_statements
from weft.query.window import Session

LATE = "WITH s AS (SELECT k, System.Timestamp() AS t, COUNT(*) AS n FROM Input TIMESTAMP BY at "


def test_sessions_may_have_no_maximum():
    """Microsoft's syntax asks for one; where people leave it out, the timeout alone ends them."""
    sql = "SELECT k, COUNT(*) AS n FROM Input TIMESTAMP BY at GROUP BY k, SessionWindow(minute, 5)"
    assert parse_query(sql).window == Session(gap="5 minutes")
    assert parse_query(f"{sql} OVER (PARTITION BY k)") == parse_query(sql)


def test_a_larger_statement_has_no_maximum():
    """It is put into Spark SQL, which cannot say one."""
    (read,) = read_statements(
        f"{LATE} GROUP BY k, SessionWindow(minute, 5, 60)) "
        "SELECT MAX(n) AS m FROM s GROUP BY TumblingWindow(hour, 1)"
    )
    assert read.queries == ()
    assert "a statement of its own, or leave the maximum out" in read.unshared


@pytest.mark.parametrize("over", ["", " OVER (PARTITION BY k)"])
def test_a_larger_statement_may_have_sessions(over: str):
    """The time of an answer is the session's end itself: a timeout after its last row."""
    (read,) = read_statements(
        f"{LATE} GROUP BY k, SessionWindow(minute, 5){over}) "
        "SELECT MAX(n) AS m FROM s GROUP BY TumblingWindow(hour, 1)"
    )
    assert read.is_spark
    assert "session_window(at, '5 minutes')" in read.sql
    assert "session_window.end AS t" in read.sql


def test_in_a_larger_statement_too_sessions_are_of_the_groups():
    (read,) = read_statements(
        f"{LATE} GROUP BY k, j, SessionWindow(minute, 5) OVER (PARTITION BY j)) "
        "SELECT MAX(n) AS m FROM s GROUP BY TumblingWindow(hour, 1)"
    )
    assert "list k too, or group by j alone" in read.unshared
