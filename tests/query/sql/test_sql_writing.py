"""What a dialect cannot say is an error that says so."""

from __future__ import annotations

from typing import Any

import pytest

from weft.errors import QueryError
from weft.query.query import Query
from weft.query.source import Source
from weft.query.sql import parse_query, write_query
from weft.query.window import Session, Window

TEN = Window(range="10 minutes", slide="5 minutes")
CAPPED = Session(gap="5 minutes", maximum="1 hour")


def query(agg: str = "count(*)", window: Window = TEN, **rest: Any) -> Query:
    return Query("q", aggs={"n": agg}, window=window, **rest)


@pytest.mark.parametrize(
    ("dialect", "asked", "message"),
    [
        ("spark", query(window=Window(range=5)), "on an integer axis"),
        ("spark", query(window=Window(range="1 minute", slide="1 hour")), "leaves gaps"),
        ("cql", query(window=Window(range="12 minutes", slide="5 minutes")), "no other offset"),
        ("cql", query(having="window.start > TIMESTAMP '2024-01-01'"), r"cannot ask for window.st"),
        ("asa", query(window=Window(range=5)), "on an integer axis"),
        ("asa", query(window=Session(gap="5 minutes")), "sessions have a maximum"),
        ("asa", query(window=Session(gap="1 day", maximum="8 days")), "at most 7 days"),
        ("spark", query(window=CAPPED), "has no sessions with a maximum"),
        ("flink", query(window=CAPPED), "has no sessions with a maximum"),
        ("cql", query(window=CAPPED), "has no sessions that mean the same"),
        ("asa", query(window=Window(range="8 days", slide="1 day")), "at most 7 days"),
        ("asa", query(window=Window(range="12 minutes", slide="5 minutes")), "divide its size"),
        ("asa", query(window=Window(range="50 minutes")), "divide a day"),
        ("asa", query("count(*) FILTER (WHERE x > 1)"), "has no FILTER"),
        ("asa", query("approx_percentile(x, 0.5)"), r"has no approx_percentile\(\)"),
        ("asa", query("count(*) / 60"), "divides integers"),
        ("asa", query(where="a = true"), "has no constant such as TRUE"),
        ("asa", query(where="d > DATE '2024-01-01'"), "has no constant such as DATE"),
        ("asa", query(where="a RLIKE 'x'"), "has no RLIKE"),
        ("asa", query(where="`a]b` > 1"), "cannot quote the name 'a]b'"),
        ("asa", query(where="window_end > 1"), "window_end is a column of the window there"),
        ("asa", query(having="window.start > TIMESTAMP '2024-01-01'"), "has no constant"),
        ("flink", query(window=Window(range=5)), "on an integer axis"),
        ("flink", query(window=Window(range="10 microseconds")), "are in milliseconds"),
        ("flink", query(window=Window(range="200 days")), "at most 99 days"),
        (
            "flink",
            query(window=Window(range="12 minutes", slide="5 minutes", offset="1 minute")),
            "an offset and a slide that does not",
        ),
        ("flink", query("first(x) IGNORE NULLS"), r"has no first\(\)"),
        ("flink", query(where="a > 5L"), "has no number such as 5L"),
        ("flink", query(where=r"a = 'x\n'"), "has no string such as"),
        ("flink", query(where="a DIV 2 > 1"), "has no DIV"),
        ("flink", query(where="exists(xs, x -> x > 1)"), "has no"),
        ("flink", query(where="CAST(a AS binary) > b"), r"has no CAST\(... AS BINARY\)"),
        ("flink", query(by="window_start"), "window_start is a column of the window there"),
        ("flink", query(source=Source("t", "to_timestamp(s)")), "its time must be a column"),
    ],
)
def test_refused(dialect: Any, asked: Query, message: str) -> None:
    with pytest.raises(QueryError, match=message) as caught:
        write_query(asked, dialect)
    assert str(caught.value).startswith("query 'q' cannot be written in ")


def test_table_and_time_are_the_sources_or_given() -> None:
    asked = query(source=Source("db.trades", None))
    assert "FROM db.trades\nGROUP BY window(ts, " in write_query(asked, "spark")
    written = write_query(asked, "flink", table="`my trades`", time="`event time`")
    assert "TABLE `my trades`, DESCRIPTOR(`event time`)" in written
    with pytest.raises(QueryError, match="table='f\\(x\\)' is not the name of a table"):
        write_query(asked, "spark", table="f(x)")


def test_aggregates_that_spark_lacks_are_spelled_out_for_it() -> None:
    assert "value_range" not in write_query(query("value_range(x)"), "spark")
    assert "value_range(x)" in write_query(query("value_range(x)"), "cql")


def test_having_says_what_names_stand_for_where_it_must() -> None:
    asked = Query(
        "q",
        aggs={"n": "count(*)", "r": "max(x) - min(x)"},
        window=TEN,
        by=["upper(side) AS s"],
        having="n > 1 AND r * 2 < 5 AND s = 'A' AND window.end > TIMESTAMP_NTZ '2024-01-01'",
    )
    written = write_query(asked, "flink")
    assert written.endswith(
        "HAVING count(*) > 1 AND (max(x) - min(x)) * 2 < 5 AND upper(side) = 'A' AND "
        "window_end > TIMESTAMP '2024-01-01'"
    )
    assert parse_query(written) == asked
    assert "HAVING n > 1 AND r * 2 < 5" in write_query(asked, "spark")


def test_azure_windows_in_other_dialects_say_what_to_do() -> None:
    asked = parse_query("SELECT COUNT(*) AS n FROM t GROUP BY TumblingWindow(minute, 5)")
    with pytest.raises(QueryError, match=r"with Offset\(microsecond, -1\) there"):
        write_query(asked, "flink")
    with pytest.raises(QueryError, match=r"with Offset\(microsecond, -1\) there"):
        write_query(asked, "cql")


@pytest.mark.parametrize("dialect", ["ksql", "risingwave"])
@pytest.mark.parametrize("item", ["max(tags[0])", "max(split(a, '/')[0])", "max(concat(a, b))"])
def test_what_would_mean_something_else_is_not_written(item: str, dialect: Any) -> None:
    query = parse_query(f"SELECT k, {item} AS v FROM t GROUP BY window(ts, '1 hour'), k")
    with pytest.raises(QueryError, match=r"v: .* would be .* there"):
        write_query(query, dialect)


def test_logarithms_and_floats_are_others_in_risingwave() -> None:
    for item in ("max(log(x))", "sum(CAST(x AS FLOAT))"):
        query = parse_query(f"SELECT k, {item} AS v FROM t GROUP BY window(ts, '1 hour'), k")
        with pytest.raises(QueryError, match="would be"):
            write_query(query, "risingwave")
        assert item in write_query(query, "ksql")
