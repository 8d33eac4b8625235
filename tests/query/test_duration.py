"""Durations in every form, and texts that are not a fixed length."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.errors import WindowError
from weft.query.duration import format_duration, parse_duration


@pytest.mark.parametrize(
    ("given", "micros"),
    [
        ("10 minutes", 600_000_000),
        ("1 MINUTE", 60_000_000),
        ("interval 1 hour", 3_600_000_000),
        ("1 hour 30 seconds", 3_630_000_000),
        ("1.5 seconds", 1_500_000),
        ("2 weeks", 14 * 86_400_000_000),
        ("-5 minutes", -300_000_000),
        ("5 milliseconds 7 microseconds", 5_007),
        (timedelta(days=1, microseconds=1), 86_400_000_001),
        (7, 7),
    ],
)
def test_parse(given: str | int | timedelta, micros: int) -> None:
    assert parse_duration(given, "range") == micros


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("", "is empty"),
        ("10", "is not a duration"),
        ("ten minutes", "is not a duration"),
        ("10 parsecs", "unknown unit 'parsec'"),
        ("1 month", "is not a fixed length: a month .* '30 days'"),
        ("1 year", "is not a fixed length"),
        ("1.5 minutes", "only seconds may have a fraction"),
        ("0.0000001 seconds", "finer than a microsecond"),
        (True, "is not a duration"),
        (1.5, "is not a duration"),
        (None, "is not a duration"),
        (2**63, "is too long"),
        (
            "9" * 5000 + " minutes",
            "has a number of 5,000 digits: at most 30 are accepted, in a Spark",
        ),
        ("-" + "9" * 5000 + " minutes", "has a number of 5,000 digits"),
        ("1." + "9" * 5000 + " seconds", "has a number of 5,000 digits"),
        ("9" * 29 + " days", "is too long"),
        pytest.param(10**5000, "an integer of 16,610 bits is too long", id="integer"),
        ("x" * 5000, "is not a duration"),
        ("1 " + "y" * 5000, "unknown unit"),
        ("1 month" + " 1 hour" * 1000, "is not a fixed length"),
    ],
)
def test_refused(given: object, message: str) -> None:
    with pytest.raises(WindowError, match=f"^slide=.*{message}") as refused:
        parse_duration(given, "slide")  # type: ignore[arg-type]
    assert len(str(refused.value)) < 500


@given(st.integers(-(10**15), 10**15))
def test_format_is_read_back(micros: int) -> None:
    assert parse_duration(format_duration(micros), "range") == micros
