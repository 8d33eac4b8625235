"""The window of a statement in CQL: `[RANGE '12 min' SLIDE '5 min']` after its table."""

from __future__ import annotations

import re

from weft.query.duration import Duration
from weft.query.sql.select.lengths import interval, read_length
from weft.query.sql.tokens.cursor import Cursor, clause
from weft.query.syntax.lexer import Token

FORM = "[RANGE '12 min' SLIDE '5 min']"
_UNITS = {
    **dict.fromkeys(("sec", "secs"), "seconds"),
    **dict.fromkeys(("min", "mins"), "minutes"),
    **dict.fromkeys(("hr", "hrs"), "hours"),
    **dict.fromkeys(("msec", "msecs", "ms"), "milliseconds"),
    **dict.fromkeys(("usec", "usecs", "us"), "microseconds"),
}


def window_clause(tokens: tuple[Token, ...]) -> int | None:
    """The index at which the bracket of a CQL window opens, or None; no other SQL looks like it."""
    for index in range(1, len(tokens) - 1):
        if tokens[index].text != "[" or tokens[index - 1].kind not in ("name", "quoted"):
            continue
        word = tokens[index + 1].word
        after = tokens[index + 2] if index + 2 < len(tokens) else None
        if word == "RANGE" and (after is None or after.text not in (".", "]", "(")):
            return index
        if word == "ROWS" and after is not None and after.kind == "number":
            return index
        if word == "PARTITION" and after is not None and after.word == "BY":
            return index
        if word in ("NOW", "UNBOUNDED") and after is not None and after.text == "]":
            start = clause(tokens[:index], "FROM")
            if start is not None and clause(tokens[:index], "WHERE") is None:
                return index
    return None


def length_at(cursor: Cursor, field: str) -> tuple[int, Duration]:
    """Take a length, as units and as given: `'12 min'`, `12 MINUTES`, an INTERVAL, or `12`."""
    at = cursor.position
    token = cursor.take()
    value: Duration
    if token.kind == "string" and token.text[0] in "'\"":
        value = _spelled(token.text[1:-1])
    elif token.kind == "literal" and token.text.startswith("INTERVAL"):
        value = _spelled(interval(token.text))
    elif token.kind == "number":
        terms = [token.text]
        while cursor.tokens[cursor.position : cursor.position + 1] and (
            cursor.word not in ("SLIDE", "]")
        ):
            terms.append(cursor.take().text)
        bare = len(terms) == 1 and token.text.isdigit() and len(token.text) < 30
        value = int(token.text) if bare else _spelled(" ".join(terms))
    else:
        cursor.position = at
        raise cursor.fail(f"{field} must be a constant: accepted is {FORM}")
    return read_length(cursor.sql, token.start, field, value), value


def _spelled(text: str) -> str:
    """A duration with its units spelled out."""
    return re.sub(r"[A-Za-z]+", lambda unit: _UNITS.get(unit[0].lower(), unit[0]), text)
