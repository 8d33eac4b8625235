"""Calendar windows start and end as by Python's own calendar, in every zone."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import WindowError
from weft.query.calendar import Calendar
from weft.query.window import Window
from weft.query.zone import DAY, zone_of

ZONES = (
    "UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "America/Sao_Paulo",
    "Australia/Lord_Howe", "Africa/Casablanca", "Europe/Moscow",
)  # fmt: skip
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def micros(text: str) -> int:
    return int(np.datetime64(text, "us").astype(np.int64))


def begin(day: date, zone: str) -> int:
    """The first instant of a local day, by Python's datetime.

    In none of `ZONES` do clocks jump over midnight.
    """
    at = datetime(day.year, day.month, day.day, tzinfo=ZoneInfo(zone))
    return (at - EPOCH) // timedelta(microseconds=1)


def day_of(number: int, unit: str) -> date:
    if unit == "day":
        return date(1970, 1, 1) + timedelta(days=number)
    return date(1970 + number // 12, number % 12 + 1, 1)


@st.composite
def calendars(draw: st.DrawFn) -> Calendar:
    unit = draw(st.sampled_from(["day", "month"]))
    names = ["day", "week"] if unit == "day" else ["month", "quarter", "year"]
    number = st.integers(1, 5)
    length = f"{draw(number)} {draw(st.sampled_from(names))}s"
    slide = draw(st.none() | st.builds("{} {}".format, number, st.sampled_from(names)))
    moved = draw(st.none() | st.builds(f"{{}} {unit}s".format, st.integers(-20, 20)))
    return Calendar(range=length, slide=slide, offset=moved, zone=draw(st.sampled_from(ZONES)))


# Clocks are known from 1970 on, and the longest window here has five years.
@settings(max_examples=150, deadline=None)
@given(calendars(), st.integers(micros("1976-01-01"), micros("2037-01-01")), st.integers(1, 900))
def test_instances_are_those_of_pythons_calendar(window: Calendar, low: int, days: int) -> None:
    high = low + days * DAY
    count, step, phase = window.steps
    around = day_numbers(low, high, window.unit, count + 2)
    asked = [n for n in around if n % step == phase]
    bounds = [[begin(day_of(n, window.unit), window.zone) for n in (a, a + count)] for a in asked]
    expected = [(start, end) for start, end in bounds if end > low and start < high]
    starts, ends = window.instances(low, high)
    assert list(zip(starts.tolist(), ends.tolist(), strict=True)) == expected
    edges = {edge for pair in expected for edge in pair}
    for edge in edges:
        assert any((edge - offset) % every == 0 for offset, every in window.progressions())


def day_numbers(low: int, high: int, unit: str, more: int) -> range:
    if unit == "day":
        return range(low // DAY - more - 1, high // DAY + 2)
    first, last = (np.datetime64(at, "us").astype("M8[M]").astype(int) for at in (low, high))
    return range(int(first) - more, int(last) + 2)


def test_weeks_are_from_monday_and_quarters_where_they_naturally_are() -> None:
    at = micros("2024-02-29T12:00")
    for text, start in (("1 week", "2024-02-26"), ("1 quarter", "2024-01-01"),
                        ("1 year", "2024-01-01"), ("1 day", "2024-02-29")):  # fmt: skip
        assert Calendar(range=text).instances(at, at + 1)[0].tolist() == [micros(start)]
    fiscal = Calendar(range="1 year", offset="3 months")
    assert fiscal.instances(at, at + 1)[0].tolist() == [micros("2023-04-01")]


def test_times_before_1970_are_right_in_utc() -> None:
    starts, ends = Calendar(range="1 month").instances(micros("1600-02-10"), micros("1600-02-11"))
    assert (starts.tolist(), ends.tolist()) == ([micros("1600-02-01")], [micros("1600-03-01")])


def test_a_day_begins_at_its_first_instant() -> None:
    # In Sao Paulo clocks went from 2018-11-03 24:00 to 2018-11-04 01:00.
    zone = zone_of("America/Sao_Paulo")
    day = micros("2018-11-04") // DAY
    begins = zone.midnight([day, day + 1]).tolist()
    assert begins == [micros("2018-11-04T03:00"), micros("2018-11-05T02:00")]


def test_a_day_that_a_zone_left_out_is_empty() -> None:
    zone = zone_of("Pacific/Apia")
    day = micros("2011-12-30") // DAY
    assert len(set(zone.midnight([day, day + 1]).tolist())) == 1
    assert zone.day(zone.midnight(day) - 1) == day - 1
    assert zone.day(zone.midnight(day)) == day + 1


def test_rows_outside_of_the_known_years_are_refused() -> None:
    """This includes windows that begin before the table, even if their rows are later."""
    quarters = Calendar(range="3 months", slide="1 month", zone="America/New_York")
    quarters.scale.check(*quarters.instances(micros("1970-05-01"), micros("2099-09-01")))
    with pytest.raises(
        WindowError, match="'America/New_York': a window of some rows starts at 1969"
    ):
        quarters.scale.check(*quarters.instances(micros("1970-02-10"), micros("1970-02-11")))
    with pytest.raises(WindowError, match=r"ends at 2100-02-01 05:00:00 UTC, .*known from 1970"):
        quarters.scale.check(*quarters.instances(micros("2099-11-01"), micros("2099-11-02")))
    days = Calendar(range="1 day", zone="+03:00")
    days.scale.check(*days.instances(micros("0001-01-01"), micros("0001-01-02")))


def test_a_zone_is_served_from_when_no_day_came_twice() -> None:
    # Until 2010, clocks of Newfoundland went from 00:01 back to 23:01 of the day before.
    zone = zone_of("America/St_Johns")
    assert micros("2010-11-07") < zone.since < micros("2010-11-09")


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({"range": "10 minutes"}, "range='10 minutes' is not a calendar length"),
        ({"range": "0 months"}, "must be longer than nothing"),
        ({"range": "1 month", "slide": "-1 month"}, "slide='-1 month' must be longer"),
        ({"range": "1 month", "slide": "1 week"}, "mix days with months"),
        ({"range": "1 month", "offset": "1 day"}, "take an offset in months"),
        ({"range": "1 month", "zone": "Mars/Olympus"}, "zone='Mars/Olympus' is not a time zone"),
        ({"range": "1 month", "zone": 5}, "zone=5 is not a string"),
        ({"range": 5}, "range=5 is not a calendar length"),
        ({"range": "1 day", "zone": "+19:00"}, "is not a time zone"),
        ({"range": "1 day", "zone": "../../etc/passwd"}, "is not a time zone"),
    ],
)
def test_what_is_wrong_is_named(given_: dict, message: str) -> None:
    with pytest.raises(WindowError, match=message.replace("+", r"\+")):
        Calendar(**given_)


@given(calendars())
def test_windows_are_read_back_as_they_were(window: Calendar) -> None:
    assert Window.from_dict(window.to_dict()) == window
    assert eval(repr(window), {"Calendar": Calendar}) == window
    assert hash(Window.from_dict(window.to_dict())) == hash(window)


def test_windows_are_equal_by_their_instances() -> None:
    assert Calendar(range="1 year", zone="Etc/UTC") == Calendar(range="12 months")
    assert Calendar(range="1 week") != Calendar(range="7 days")
    assert Calendar(range="1 week") == Calendar(range="7 days", offset="4 days")
    assert Calendar(range="1 day") != Window(range="1 day")
    assert Calendar(range="1 day") != Calendar(range="1 day", zone="+01:00")
