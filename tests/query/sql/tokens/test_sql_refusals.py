"""What cannot be shared is refused at its place, with a reason and a way out."""

from __future__ import annotations

import pytest

from weft.errors import QueryError
from weft.query.sql import parse_query

GROUP = "GROUP BY window(ts, '1 hour'), k"


@pytest.mark.parametrize(
    ("sql", "column", "message"),
    [
        (f"SELECT count(*) n FROM t JOIN u ON t.a = u.a {GROUP}", 26, "JOIN: a join cannot be"),
        (f"SELECT count(*) n FROM t LEFT JOIN u ON t.a = u.a {GROUP}", 26, "LEFT: a join cannot"),
        (f"SELECT count(*) n FROM t, u {GROUP}", 25, "a join cannot be shared: join the streams"),
        (f"SELECT count(*) n FROM (SELECT * FROM t) {GROUP}", 25, "a subquery cannot be shared"),
        (f"SELECT count(*) n FROM t WHERE a IN (SELECT b FROM u) {GROUP}", 38, "a subquery cannot"),
        (f"SELECT DISTINCT k FROM t {GROUP}", 8, "SELECT DISTINCT is not supported"),
        (f"SELECT count(*) n FROM t {GROUP} ORDER BY n", 59, "ORDER: answers are a table without"),
        (f"SELECT count(*) n FROM t {GROUP} LIMIT 5", 59, "LIMIT: a stream's answers have no end"),
        (f"SELECT count(*) n FROM t {GROUP} UNION ALL SELECT 1", 59, "UNION: set operations"),
        (f"SELECT sum(x) OVER (PARTITION BY k) n FROM t {GROUP}", 15, "OVER: a window function"),
        (f"SELECT count(*) n FROM t LATERAL VIEW explode(x) u AS y {GROUP}", 26, "LATERAL: "),
        (f"SELECT count(*) n FROM t TABLESAMPLE (5 ROWS) {GROUP}", 26, "TABLESAMPLE: sample the"),
        (
            "SELECT count(*) n FROM t GROUP BY session_window(ts, x)",
            54,
            "a gap that depends",
        ),
        ("SELECT count(*) n FROM t GROUP BY rollup(k)", 35, "several groupings in one query"),
        (f"SELECT count(*) n FROM t {GROUP} WITH ROLLUP", 59, "WITH: WITH ROLLUP"),
        (f"SELECT count(*) n FROM t {GROUP} GROUPING SETS ((k))", 59, "GROUPING: several"),
        (f"WITH u AS (SELECT 1) SELECT count(*) n FROM u {GROUP}", 1, "a common table expression"),
        (f"FROM t SELECT count(*) n {GROUP}", 1, "write SELECT ... FROM ... in this order"),
        ("VALUES (1)", 1, "a query begins with SELECT"),
    ],
)
def test_refused(sql: str, column: int, message: str) -> None:
    with pytest.raises(QueryError, match=message) as caught:
        parse_query(sql, name="odd")
    lines = str(caught.value).splitlines()
    assert lines[0].startswith("query 'odd': ")
    assert lines[0].endswith(f"(line 1, column {column}):")
    assert lines[1:] == [f"  {sql}", " " * (column + 1) + "^"]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT k AS left, max(limit) AS `order` FROM t GROUP BY window(ts, '1 hour'), k",
        "SELECT count(*) AS n FROM t WHERE t.order > 5 AND right = 3 GROUP BY window(ts, '1 hour')",
        "SELECT count(DISTINCT x) AS n FROM t GROUP BY window(ts, '1 hour')",
    ],
)
def test_names_that_look_like_clauses_are_names(sql: str) -> None:
    assert parse_query(sql).name == "q1"
