"""What wraps a query names it."""

from __future__ import annotations

import pytest

from weft.query.sql.reading import read_statements

QUERY = "SELECT count(*) AS n FROM t GROUP BY window(ts, '1 hour')"


@pytest.mark.parametrize(
    ("before", "name"),
    [
        ("CREATE TABLE sink WITH ('connector' = 'kafka') AS", "sink"),
        ("CREATE SINK view AS", "view"),
        ("CREATE TABLE IF NOT EXISTS stream AS", "stream"),
        ("CREATE OR REFRESH STREAMING LIVE TABLE hourly AS", "hourly"),
    ],
)
def test_a_target_may_be_called_what_it_is(before: str, name: str) -> None:
    (statement,) = read_statements(f"{before} {QUERY}")
    assert statement.name == name
    assert len(statement.queries) == 1
