"""One entry for all dialects: statements, names, and what several windows become."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from weft.errors import QueryError
from weft.query.sql import DIALECTS, parse_queries, parse_query, read_statements
from weft.query.window import Window
from weft.query.workload import Workload

SPARK = "SELECT count(*) AS n FROM t GROUP BY window(ts, '1 hour')"
CQL = "SELECT count(*) AS n FROM t [RANGE '1 hour' SLIDE '1 hour']"
ASA = "SELECT COUNT(*) AS n FROM t TIMESTAMP BY ts GROUP BY TumblingWindow(hour, 1, 0)"
FLINK = "SELECT COUNT(*) AS n FROM t GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)"
TWO = "SELECT COUNT(*) AS n {} FROM t GROUP BY Windows({})"
WINDOWS = "Window('a', TumblingWindow(hour, 1)), Window('b', TumblingWindow(hour, 2))"


def test_every_statement_has_its_own_dialect() -> None:
    found = parse_queries(f"{SPARK};\n-- name: c\n{CQL};{ASA};\n{FLINK};")
    assert [query.name for query in found] == ["q1", "c", "q3", "q4"]
    hour = Window(range="1 hour")
    assert [query.window == hour for query in found] == [True, True, False, True]
    assert [query.source and query.source.time for query in found] == ["ts", None, "ts", "ts"]


@pytest.mark.parametrize(
    ("dialect", "text"), [("spark", SPARK), ("cql", CQL), ("asa", ASA), ("flink", FLINK)]
)
def test_a_dialect_that_is_named_is_the_only_one_read(dialect: str, text: str) -> None:
    for other in DIALECTS:
        if other == dialect:
            assert parse_query(text, dialect=other) == parse_query(text)
        else:
            with pytest.raises(QueryError):
                parse_query(text, dialect=other)


def test_an_unknown_dialect_is_an_error() -> None:
    with pytest.raises(QueryError, match="dialect='sqlite': accepted are 'auto', 'spark', 'cql'"):
        parse_queries(SPARK, "sqlite")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "name", "names"),
    [
        (TWO.format("", WINDOWS), None, ["q1_a", "q1_b"]),
        (TWO.format("", WINDOWS), "x", ["x_a", "x_b"]),
        (TWO.format("INTO out", WINDOWS), None, ["out_a", "out_b"]),
        (TWO.format("INTO out", WINDOWS), "x", ["x_a", "x_b"]),
        ("-- name: c\n" + TWO.format("INTO out", WINDOWS), None, ["c_a", "c_b"]),
        (TWO.format("", "Tumbling(hour, 1), Tumbling(hour, 2)"), None, ["q1_1", "q1_2"]),
        (ASA.replace(" FROM", " INTO [my out] FROM"), None, ["my out"]),
    ],
)  # fmt: skip
def test_names(text: str, name: str | None, names: list[str]) -> None:
    assert [query.name for query in parse_queries(text, name=name)] == names


def test_one_query_is_not_several() -> None:
    with pytest.raises(QueryError, match="has 2 queries, one for each of its windows"):
        parse_query(TWO.format("", WINDOWS))
    with pytest.raises(QueryError, match="one SELECT statement is expected, not 2"):
        parse_queries(f"{SPARK};{CQL}", name="x")


def test_an_error_names_the_query_and_its_place_in_the_whole_text() -> None:
    with pytest.raises(QueryError) as caught:
        parse_queries(f"{SPARK};\n-- name: bad\n{CQL} LIMIT 5")
    assert str(caught.value).startswith("query 'bad': LIMIT: ")
    assert "(line 3, column 61)" in str(caught.value)


def test_files_take_every_dialect(tmp_path: Path) -> None:
    (tmp_path / "all.sql").write_text(";\n".join([SPARK, CQL, ASA, FLINK]))
    assert Workload.load(tmp_path / "all.sql").names == ("q1", "q2", "q3", "q4")
    (tmp_path / "w.yaml").write_text(
        f'- sql: {TWO.format("", WINDOWS)}\n- {{name: c, sql: "{CQL}"}}'
    )
    assert Workload.load(tmp_path / "w.yaml").names == ("q1_a", "q1_b", "c")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SELECT sum(a, count(*) FROM t", r"\( is not closed"),
        ("SELECT count(*) AS n FROM t GROUP BY window(ts, '1 day')) AS w", r"\) closes nothing"),
        ("SELECT k FROM (SELECT 1 AS k] GROUP BY k", "] closes nothing"),
        ("SELECT a, , b FROM tumble(t, ts, INTERVAL '1 hour') GROUP BY a", "nothing after it"),
        ("SELECT f(, a) FROM tumble(t, ts, INTERVAL '1 hour')", "nothing before it"),
        ("SELECT window_start FROM tumble(t, ts, INTERVAL '1 hour') ORDER BY a,", "nothing after"),
        ("SELECT count(*) AS n FROM tumble(t, ts,", r"\( is not closed"),
        ("SELECT count(*) AS n FROM t WINDOW TUMBLING (SIZE 1 HOUR", r"\( is not closed"),
        ("SELECT HOP_START( FROM t", r"\( is not closed"),
        ("INSERT INTO t2 (a, b SELECT k FROM t", r"\( is not closed"),
        ("SELECT DISTINCT k FROM t ORDER BY , k", "cannot be read as SQL"),
        ("SELECT k, avg(x) AS FROM t [ROWS 5] GROUP k", "needs FROM"),
    ],
)
def test_what_is_no_sql_stops_no_other_statement(text: str, reason: str) -> None:
    good = "SELECT count(*) AS n FROM t GROUP BY window(ts, '1 hour')"
    first, wrong, last = read_statements(f"{good};\n{text};\n{good}")
    assert [first.refusal, wrong.queries, last.refusal] == [None, (), None]
    assert re.search(reason, wrong.unshared)
