"""GROUP BY a truncated time (a day, a month, ...), read as windows over the time itself.

    GROUP BY to_date(ts)                        calendar windows of 1 day
    GROUP BY date_trunc('month', ts)            calendar windows of 1 month
    GROUP BY floor(unix_timestamp(ts) / 300)    300 seconds
    GROUP BY date_format(ts, 'yyyy-MM-dd HH')   1 hour over CAST(ts AS TIMESTAMP_NTZ)
    GROUP BY time_bucket(INTERVAL '2' HOURS, ts, origin)   2 hours, with the origin as an offset

Days and longer units are in the session's time zone, which is filled in where Spark is available.
Within such a window the truncated time has a single value, so `min` of it replaces it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone

from weft.errors import WindowError
from weft.query.calendar import SESSION, Calendar
from weft.query.duration import MICROSECONDS, parse_duration
from weft.query.expression import function_name
from weft.query.normal import normal
from weft.query.query import Query
from weft.query.source import UTC
from weft.query.sql.select.lengths import constant
from weft.query.sql.select.nodes import is_call
from weft.query.syntax.literals import string_value
from weft.query.syntax.reader import read_expression
from weft.query.syntax.tree import Call, Cast, Literal, Node, Op
from weft.query.syntax.writer import write
from weft.query.window import Window

_UNITS = {
    **dict.fromkeys(("day", "dd"), "day"),
    "week": "week",
    **dict.fromkeys(("month", "mm", "mon"), "month"),
    "quarter": "quarter",
    **dict.fromkeys(("year", "yyyy", "yy"), "year"),
    **{unit: unit for unit in ("hour", "minute", "second")},
}
_FORMATS = {
    "yyyy": "year",
    "yyyy-MM": "month",
    "yyyyMM": "month",
    "yyyy-MM-dd": "day",
    "yyyyMMdd": "day",
    "yyyy-MM-dd HH": "local hour",
    "yyyy-MM-dd HH:mm": "local minute",
}
_PARTS = {
    frozenset(("year",)): "year",
    frozenset(("year", "quarter")): "quarter",
    frozenset(("year", "month")): "month",
    frozenset(("year", "month", "day")): "day",
}
_SHOWN = "shown "
"""Prefix of a number of seconds if the key is local time as text."""
_PART_NAMES = {"dayofmonth": "day"}
_MONTHS = re.compile(r"INTERVAL (\d{1,4}) (MONTH|YEAR)S?", re.IGNORECASE)
_TIMESTAMP = re.compile(
    r"TIMESTAMP(?:_NTZ|_LTZ)? '(\d{4}-\d\d-\d\d(?: \d\d:\d\d:\d\d)?)'", re.IGNORECASE
)


@dataclass(frozen=True)
class Truncation:
    """Keys that together amount to one window over a time."""

    keys: tuple[Node, ...]
    time: str
    """The time that the window is over, as SQL."""
    window: Window
    needs: tuple[str, ...] = ()


def truncation(group: Sequence[Node]) -> Truncation | None:
    """The keys of a GROUP BY that truncate a time, as a window; None if there are none.

    >>> from weft.query.syntax.reader import read_expression
    >>> found = truncation([read_expression("k"), read_expression("to_date(ts)")])
    >>> found.time, found.window
    ('ts', Calendar(range='1 day', slide='1 day', zone='session'))
    """
    buckets = [bucket for key in group if (bucket := _bucket(key)) is not None]
    if buckets:
        return buckets[0] if len(buckets) == 1 else None
    single = [(key, found) for key in group if (found := _single(key)) is not None]
    if len(single) == 1:
        key, (time, unit) = single[0]
        return _window((key,), time, unit)
    if single:
        return None
    parts = [(key, found) for key in group if (found := _part(key)) is not None]
    times = {write(normal(time)) for _, (time, _) in parts}
    names = frozenset(name for _, (_, name) in parts)
    if len(times) != 1 or len(names) != len(parts) or names not in _PARTS:
        return None
    return _window(tuple(key for key, _ in parts), parts[0][1][0], _PARTS[names])


def truncated_times(query: Query) -> dict[str, str]:
    """The outputs of a query that are its time truncated to its own windows, and that expression.

    For example, `min(to_date(ts))` over days identifies the day.
    """
    found: dict[str, str] = {}
    for output in query.outputs:
        if not output.is_plain or output.calls[0].function != "min" or query.source is None:
            continue
        (argument,) = output.calls[0].args
        cut = truncation([read_expression(argument)])
        if cut is None or cut.time.strip("`").casefold() != _time(query):
            continue
        window = cut.window
        if isinstance(window, Calendar) and isinstance(query.window, Calendar):
            window = window.in_zone(query.window.zone)
        if window == query.window:
            found[output.name] = argument
    return found


def _time(query: Query) -> str:
    said = None if query.source is None else query.source.time
    return (said or "").strip("`").casefold()


def _single(key: Node) -> tuple[Node, str] | None:
    """The time that a key truncates, and the unit, which may be a number of seconds."""
    if isinstance(key, Cast) and key.function == "CAST" and key.to == "DATE":
        return key.value, "day"
    if isinstance(key, Op) and key.op == "PAREN":
        return _single(key.args[0])
    if isinstance(key, Op) and key.op == "*":
        one, other = key.args
        times = other if _seconds(one) is not None else one
        is_whole = isinstance(times, Literal) and times.text.isdigit() and int(times.text) > 0
        return (_seconds(one) or _seconds(other)) if is_whole else None
    if not isinstance(key, Call):
        return None
    name, args = function_name(key), key.args
    if name == "date_trunc" and len(args) == 2:
        unit = _UNITS.get((_text(args[0]) or "").lower())
        return None if unit is None else (args[1], unit)
    if name == "trunc" and len(args) == 2:
        unit = _UNITS.get((_text(args[1]) or "").lower())
        return (args[0], unit) if unit in ("week", "month", "quarter", "year") else None
    if name in ("to_date", "date") and len(args) == 1:
        return args[0], "day"
    if name == "last_day" and len(args) == 1:
        return args[0], "month"
    if name == "date_format" and len(args) == 2:
        unit = _FORMATS.get(_text(args[1]) or "")
        return None if unit is None else (args[0], unit)
    if name in ("timestamp_seconds", "from_unixtime") and len(args) == 1:
        inside = _single(args[0])
        if name == "from_unixtime" and inside is not None:  # text; local times can repeat
            return inside[0], f"{_SHOWN}{inside[1]}"
        return inside
    return _seconds(key)


def _bucket(key: Node) -> Truncation | None:
    """`time_bucket(INTERVAL '2' HOURS, ts[, origin])`.

    Spark counts the buckets from midnight on 1970-01-01 in the session's time zone, across its
    clock changes, so they are equal to these windows only in UTC.
    """
    if isinstance(key, Op) and key.op == "PAREN":
        inside = _bucket(key.args[0])
        return None if inside is None else replace(inside, keys=(key,))
    if not is_call(key, "time_bucket"):
        return None
    assert isinstance(key, Call)
    if len(key.args) not in (2, 3):
        return None
    size, time = key.args[:2]
    origin = _instant(key.args[2]) if len(key.args) == 3 else 0
    if origin is None or not isinstance(size, Literal) or size.kind != "typed":
        return None
    found = _MONTHS.fullmatch(size.text.replace("'", ""))
    if found is not None:
        if origin:
            return None
        window: Window = Calendar(range=f"{int(found[1])} {found[2].lower()}", zone="UTC")
        return Truncation((key,), write(time), window, (UTC,))
    try:
        length = parse_duration(constant(size) or 0, "range")
        made = Window.of_units(length, length, origin % length, "time") if length > 0 else None
    except WindowError:
        return None
    return None if made is None else Truncation((key,), write(time), made, (UTC,))


def _instant(node: Node) -> int | None:
    """A constant time, read as UTC, in microseconds since the epoch; None for anything else."""
    if not isinstance(node, Literal) or node.kind != "typed":
        return None
    found = _TIMESTAMP.fullmatch(node.text)
    try:
        moment = datetime.fromisoformat(found[1]) if found is not None else None
    except ValueError:
        return None
    if moment is None:
        return None
    since = moment.replace(tzinfo=timezone.utc) - datetime(1970, 1, 1, tzinfo=timezone.utc)
    return since // timedelta(microseconds=1)


def _seconds(node: Node) -> tuple[Node, str] | None:
    """`floor(unix_timestamp(ts) / 300)`."""
    if isinstance(node, Op) and node.op == "PAREN":
        return _seconds(node.args[0])
    if not is_call(node, "floor"):
        return None
    assert isinstance(node, Call)
    inside = node.args[0] if len(node.args) == 1 else None
    if not (isinstance(inside, Op) and inside.op == "/"):
        return None
    time, count = inside.args
    if not (isinstance(time, Call) and is_call(time, "unix_timestamp", "unix_seconds")):
        return None
    if len(time.args) != 1 or not (isinstance(count, Literal) and count.text.isdigit()):
        return None
    return (time.args[0], count.text) if int(count.text) else None


def _part(key: Node) -> tuple[Node, str] | None:
    """`year(ts)`, `EXTRACT(month FROM ts)`."""
    if isinstance(key, Cast) and key.function == "EXTRACT":
        return key.value, key.to.lower()
    if isinstance(key, Call) and len(key.args) == 1:
        name = function_name(key)
        name = _PART_NAMES.get(name, name)
        if name in ("year", "quarter", "month", "day"):
            return key.args[0], name
    return None


def _window(keys: tuple[Node, ...], time: Node, unit: str) -> Truncation:
    text = write(time)
    seconds = unit.removeprefix(_SHOWN)
    if seconds.isdigit():
        length = int(seconds) * MICROSECONDS["second"]
        needs = (UTC,) if unit.startswith(_SHOWN) else ()
        return Truncation(keys, text, Window.of_units(length, length, 0, "time"), needs)
    if unit in ("hour", "minute", "second"):
        length = MICROSECONDS[unit]
        return Truncation(keys, text, Window.of_units(length, length, 0, "time"), (UTC,))
    if unit.startswith("local "):
        length = MICROSECONDS[unit.removeprefix("local ")]
        local = f"CAST({text} AS TIMESTAMP_NTZ)"
        return Truncation(keys, local, Window.of_units(length, length, 0, "time"))
    return Truncation(keys, text, Calendar(range=f"1 {unit}", zone=SESSION))


def _text(node: Node) -> str | None:
    return string_value(node) if isinstance(node, Literal) and node.kind == "string" else None
