"""Strings that Spark parses as the time at which the query runs: 'now', 'today' and so on."""

from __future__ import annotations

from weft.query.functions import NOT_DETERMINISTIC
from weft.query.syntax.literals import string_value
from weft.query.syntax.tree import Call, Cast, Literal, Name, Node, Op, Star, walk

WORDS = ("now", "today", "tomorrow", "yesterday")
_TYPES = ("DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ")
_FUNCTIONS = frozenset(
    (
        *("date", "timestamp", "to_date", "try_to_date", "to_timestamp", "to_timestamp_ltz"),
        *("to_timestamp_ntz", "try_to_timestamp", "date_trunc", "unix_timestamp"),
        *("to_unix_timestamp", "date_format", "date_add", "date_sub", "datediff", "date_diff"),
    )
)


def clock_refusal(node: Node) -> str | None:
    """Why a constant is refused because it means the current time; None if it does not.

    >>> from weft.query.syntax.reader import read_expression
    >>> clock_refusal(read_expression("CAST(' Now ' AS DATE)"))
    "the text 'now' depends on when the query runs: use the stream's time column, or a constant"
    >>> clock_refusal(read_expression("DATE '2024-01-01'")) is None
    True
    """
    if isinstance(node, Literal) and node.kind == "typed":
        word, _, rest = node.text.partition(" ")
        return _said(rest.strip("'\"")) if word in _TYPES else None
    if isinstance(node, Cast):
        return _made(node.value) if node.to.upper() in _TYPES else None
    if isinstance(node, Call) and node.name.lower() in _FUNCTIONS:
        return next((why for arg in node.args if (why := _made(arg)) is not None), None)
    return None


def _made(value: Node) -> str | None:
    """The value of a constant string expression, which Spark folds before parsing it as a time."""
    while isinstance(value, Op) and value.op == "PAREN":
        value = value.args[0]
    if isinstance(value, Literal):
        return _said(string_value(value) or "")
    parts = list(walk(value))
    folded = not any(isinstance(part, (Name, Star)) for part in parts)
    if folded and any(isinstance(part, Literal) and part.kind == "string" for part in parts):
        return "a date or time that is put together from texts: write it as one constant"
    return None


def _said(text: str) -> str | None:
    said = text.strip().lower()
    for word in WORDS:
        if said.startswith(word):
            return f"the text {word!r} {NOT_DETERMINISTIC['now']}"
    return None
