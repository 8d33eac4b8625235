"""The query language of Azure Stream Analytics.

    SELECT DeviceID, System.Window().Id, Min(temperature) AS MinTemp
    FROM Input TIMESTAMP BY EntryTime
    GROUP BY DeviceID, Windows(
        Window('10 min', TumblingWindow(minute, 10)),
        Window('hop', HoppingWindow(minute, 30, 10)));

Its windows exclude their start and include their end. Spark's times are whole microseconds, so
`(start, end]` is exactly `[start + 1 microsecond, end + 1 microsecond)`, a window with an offset.
Sessions begin with a row, and end by a timeout or a maximum length: they are `weft.Session`.
"""

from __future__ import annotations

from dataclasses import replace

from weft.errors import QueryError
from weft.query.sql.dialects.azure.sessions import without_partitions
from weft.query.sql.dialects.azure.statements import in_spark
from weft.query.sql.dialects.azure.windows import (
    FORM,
    HOPPING,
    SESSIONS,
    TUMBLING,
    frame,
    read_windows,
)
from weft.query.sql.dialects.azure.words import UNSUPPORTED, WORDS, borders, cut, unit_of
from weft.query.sql.dialects.dialect import Dialect, ParsedSelect, window_bound
from weft.query.sql.select.nodes import is_call, unquoted
from weft.query.sql.select.select import Select
from weft.query.sql.tokens.cursor import Cursor, clause
from weft.query.syntax.lexer import Token, place
from weft.query.syntax.reader import read_expression
from weft.query.syntax.tree import Call, Literal, Name, Node, Op, rebuild, walk
from weft.query.syntax.writer import write
from weft.query.window import Session, Window

TITLE = "Azure Stream Analytics"
SHAPE = f"SELECT ... FROM input [TIMESTAMP BY column] [WHERE ...] GROUP BY {FORM}[, keys]"


def read(sql: str, tokens: tuple[Token, ...]) -> ParsedSelect:
    """Parse a statement for Azure Stream Analytics."""
    tokens, into = _take_out(sql, _bracketed(sql, tokens), ("SELECT", "FROM"), "INTO", None)
    tokens, time = _take_out(sql, tokens, ("FROM", "WHERE", "GROUP"), "TIMESTAMP", "BY")
    select = Select.read(sql, tokens, SHAPE, TITLE)
    for key in select.group:
        if any(map(_is_system, walk(key))):
            raise select.fail(
                key, "a snapshot window has no length to slice: use TumblingWindow(unit, size)"
            )
    found, select = select.one_window(_is_window, f"window, {FORM}, or Windows(...)")
    windows = tuple(read_windows(select, found))
    select = select.changed(lambda node: WORDS.to_spark(sql, _counted(node)))
    select.refuse_window_within(_is_system)
    for part in walk(select.having) if select.having is not None else ():
        if _is_system(part):
            raise select.fail(part, "System belongs into SELECT: filter on the answers' window")
    return ParsedSelect(select, windows, time, _shows_window, into and unquoted(into), _of_answers)


def _of_answers(node: Node, id: str | None, window: Window) -> Node:
    """`System.Timestamp()` and `System.Window().Id` as columns of the answers.

    Azure's windows include their end, which is a microsecond before the end of weft's; its
    sessions end where weft's do.
    """
    if isinstance(node, Op) and isinstance(node.args[1], Name):
        text = "NULL" if id is None else "'" + id.replace("'", "''") + "'"
        return Literal("null" if id is None else "string", text, at=node.at)
    return window_bound(node, "end", 0 if isinstance(window, Session) else 1)


