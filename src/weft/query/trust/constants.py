"""Evaluates composed constants: `2 * 30`, `x + 10`, `d - INTERVAL 1 DAY`."""

from __future__ import annotations

from datetime import date
from typing import NamedTuple

from weft.errors import WindowError
from weft.query.duration import MICROSECONDS, parse_duration
from weft.query.syntax.tree import Call, Literal, Node, Op
from weft.query.syntax.writer import write

DAY = MICROSECONDS["day"]


class Anchored(NamedTuple):
    """An expression plus a constant; dates and intervals are in microseconds."""

    base: str | None
    """The text of the expression; None if there is only a constant."""
    offset: float
    timed: bool
    """Whether the constant is a date or an interval."""


def whole_number(node: Node) -> int | None:
    """The integer value of a node of literals, signs, parentheses, +, - and *; None for others.

    >>> from weft.query.syntax.reader import read_expression
    >>> whole_number(read_expression("-(2 + 3L) * 4")), whole_number(read_expression("x"))
    (-20, None)
    """
    if isinstance(node, Literal) and node.kind == "number":
        digits = node.text.upper().rstrip("LSYBD")
        return int(digits) if digits.isdigit() and len(digits) < 40 else None
    if not isinstance(node, Op) or node.op not in ("NEG", "PAREN", "+", "-", "*"):
        return None
    numbers = [whole_number(arg) for arg in node.args]
    if any(number is None for number in numbers):
        return None
    first, *rest = (number for number in numbers if number is not None)
    if node.op == "NEG":
        return -first
    for number in rest:
        first = {"+": first + number, "-": first - number, "*": first * number}[node.op]
    return first


def anchored(node: Node) -> Anchored:
    """A node as an expression plus a constant.

    >>> from weft.query.syntax.reader import read_expression
    >>> anchored(read_expression("x + 10")), anchored(read_expression("date_sub(d, 1)")).timed
    (Anchored(base='x', offset=10.0, timed=False), True)
    """
    constant = whole_number(node)
    if constant is not None:
        return Anchored(None, constant, False)
    if isinstance(node, Op) and node.op == "PAREN":
        return anchored(node.args[0])
    if isinstance(node, Literal) and node.kind == "typed":
        return _typed(node)
    if isinstance(node, Op) and node.op in ("+", "-"):
        base, offset, timed = anchored(node.args[0])
        other, more, also = anchored(node.args[1])
        if other is None:
            return Anchored(base, offset + (more if node.op == "+" else -more), timed or also)
    if isinstance(node, Call) and node.name.lower() in ("date_add", "date_sub"):
        days = whole_number(node.args[1]) if len(node.args) == 2 else None
        if days is not None:
            base, offset, _ = anchored(node.args[0])
            sign = 1 if node.name.lower() == "date_add" else -1
            return Anchored(base, offset + sign * days * DAY, True)
    return Anchored(write(node), 0.0, False)


def _typed(node: Literal) -> Anchored:
    word, _, rest = node.text.partition(" ")
    inner = rest.strip("'\"")
    try:
        if word == "INTERVAL":
            return Anchored(None, parse_duration(rest.replace("'", " "), "interval"), True)
        if word in ("DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ"):
            # The time of day is ignored, which is covered by the one day added here.
            return Anchored(None, (date.fromisoformat(inner[:10]).toordinal() + 1) * DAY, True)
    except (ValueError, WindowError):
        pass
    return Anchored(node.text, 0.0, False)
