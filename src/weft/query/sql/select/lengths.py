"""Lengths of windows in SQL: constants that are required, fixed and positive."""

from __future__ import annotations

import re

from weft.errors import WindowError
from weft.query.duration import Duration, parse_duration
from weft.query.quoting import quoted
from weft.query.syntax.lexer import place
from weft.query.syntax.tree import Literal, Node
from weft.query.window import Window


def read_length(sql: str, at: int, field: str, value: Duration) -> int:
    """Parse a range, slide or offset into units of its axis; an error points into the text."""
    try:
        units = parse_duration(value, field)
        if units <= 0 and field != "offset":
            raise WindowError(f"{field}={quoted(value)} must be longer than nothing")
    except WindowError as error:
        raise WindowError(place(sql, at, str(error))) from None
    return units


def constant(node: Node) -> Duration | None:
    """The duration of a constant node (`'1 hour'`, `INTERVAL 1 HOUR`, `3600000000`), or None.

    >>> from weft.query.syntax.reader import read_expression
    >>> constant(read_expression("interval '10' minutes")), constant(read_expression("d"))
    ('INTERVAL 10 MINUTES', None)
    """
    if isinstance(node, Literal):
        if node.kind == "string" and node.text[0] in "'\"":
            return node.text[1:-1]
        if node.kind == "number" and len(node.text) < 30 and node.text.rstrip("lL").isdigit():
            return int(node.text.rstrip("lL"))
        if node.kind == "typed" and node.text.startswith("INTERVAL"):
            return interval(node.text)
    return None


def inclusive_hint(window: Window) -> str:
    """Advice on an Azure window that another dialect cannot express; empty for other windows."""
    if window.axis != "time" or window.phase % 1000 != 1:
        return ""
    return (
        " (windows of Azure Stream Analytics take in their end and not their start; with "
        "Offset(microsecond, -1) there it is the other way round, as in other dialects)"
    )


_UNITS = ("DAY", "HOUR", "MINUTE", "SECOND")
_MOST = {"DAY": 0, "HOUR": 24, "MINUTE": 60, "SECOND": 60}
_COMPOUND = re.compile(r"INTERVAL '([\d :.]+)' (\w+?)S? TO (\w+?)S?")


def interval(text: str) -> str:
    """An INTERVAL literal as a duration.

    >>> interval("INTERVAL '10' MINUTES"), interval("INTERVAL '2:30' HOUR TO MINUTE")
    ('INTERVAL 10 MINUTES', '2 HOUR 30 MINUTE')
    """
    found = _COMPOUND.fullmatch(text)
    if found is not None and found[2] in _UNITS and found[3] in _UNITS:
        units = _UNITS[_UNITS.index(found[2]) : _UNITS.index(found[3]) + 1]
        values = re.split("[ :]", found[1])
        if len(values) == len(units) and all(
            re.fullmatch(r"\d{1,9}(\.\d+)?", value)
            and (unit == units[0] or float(value) < _MOST[unit])
            for value, unit in zip(values, units, strict=True)
        ):
            return " ".join(f"{value} {unit}" for value, unit in zip(values, units, strict=True))
    return text.replace("'", "").replace('"', "")