def _bracketed(sql: str, tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """The tokens with `[device id]` as one quoted name."""
    found: list[Token] = []
    position = 0
    while position < len(tokens):
        token = tokens[position]
        if token.text == "[":
            end = position + 1
            while end < len(tokens) and tokens[end].text not in ("[", "]"):
                end += 1
            if end >= len(tokens) or tokens[end].text != "]" or end == position + 1:
                raise QueryError(place(sql, token.start, "[name] is not closed"))
            name = sql[token.end : tokens[end].start].strip()
            text = "`" + name.replace("`", "``") + "`"
            found.append(Token("quoted", text, token.start, tokens[end].end, text))
            position = end
        else:
            found.append(token)
        position += 1
    return tuple(found)


def _take_out(
    sql: str, tokens: tuple[Token, ...], around: tuple[str, ...], word: str, then: str | None
) -> tuple[tuple[Token, ...], str | None]:
    """Remove `word [then] name` from a clause; return the other tokens and the name.

    `around` lists that clause and those that may follow it.
    """
    start, at = clause(tokens, around[0]), clause(tokens, word)
    ends = [end for end in (clause(tokens, later) for later in around[1:]) if end is not None]
    if start is None or at is None or not start < at < min(ends, default=len(tokens)):
        return tokens, None
    if then is not None and (at + 1 >= len(tokens) or tokens[at + 1].word != then):
        return tokens, None
    if tokens[at - 1].text in (",", ".") or tokens[at - 1].word in ("SELECT", "AS", "FROM"):
        return tokens, None
    cursor = Cursor(sql, tokens, at + (1 if then is None else 2))
    form = f"{word} {then + ' ' if then else ''}name"
    name = cursor.take_name(form)
    if cursor.word == "(":
        raise cursor.fail("a column alone is accepted here: compute it in the stream first")
    tables = {token.text.lower() for token in tokens[start + 1 : at]}
    if then is not None and len(name) > 1 and name[0].text.lower() in tables:
        name = name[2:]
    return tokens[:at] + tokens[cursor.position :], "".join(token.text for token in name)


def _counted(node: Node) -> Node:
    """A tree with DATEDIFF as the count of unit boundaries, and Spark's units in DATEADD.

    SUBSTRING also counts otherwise, where it starts before the string.
    """
    node = rebuild(node, _counted)
    if isinstance(node, Call) and is_call(node, "substring") and len(node.args) == 3:
        return replace(read_expression(cut(*map(write, node.args))), at=node.at)
    if isinstance(node, Call) and is_call(node, "dateadd") and isinstance(node.args[0], Name):
        named = Name((unit_of(write(node.args[0])),), at=node.args[0].at)
        return replace(node, args=(named, *node.args[1:]))
    if not (isinstance(node, Call) and is_call(node, "datediff") and len(node.args) == 3):
        return node
    unit, first, second = map(write, node.args)
    counted = borders(unit, first, second)
    return node if counted is None else replace(read_expression(counted), at=node.at)


def _is_window(node: Node) -> bool:
    return is_call(node, *TUMBLING, *HOPPING, *SESSIONS, "windows")


def _is_system(node: Node) -> bool:
    """`System.Timestamp()`, with or without parentheses, or `System.Window()`."""
    if isinstance(node, Name):
        return [unquoted(part).lower() for part in node.parts] == ["system", "timestamp"]
    if not (isinstance(node, Op) and node.op == "." and isinstance(node.args[0], Name)):
        return False
    owner, member = node.args
    system = isinstance(owner, Name) and [part.lower() for part in owner.parts] == ["system"]
    return system and is_call(member, "timestamp", "window")


def _shows_window(node: Node) -> bool:
    """`System.Timestamp()` (the window's end) or `System.Window().Id`."""
    if isinstance(node, Op) and node.op == "." and isinstance(node.args[1], Name):
        member = [part.lower() for part in node.args[1].parts]
        return member == ["id"] and _is_system(node.args[0])
    return _is_system(node) and "window" not in write(node).lower()


_NO_LENGTH = "has no fixed slices to share: use TumblingWindow(unit, size) or HoppingWindow"
ASA = Dialect(
    name="asa",
    title=TITLE,
    read=read,
    frame=frame,
    words=WORDS,
    simplified=without_partitions,
    refused={
        **dict.fromkeys(
            ("SLIDINGWINDOW", "SLIDING"), f"a window that ends at every event {_NO_LENGTH}"
        ),
        **dict.fromkeys(("SNAPSHOTWINDOW", "SNAPSHOT"), f"a snapshot {_NO_LENGTH}"),
        **dict.fromkeys(
            ("GETARRAYLENGTH", "GETARRAYELEMENT", "GETRECORDPROPERTYVALUE"),
            "it is put into Spark SQL with the whole statement",
        ),
        **UNSUPPORTED,
    },
    in_spark=in_spark,
    names_outputs=False,
)
