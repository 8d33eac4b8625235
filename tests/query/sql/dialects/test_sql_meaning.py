"""A window means here what it means in its dialect: checked instant by instant."""

from __future__ import annotations

import pytest

from weft.query.sql import parse_query
from weft.query.window import Window

SECOND = 1_000_000


def instances(window: Window, instant: int) -> set[tuple[int, int]]:
    """The instances [start, end) that an instant is in."""
    last = instant - (instant - window.phase) % window.slide
    starts = range(last, instant - window.range, -window.slide)
    return {(start, start + window.range) for start in starts}


def around(*edges: int) -> list[int]:
    return [edge * SECOND + tick for edge in edges for tick in (-1, 0, 1)]


@pytest.mark.parametrize(("range_", "slide"), [(12, 5), (18, 15), (10, 5), (5, 5), (7, 3), (2, 5)])
def test_cql_ends_at_multiples_of_the_slide(range_: int, slide: int) -> None:
    """SIGMOD'06, definition 1: at t with t mod s = 0, the rows of the last r."""
    sql = f"SELECT count(*) AS n FROM t [RANGE '{range_} sec' SLIDE '{slide} sec']"
    window = parse_query(sql).window
    for instant in around(*range(-30, 31)):
        ends = [end for end in range(-60, 61) if end % slide == 0]
        expected = {
            ((end - range_) * SECOND, end * SECOND)
            for end in ends
            if (end - range_) * SECOND <= instant < end * SECOND
        }
        assert instances(window, instant) == expected


@pytest.mark.parametrize(("size", "hop"), [(10, 10), (10, 5), (30, 10)])
def test_azure_takes_in_the_end_and_not_the_start(size: int, hop: int) -> None:
    sql = f"SELECT COUNT(*) AS n FROM t GROUP BY HoppingWindow(second, {size}, {hop})"
    window = parse_query(sql).window
    for instant in around(*range(-40, 41)):
        starts = [start for start in range(-90, 91) if start % hop == 0]
        expected = {
            (start * SECOND, (start + size) * SECOND)
            for start in starts
            if start * SECOND < instant <= (start + size) * SECOND
        }
        found = {(start - 1, end - 1) for start, end in instances(window, instant)}
        assert found == expected


def test_azure_with_an_offset_of_a_microsecond_is_as_others() -> None:
    sql = """SELECT COUNT(*) AS n FROM t
             GROUP BY HoppingWindow(Duration(minute, 30), Hop(minute, 10), Offset(mcs, -1))"""
    assert parse_query(sql).window == Window(range="30 minutes", slide="10 minutes")


def test_flink_takes_the_slide_first() -> None:
    sql = """SELECT COUNT(*) AS n FROM TABLE(HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE,
             INTERVAL '1' HOUR, INTERVAL '10' SECONDS)) GROUP BY window_start, window_end"""
    window = Window(range="1 hour", slide="1 minute", offset="10 seconds")
    assert parse_query(sql).window == window
