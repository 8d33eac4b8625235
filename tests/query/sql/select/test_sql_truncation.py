"""Truncated times as windows, and which outputs stand for them."""

from __future__ import annotations

import pytest

from weft.query.calendar import Calendar
from weft.query.source import UTC
from weft.query.sql import parse_statement
from weft.query.sql.select.truncation import truncated_times, truncation
from weft.query.syntax.reader import read_expression
from weft.query.window import Window


@pytest.mark.parametrize(
    ("key", "window", "needs"),
    [
        ("to_date(ts)", Calendar(range="1 day", zone="session"), ()),
        ("date_trunc('quarter', ts)", Calendar(range="3 months", zone="session"), ()),
        ("date_trunc('hour', ts)", Window(range="1 hour"), (UTC,)),
        ("floor(unix_timestamp(ts) / 300)", Window(range="5 minutes"), ()),
        ("timestamp_seconds(floor(unix_timestamp(ts) / 300) * 300)", Window(range="5 minutes"), ()),
        # A text: clocks that are put back show the same twice, and Spark makes one group of both.
        ("from_unixtime(floor(unix_timestamp(ts) / 300) * 300)", Window(range="5 minutes"), (UTC,)),
    ],
)
def test_a_key_is_a_window(key, window, needs):
    found = truncation([read_expression(key)])
    assert (found.time, found.window, found.needs) == ("ts", window, needs)


@pytest.mark.parametrize("times", ["0", "k", "-1", "0.5"])
def test_what_is_multiplied_by_no_whole_number_is_no_truncated_time(times):
    assert truncation([read_expression(f"floor(unix_timestamp(ts) / 300) * {times}")]) is None
    assert truncation([read_expression(f"{times} * floor(unix_timestamp(ts) / 300)")]) is None


def names(sql: str) -> list[str]:
    (query,) = parse_statement(sql, "q")
    return sorted(truncated_times(query).values())


def test_an_output_that_is_the_truncated_time_tells_windows_apart():
    assert names("SELECT to_date(ts) AS d, count(*) AS n FROM t GROUP BY to_date(ts)") == [
        "to_date(ts)"
    ]


def test_others_do_not():
    by_month = "SELECT min(to_date(ts)) AS d, count(*) AS n FROM t GROUP BY trunc(ts, 'month')"
    assert names(by_month) == []
    by_day = "SELECT min(to_date(u)) AS d, max(to_date(ts)) AS e FROM t GROUP BY to_date(ts)"
    assert names(by_day) == []
    assert names("SELECT min(to_date(ts)) AS d FROM t GROUP BY window(ts, '1 day')") == []


@pytest.mark.parametrize(
    ("item", "name"),
    [
        ("year(ts)", "year(ts)"),
        ("year(ts) + 1", "year(ts) + 1"),
        ("year(ts) AS y", "y"),
    ],
)
def test_a_truncated_time_keeps_its_name(item, name):
    (query,) = parse_statement(f"SELECT {item}, count(*) AS n FROM t GROUP BY year(ts)", "q")
    assert list(query.aggs) == [name, "n"]
