"""A query's lateness: how it is given, in Python, SQL and files, and what is refused."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

import weft
from weft.errors import QueryError, WindowError
from weft.query.query import Query
from weft.query.sql import parse_queries, read_statements, write_query
from weft.query.window import Window
from weft.query.workload import Workload

MINUTE = 60_000_000
HOUR = Window(range="1 hour")
COUNT = {"n": "count(*)"}
SQL = "SELECT count(*) AS n FROM t GROUP BY window(ts, '1 hour')"


def asked(lateness: object = None, window: Window = HOUR) -> Query:
    return Query("q", aggs=COUNT, window=window, lateness=lateness)


@pytest.mark.parametrize(
    ("given", "micros"),
    [
        (None, 0),
        (0, 0),
        ("0 seconds", 0),
        ("10 minutes", 10 * MINUTE),
        ("INTERVAL 1 hour 30 seconds", 60 * MINUTE + MINUTE // 2),
        (timedelta(minutes=10), 10 * MINUTE),
    ],
)
def test_it_takes_what_durations_take(given, micros):
    query = asked(given)
    assert query.lateness == micros
    assert Query.from_dict(json.loads(json.dumps(query.to_dict()))) == query


def test_on_an_integer_axis_it_is_a_whole_number():
    query = asked(5, Window(range=10))
    assert (query.lateness, query.lateness_given) == (5, 5)
    assert Query.from_dict(query.to_dict()).lateness == 5
    days = asked("2 days", weft.Calendar(range="1 month", zone="UTC"))
    assert Query.from_dict(days.to_dict()).lateness == 2 * 24 * 60 * MINUTE


@pytest.mark.parametrize(
    ("given", "window", "said"),
    [
        ("-1 minute", HOUR, "lateness='-1 minute' is negative: accepted is 0 or longer"),
        (5, HOUR, "lateness=5 is of another axis.* accepted is a duration such as '10 minutes'"),
        ("5 minutes", Window(range=10), "of another axis.* accepted is a whole number"),
        ("1 month", HOUR, "lateness='1 month' is not a fixed length"),
        ("soon", HOUR, "lateness='soon' is not a duration: accepted are"),
        (True, HOUR, "lateness=True is not a duration"),
        ("5 microseconds", HOUR, "finer than a millisecond"),
    ],
)
def test_what_is_refused_is_named(given, window, said):
    with pytest.raises(QueryError, match=rf"^query 'q': .*{said}"):
        asked(given, window)


def test_it_is_part_of_the_meaning():
    assert asked("10 minutes") == asked(timedelta(minutes=10)) != asked()
    assert hash(asked("10 minutes")) == hash(asked("600 seconds"))
    assert asked("10 minutes").late_by(None) == asked()
    assert "lateness='10 minutes'" in repr(asked("10 minutes"))
    assert "lateness" not in repr(asked())


def test_catalogues_of_before_have_none():
    old = asked("10 minutes").to_dict()
    del old["lateness"]
    assert Query.from_dict(old) == asked()


def test_a_comment_before_a_statement_says_it():
    first, second, third = parse_queries(
        f"-- name: a\n-- lateness: 10 minutes\n-- owner: x\n{SQL};\n{SQL};\n"
        f"--LATENESS: 2 days\n{SQL}"
    )
    assert (first.lateness, first.owner) == (10 * MINUTE, "x")
    assert second.lateness == 0
    assert third.lateness == 2 * 24 * 60 * MINUTE
    with pytest.raises(QueryError, match=r"^query 'q1': lateness='soon' is not a duration"):
        parse_queries(f"-- lateness: soon\n{SQL}")
    wrong, right = read_statements(f"-- lateness: soon\n{SQL};\n{SQL}")
    assert "lateness='soon'" in str(wrong.refusal)
    assert (right.refusal, right.queries[0].lateness) == (None, 0)


def test_it_is_written_as_a_comment():
    query = asked("10 minutes")
    assert write_query(query).startswith("-- name: q\n-- lateness: 10 minutes\nSELECT")
    (again,) = parse_queries(write_query(query))
    assert again == query


def test_files_of_queries_have_it(tmp_path):
    file = tmp_path / "queries.yaml"
    file.write_text(
        f"""
- {{name: a, aggs: {{n: count(*)}}, range: 1 hour, lateness: 10 minutes}}
- {{name: b, sql: "{SQL}", lateness: 20 minutes}}
- {{name: c, sql: "{SQL}"}}
"""
    )
    assert [query.lateness // MINUTE for query in Workload.load(file)] == [10, 20, 0]
    file.write_text("[{name: a, aggs: {n: count(*)}, range: 1 hour, lateness: 3}]")
    with pytest.raises(WindowError, match=r"queries\[1\] \(a\): query 'a': lateness=3 is of"):
        Workload.load(file)
