"""Statements with more around the SELECT with a window: a query, and SQL over its answers."""

from __future__ import annotations

import pytest

from weft.errors import QueryError
from weft.query.calendar import Calendar
from weft.query.query import Query
from weft.query.sql import parse_queries, parse_query, parse_statement, write_query

COUNTED = "SELECT window, k, count(*) AS n FROM t GROUP BY window(ts, '1 hour'), k"
TOP = f"{COUNTED} QUALIFY rank() OVER (PARTITION BY window ORDER BY n DESC) <= 3"


def test_it_is_the_query_of_its_name_with_sql_over_its_answers():
    (query,) = parse_statement(TOP, name="top")
    (plain,) = parse_statement(COUNTED, name="top")
    assert (query.name, query.aggs["n"], query.by) == ("top", plain.aggs["n"], plain.by)
    assert query.finish.parts == ()
    assert "AS weft_kept FROM weft_answers_0) WHERE weft_kept" in query.finish.sql
    assert plain.finish is None
    assert query != plain
    assert not query.trusted


def test_several_selects_are_queries_of_one_statement():
    first, *parts = parse_statement(
        "SELECT window, g, k, sum(x) AS s FROM t GROUP BY window(ts, '1 hour'), CUBE(g, k)", "cube"
    )
    assert (first.name, first.finish.parts) == ("cube", ("cube_2", "cube_3", "cube_4"))
    assert [part.name for part in parts] == ["cube_2", "cube_3", "cube_4"]
    assert first.finish.tables == tuple(f"weft_answers_{at}" for at in range(4))
    assert all(part.finish is None for part in parts)


def test_it_is_written_and_read_as_json():
    (query,) = parse_statement(TOP, name="top")
    again = Query.from_dict(query.to_dict())
    assert again == query
    assert again.finish == query.finish
    assert "finish=" in repr(query)


@pytest.mark.parametrize("finish", ["SELECT 1", {"parts": []}, {"sql": "SELECT 1", "parts": "ab"}])
def test_what_is_no_finish_is_refused_with_the_query(finish):
    told = {**parse_statement(COUNTED, "q")[0].to_dict(), "finish": finish}
    with pytest.raises(QueryError, match="query 'q': finish"):
        Query.from_dict(told)


def test_strict_readers_refuse_it_as_before():
    with pytest.raises(QueryError, match="window functions cannot be shared"):
        parse_query(TOP)
    assert [q.finish is None for q in parse_queries(f"{TOP}; {COUNTED}", whole=True)] == [
        False,
        True,
    ]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) AS n FROM t WHERE x IN (SELECT y FROM u) GROUP BY window(ts, '1 hour')",
        "SELECT count(*) AS n FROM t JOIN u USING (k) GROUP BY window(ts, '1 hour')",
        "SELECT k FROM t",
    ],
)
def test_rows_that_are_not_those_at_hand_are_refused(sql):
    """A loom or a stream has its rows: FROM cannot ask for others."""
    with pytest.raises(QueryError, match="query 'q'"):
        parse_statement(sql, "q")


def test_a_truncated_time_is_a_calendar_window_of_the_sessions_zone():
    (query,) = parse_statement("SELECT to_date(ts) AS d, count(*) AS n FROM t GROUP BY to_date(ts)")
    assert query.window == Calendar(range="1 day", zone="session")
    assert query.source.time == "ts"


def test_it_is_not_translated():
    (query,) = parse_statement(TOP, name="top")
    with pytest.raises(QueryError, match=r"'top' cannot be written in .*cannot be translated"):
        write_query(query, "flink")
