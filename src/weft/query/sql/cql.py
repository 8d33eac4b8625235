"""CQL, as in the SIGMOD'06 paper.

    SELECT T.symbol, sum(T.price * T.volume) AS value
    FROM Trades T [RANGE '12 min' SLIDE '5 min']
    WHERE T.volume > 50000
    GROUP BY T.symbol;

A window ends at every multiple of its slide (the paper's definition 1), so its offset is
`-range mod slide`. Expressions are Spark's. Integers without a unit are on an integer axis.
"""

from __future__ import annotations

import re

from weft.errors import QueryError, WindowError
from weft.query.duration import Duration, format_duration
from weft.query.sql.cursor import Cursor, clause
from weft.query.sql.dialect import Dialect, ParsedSelect, StatementFrame
from weft.query.sql.lengths import inclusive_hint, interval, read_length
from weft.query.sql.select import Select
from weft.query.sql.vocabulary import Vocabulary
from weft.query.syntax.lexer import Token, place
from weft.query.syntax.tree import Node
from weft.query.window import Window

_FORM = "[RANGE '12 min' SLIDE '5 min']"
TITLE = "CQL"
SHAPE = f"SELECT ... FROM table {_FORM} [WHERE ...] [GROUP BY keys]"
_UNITS = {
    **dict.fromkeys(("sec", "secs"), "seconds"),
    **dict.fromkeys(("min", "mins"), "minutes"),
    **dict.fromkeys(("hr", "hrs"), "hours"),
    **dict.fromkeys(("msec", "msecs", "ms"), "milliseconds"),
    **dict.fromkeys(("usec", "usecs", "us"), "microseconds"),
}
_OTHER_WINDOWS = {
    "ROWS": "a window of so many rows has no time to slice: number the rows of the stream and "
    "write [RANGE 100 SLIDE 10] over the number",
    "NOW": "a window of one instant aggregates nothing over time: write a RANGE",
    "UNBOUNDED": "a window without an end never gives an answer to share: write a RANGE",
    "PARTITION": "a window of so many rows per partition has no time to slice: write a RANGE, and "
    "the partition into GROUP BY",
}


def read(sql: str, tokens: tuple[Token, ...]) -> ParsedSelect:
    """What a statement in CQL asks."""
    begin, start = window_clause(tokens), clause(tokens, "FROM")
    others = [clause(tokens, word) for word in ("WHERE", "GROUP", "HAVING")]
    end = min((at for at in others if at is not None), default=len(tokens))
    if begin is None or not (start or 0) < begin < end:
        at = tokens[begin if begin is not None else start or 0].start
        raise QueryError(place(sql, at, f"FROM needs a window: accepted is {SHAPE}"))
    cursor = Cursor(sql, tokens, begin + 1)
    window = _window(cursor)
    rest = tokens[:begin] + tokens[cursor.position :]
    again = window_clause(rest)
    if again is not None:
        raise QueryError(place(sql, rest[again].start, "a second window: a query has one"))
    return ParsedSelect(
        Select.read(sql, rest, SHAPE, TITLE), ((None, window),), None, _shows_window
    )


def window_clause(tokens: tuple[Token, ...]) -> int | None:
    """Where the bracket of a CQL window opens, or None: nothing else in SQL looks like it."""
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


def _window(cursor: Cursor) -> Window:
    begin = cursor.tokens[cursor.position]
    if cursor.word in _OTHER_WINDOWS:
        raise cursor.fail(f"{cursor.word}: {_OTHER_WINDOWS[cursor.word]}")
    cursor.expect("RANGE", _FORM)
    if cursor.word == "UNBOUNDED":
        raise cursor.fail(f"RANGE UNBOUNDED: {_OTHER_WINDOWS['UNBOUNDED']}")
    range_, range_value = _length(cursor, "range")
    if cursor.word == "]":
        raise cursor.fail(
            f"without SLIDE the window moves with every row, and has no fixed slices to share: "
            f"write {_FORM}"
        )
    cursor.expect("SLIDE", _FORM)
    slide, slide_value = _length(cursor, "slide")
    cursor.expect("]", _FORM)
    try:
        given = Window(range=range_value, slide=slide_value)
    except WindowError as error:
        raise WindowError(place(cursor.sql, begin.start, str(error))) from None
    return Window.of_units(range_, slide, -range_ % slide, given.axis)


def _length(cursor: Cursor, field: str) -> tuple[int, Duration]:
    """A length as units and as it was given: `'12 min'`, `12 MINUTES`, an INTERVAL, or `12`."""
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
        raise cursor.fail(f"{field} must be a constant: accepted is {_FORM}")
    return read_length(cursor.sql, token.start, field, value), value


def _spelled(text: str) -> str:
    """A duration with its units spelled out."""
    return re.sub(r"[A-Za-z]+", lambda unit: _UNITS.get(unit[0].lower(), unit[0]), text)


def _shows_window(node: Node) -> bool:
    return False  # CQL has no name for it


def frame(window: Window, table: str, time: str) -> StatementFrame:
    """`FROM table [RANGE 'range' SLIDE 'slide']`."""
    if window.phase != -window.range % window.slide:
        raise QueryError(
            f"CQL's windows end at multiples of the slide and take no other offset, and {window!r} "
            f"does not: its offset would have to be -range modulo the slide{inclusive_hint(window)}"
        )
    lengths = (window.range, window.slide)
    if window.axis == "time":
        range_, slide = (f"'{format_duration(length)}'" for length in lengths)
    else:
        range_, slide = map(str, lengths)
    return StatementFrame(f"{table} [RANGE {range_} SLIDE {slide}]")


CQL = Dialect(
    name="cql",
    title=TITLE,
    read=read,
    frame=frame,
    words=Vocabulary("CQL", window=None),
    refused=dict.fromkeys(
        ("ISTREAM", "DSTREAM", "RSTREAM"),
        "answers are always one row for each window and group: leave it out",
    ),
)
