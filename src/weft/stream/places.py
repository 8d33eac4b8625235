"""Finds failing expressions by the line number in Spark's errors: each has a unique line.

Spark's errors give the line of the SQL text (`== SQL (line 7, position 2) ==`). The number of an
expression is encoded as empty lines before it, so that an error identifies the expression: even
lines are projections of rows, odd lines are outputs computed from combined partials.
"""

from __future__ import annotations

import re

_LINE = re.compile(r"== SQL(?: of [^(\n]*)? \(line (\d+), position \d+\) ==")


def projected_at(number: int, sql: str) -> str:
    """A projected expression, with its number as line number.

    >>> place_of("[X] bad == SQL (line 8, position 2) ==") == ("projected", 3)
    True
    >>> projected_at(3, "x").count(chr(10)) + 1
    8
    """
    return "\n" * (2 * number + 1) + sql


def lowered_at(number: int, sql: str) -> str:
    """An expression over aggregates, with its number as line number.

    >>> lowered_at(2, "x").count(chr(10)) + 1, place_of("== SQL (line 7, position 1) ==")
    (7, ('lowered', 2))
    """
    return "\n" * (2 * number + 2) + sql


def place_of(message: str) -> tuple[str, int] | None:
    """What failed: `projected` or `lowered`, and its number; None if the message does not say."""
    found = _LINE.search(message)
    if found is None or int(found[1]) < 2:
        return None
    line = int(found[1]) - 2
    return ("projected", line // 2) if line % 2 == 0 else ("lowered", line // 2)
