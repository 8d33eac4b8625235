"""Durations as users write them, as integer microseconds."""

from __future__ import annotations

import re
from datetime import timedelta

from weft.errors import WindowError
from weft.query.quoting import quoted

Duration = str | int | timedelta
"""A Spark interval string, a `timedelta`, or an integer on an integer axis."""

MICROSECONDS = {
    "microsecond": 1,
    "millisecond": 1_000,
    "second": 1_000_000,
    "minute": 60 * 1_000_000,
    "hour": 3_600 * 1_000_000,
    "day": 86_400 * 1_000_000,
    "week": 7 * 86_400 * 1_000_000,
}
_NOT_FIXED = {"month", "year", "quarter", "decade", "century"}
_TERM = re.compile(r"\s*([+-]?)\s*(\d+)(?:\.(\d*))?\s*([a-z]+)\s*")
_LIMIT = 2**62
DIGITS = 30
"""Digits of a number in a duration; 19 are enough for the longest, in microseconds."""
ACCEPTED = (
    "a Spark interval string such as '10 minutes' or '1 hour 30 seconds' "
    "(weeks, days, hours, minutes, seconds, milliseconds, microseconds), "
    "a timedelta, or an integer on an integer axis"
)


def parse_duration(value: Duration, field: str) -> int:
    """Return `value` as integer microseconds (integers are returned unchanged).

    >>> parse_duration("1 hour 30 seconds", "range")
    3630000000
    >>> parse_duration("-5 minutes", "offset")
    -300000000
    """
    if isinstance(value, bool) or not isinstance(value, (str, int, timedelta)):
        raise WindowError(f"{field}={quoted(value)} is not a duration: accepted are {ACCEPTED}")
    if isinstance(value, int):
        micros = value
    elif isinstance(value, timedelta):
        micros = (value.days * 86_400 + value.seconds) * 1_000_000 + value.microseconds
    else:
        micros = _parse_interval(value, field)
    if abs(micros) > _LIMIT:
        raise WindowError(f"{field}={quoted(value)} is too long: at most 2**62 microseconds")
    return micros


def read_number(text: str) -> str | int:
    """A duration in a text; an integer is returned as such, for an integer axis.

    >>> read_number("10 minutes"), read_number("10")
    ('10 minutes', 10)
    """
    return int(text) if text.isdecimal() and len(text) <= DIGITS else text


def _parse_interval(text: str, field: str) -> int:
    body = text.strip().lower()
    body = body.removeprefix("interval").strip()
    total, position = 0, 0
    while position < len(body):
        term = _TERM.match(body, position)
        if term is None:
            raise WindowError(f"{field}={quoted(text)} is not a duration: accepted are {ACCEPTED}")
        sign, whole, fraction, unit = term.groups()
        longest = max(len(whole), len(fraction or ""))
        if longest > DIGITS:  # before int(), which would be slow or raise
            raise WindowError(
                f"{field}={quoted(text)} has a number of {longest:,} digits: at most {DIGITS} are "
                f"accepted, in {ACCEPTED}"
            )
        unit = unit[:-1] if unit.endswith("s") else unit
        if unit in _NOT_FIXED:
            raise WindowError(
                f"{field}={quoted(text)} is not a fixed length: a {unit} has no fixed number of "
                f"days; use days, for instance '30 days', or a calendar window, weft.Calendar"
            )
        if unit not in MICROSECONDS:
            raise WindowError(
                f"{field}={quoted(text)}: unknown unit {quoted(unit)}; accepted are {ACCEPTED}"
            )
        total += (-1 if sign == "-" else 1) * _scaled(whole, fraction or "", unit, field, text)
        position = term.end()
    if not body:
        raise WindowError(f"{field}={quoted(text)} is empty: accepted are {ACCEPTED}")
    return total


def _scaled(whole: str, fraction: str, unit: str, field: str, text: str) -> int:
    """The exact number of microseconds in `whole.fraction` units."""
    if fraction and unit != "second":  # as in Spark: only seconds take a fraction
        raise WindowError(f"{field}={quoted(text)}: only seconds may have a fraction")
    size = MICROSECONDS[unit]
    scaled = int(whole) * size
    if fraction:
        numerator, denominator = int(fraction) * size, 10 ** len(fraction)
        if numerator % denominator:
            raise WindowError(f"{field}={quoted(text)} is finer than a microsecond")
        scaled += numerator // denominator
    return scaled


def format_duration(micros: int) -> str:
    """Return `micros` as the shortest Spark interval string.

    >>> format_duration(3630000000)
    '1 hour 30 seconds'
    >>> format_duration(0)
    '0 seconds'
    """
    if micros == 0:
        return "0 seconds"
    sign, rest, terms = ("-" if micros < 0 else ""), abs(micros), []
    for unit in ("day", "hour", "minute", "second", "millisecond", "microsecond"):
        count, rest = divmod(rest, MICROSECONDS[unit])
        if count:
            terms.append(f"{sign}{count} {unit}{'s' if count != 1 else ''}")
    return " ".join(terms)
