"""Windows as table functions that are joined to other tables."""

from __future__ import annotations

import pytest

from weft.query.sql.reading import Statement, in_spark, read_statements

WINDOW = "TUMBLE(t, ts, INTERVAL '5 minutes')"
FLINK = "TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTES))"


def read(sql: str) -> Statement:
    (statement,) = read_statements(sql)
    return statement


@pytest.mark.parametrize(
    ("source", "key", "rows", "time"),
    [
        (f"{WINDOW} a JOIN d ON a.k = d.k", "d.name", "t a JOIN d ON a.k = d.k", "`a`.ts"),
        (f"{WINDOW} LEFT JOIN d ON t.k = d.k", "d.name", "t LEFT JOIN d ON t.k = d.k", "`t`.ts"),
        (f"{WINDOW} a, d", "d.name", "t a, d", "`a`.ts"),
        (
            f"{FLINK} AS w JOIN d FOR SYSTEM_TIME AS OF w.ts AS d ON w.k = d.k",
            "d.name",
            "t AS w JOIN d  AS d ON w.k = d.k",
            "`w`.ts",
        ),
        (
            f"{FLINK} CROSS JOIN UNNEST(tags) AS u (name)",
            "name",
            "t LATERAL VIEW explode(tags) u AS name",
            "`t`.ts",
        ),
    ],
)
def test_rows_are_joined_before_they_are_put_into_windows(
    source: str, key: str, rows: str, time: str
) -> None:
    keys = f"window_start, window_end, {key}"
    (query,) = read(f"SELECT {keys}, count(*) AS n FROM {source} GROUP BY {keys}").queries
    assert query.source is not None
    assert query.source.relation is not None
    assert query.source.relation.rows == rows
    assert (time, "ts") in query.source.relation.columns


@pytest.mark.parametrize(
    ("source", "bound"),
    [
        (f"{WINDOW} a RIGHT JOIN d ON a.k = d.k", "a.window_start"),
        (f"{WINDOW} a NATURAL JOIN d", "window_start"),
        (f"{WINDOW} a JOIN d ON a.k = d.k", "d.window_start"),
        (f"{WINDOW} a JOIN d ON a.window_end = d.t", "a.window_start"),
        (f"{WINDOW} a JOIN {WINDOW} b ON a.k = b.k", "a.window_start"),
    ],
)
def test_a_join_that_needs_the_windows_is_made_of_their_rows(source: str, bound: str) -> None:
    statement = in_spark(read(f"SELECT {bound}, count(*) AS n FROM {source} GROUP BY {bound}"))
    assert not statement.queries
    assert "window(ts, '5 minutes') AS weft_w FROM t)" in statement.sql
