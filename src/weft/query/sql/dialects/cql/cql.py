"""CQL, as in the SIGMOD'06 paper.

    SELECT T.symbol, sum(T.price * T.volume) AS value
    FROM Trades T [RANGE '12 min' SLIDE '5 min']
    WHERE T.volume > 50000
    GROUP BY T.symbol;

A window ends at every multiple of its slide (the paper's definition 1), so its offset is
`-range mod slide`. Expressions are Spark SQL. Lengths without a unit are on an integer axis.
"""

from __future__ import annotations

from weft.errors import QueryError, WindowError
from weft.query.duration import format_duration
from weft.query.sql.dialects.cql.rows import in_spark
from weft.query.sql.dialects.cql.windows import FORM, length_at, window_clause
from weft.query.sql.dialects.dialect import Dialect, ParsedSelect, StatementFrame
from weft.query.sql.dialects.vocabulary import Vocabulary
from weft.query.sql.select.lengths import inclusive_hint
from weft.query.sql.select.select import Select
from weft.query.sql.tokens.cursor import Cursor, clause
from weft.query.syntax.lexer import Token, place
from weft.query.syntax.tree import Node
from weft.query.window import Window

TITLE = "CQL"
SHAPE = f"SELECT ... FROM table {FORM} [WHERE ...] [GROUP BY keys]"
_OTHER_WINDOWS = {
    "ROWS": "a window of so many rows has no time to slice: number the rows of the stream and "
    "write [RANGE 100 SLIDE 10] over the number",
    "NOW": "a window of one instant aggregates nothing over time: write a RANGE",
    "UNBOUNDED": "a window without an end never gives an answer to share: write a RANGE",
    "PARTITION": "a window of so many rows per partition has no time to slice: write a RANGE, and "
    "the partition into GROUP BY",
}


def read(sql: str, tokens: tuple[Token, ...]) -> ParsedSelect:
    """Parse a statement in CQL."""
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
        Select.read(sql, rest, SHAPE, TITLE),
        ((None, window),),
        None,
        _shows_window,
        window_as=lambda node, *_: node,
    )


def _window(cursor: Cursor) -> Window:
    begin = cursor.tokens[cursor.position]
    if cursor.word in _OTHER_WINDOWS:
        raise cursor.fail(f"{cursor.word}: {_OTHER_WINDOWS[cursor.word]}")
    cursor.expect("RANGE", FORM)
    if cursor.word == "UNBOUNDED":
        raise cursor.fail(f"RANGE UNBOUNDED: {_OTHER_WINDOWS['UNBOUNDED']}")
    range_, range_value = length_at(cursor, "range")
    if cursor.word == "]":
        raise cursor.fail(
            f"without SLIDE the window moves with every row, and has no fixed slices to share: "
            f"write {FORM}"
        )
    cursor.expect("SLIDE", FORM)
    slide, slide_value = length_at(cursor, "slide")
    cursor.expect("]", FORM)
    try:
        given = Window(range=range_value, slide=slide_value)
    except WindowError as error:
        raise WindowError(place(cursor.sql, begin.start, str(error))) from None
    return Window.of_units(range_, slide, -range_ % slide, given.axis)


def _shows_window(node: Node) -> bool:
    return False  # CQL has no name for the window


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
    in_spark=in_spark,
)
