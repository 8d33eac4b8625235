"""The query language of Azure Stream Analytics.

    SELECT DeviceID, System.Window().Id, Min(temperature) AS MinTemp
    FROM Input TIMESTAMP BY EntryTime
    GROUP BY DeviceID, Windows(
        Window('10 min', TumblingWindow(minute, 10)),
        Window('hop', HoppingWindow(minute, 30, 10)));

Its windows leave out their start and take in their end. Times are whole microseconds in Spark, so
`(start, end]` is `[start + 1 microsecond, end + 1 microsecond)`: an offset more, and exact.
"""

from __future__ import annotations

from fractions import Fraction

from weft.errors import QueryError, WindowError
from weft.query.duration import MICROSECONDS
from weft.query.expression import function_name
from weft.query.names import check_query_name
from weft.query.sql.asa_words import WORDS
from weft.query.sql.cursor import Cursor, clause
from weft.query.sql.dialect import Asked, Dialect, Frame
from weft.query.sql.select import Select, is_call, unquoted
from weft.query.syntax.lexer import Token, place
from weft.query.syntax.tree import Call, Literal, Name, Node, Op, walk
from weft.query.syntax.writer import write
from weft.query.window import Window

_FORM = "TumblingWindow(unit, size) or HoppingWindow(unit, size, hop)"
SHAPE = f"SELECT ... FROM input [TIMESTAMP BY column] [WHERE ...] GROUP BY {_FORM}[, keys]"
_TUMBLING = ("tumblingwindow", "tumbling")
_HOPPING = ("hoppingwindow", "hopping")
_LENGTHS = {"duration": "range", "hop": "slide", "offset": "offset"}
_UNITS = {
    **dict.fromkeys(("day", "dd", "d"), "day"),
    **dict.fromkeys(("hour", "hh"), "hour"),
    **dict.fromkeys(("minute", "mi", "n"), "minute"),
    **dict.fromkeys(("second", "ss", "s"), "second"),
    **dict.fromkeys(("millisecond", "ms"), "millisecond"),
    **dict.fromkeys(("microsecond", "mcs"), "microsecond"),
}
_DAY = MICROSECONDS["day"]
_LONGEST = 7 * _DAY
_INCLUSIVE = 1
"""What turns (start, end] into [start, end), in microseconds."""
_UNCLEAR = (
    "Azure does not document where windows begin whose hop does not divide {}: write it in Spark "
    "SQL, as window(time, range, slide, offset)"
)


def read(sql: str, tokens: tuple[Token, ...]) -> Asked:
    """What a statement for Azure Stream Analytics asks."""
    tokens, into = _take_out(sql, _bracketed(sql, tokens), "SELECT", "INTO", None)
    tokens, time = _take_out(sql, tokens, "FROM", "TIMESTAMP", "BY")
    select = Select.read(sql, tokens, SHAPE)
    for key in select.group:
        if any(map(_is_system, walk(key))):
            raise select.fail(
                key, "a snapshot window has no length to slice: use TumblingWindow(unit, size)"
            )
    found, select = select.one_window(_is_window, f"window, {_FORM}, or Windows(...)")
    windows = tuple(_windows(select, found))
    select = select.changed(lambda node: WORDS.to_spark(sql, node))
    select.refuse_window_within(_is_system)
    for part in walk(select.having) if select.having is not None else ():
        if _is_system(part):
            raise select.fail(part, "System belongs into SELECT: filter on the answers' window")
    return Asked(select, windows, time, _shows_window, into and unquoted(into))


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
    sql: str, tokens: tuple[Token, ...], within: str, word: str, then: str | None
) -> tuple[tuple[Token, ...], str | None]:
    """The tokens without a clause `word [then] name`, and the name."""
    start, at = clause(tokens, within), clause(tokens, word)
    if start is None or at is None or at < start:
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


def _is_window(node: Node) -> bool:
    return is_call(node, *_TUMBLING, *_HOPPING, "windows")


def _windows(select: Select, node: Node) -> list[tuple[str | None, Window]]:
    """The windows of `Windows(...)`, or the one window, with their ids."""
    assert isinstance(node, Call)
    if function_name(node) != "windows":
        return [(None, _window(select, node))]
    found: list[tuple[str | None, Window]] = []
    for item in node.args:
        id_: str | None = None
        definition = item
        if is_call(item, "window"):
            assert isinstance(item, Call)
            first = item.args[0] if item.args else item
            if len(item.args) != 2 or not isinstance(first, Literal) or first.kind != "string":
                raise select.fail(item, f"accepted is Window('id', {_FORM})")
            id_, definition = first.text[1:-1].replace("''", "'"), item.args[1]
            try:
                check_query_name(id_)
            except QueryError as error:
                raise select.fail(first, str(error)) from None
            if id_.casefold() in {(known or "").casefold() for known, _ in found}:
                raise select.fail(first, f"there are two windows {id_!r}: ids differ")
        if not is_call(definition, *_TUMBLING, *_HOPPING):
            raise select.fail(definition, f"accepted is {_FORM}, or Window('id', one of these)")
        if found and (id_ is None) != (found[0][0] is None):
            raise select.fail(item, "give all windows an id, with Window('id', ...), or none")
        found.append((id_, _window(select, definition)))
    if not found:
        raise select.fail(node, f"Windows needs at least one {_FORM}")
    return found


def _window(select: Select, node: Node) -> Window:
    assert isinstance(node, Call)
    hopping = function_name(node) in _HOPPING
    fields = ("range", "slide", "offset") if hopping else ("range", "offset")
    given: dict[str, int] = {}
    args = list(node.args)
    if args and isinstance(args[0], Name):  # TumblingWindow(unit, size[, offset])
        unit, *numbers = args
        listed = [(field, unit, number) for field, number in zip(fields, numbers, strict=False)]
        if len(numbers) > len(fields):
            raise select.fail(node, f"too many arguments: accepted is {_FORM}")
    else:  # TumblingWindow(Duration(unit, size)[, Offset(unit, size)])
        listed = []
        for arg in args:
            field = _LENGTHS.get(function_name(arg), "") if isinstance(arg, Call) else ""
            if field not in fields or not isinstance(arg, Call) or len(arg.args) != 2:
                raise select.fail(
                    arg, f"accepted is {_FORM}, or Duration, Hop and Offset (unit, size) in it"
                )
            listed.append((field, arg.args[0], arg.args[1]))
    for field, unit, number in listed:
        if field in given:
            raise select.fail(number, f"{field} is given twice")
        given[field] = _length(select, field, unit, number)
    for field in fields[:-1]:
        if field not in given:
            raise select.fail(node, f"{field} is missing: accepted is {_FORM}")
    slide = given.get("slide", given["range"])
    for what, length in (("its size", given["range"]), ("a day", _DAY)):
        if length % slide:
            raise select.fail(node, _UNCLEAR.format(what))
    return Window.of_units(given["range"], slide, given.get("offset", 0) + _INCLUSIVE, "time")


def _length(select: Select, field: str, unit: Node, number: Node) -> int:
    name = unquoted(unit.parts[0]).lower() if isinstance(unit, Name) else ""
    if name not in _UNITS or (isinstance(unit, Name) and len(unit.parts) > 1):
        raise select.fail(unit, f"unknown unit {write(unit)}: accepted are {', '.join(_UNITS)}")
    sign, value = 1, number
    if isinstance(number, Op) and number.op == "NEG":
        sign, value = -1, number.args[0]
    digits = value.text if isinstance(value, Literal) and value.kind == "number" else ""
    if not digits.replace(".", "", 1).isdecimal() or len(digits) > 30:
        raise select.fail(number, f"{field} must be a constant number of {_UNITS[name]}s")
    length = sign * Fraction(digits) * MICROSECONDS[_UNITS[name]]
    if length.denominator != 1:
        raise select.fail(number, f"{field} is finer than a microsecond")
    if (length <= 0 and field != "offset") or abs(length) > 2**62:
        raise WindowError(
            place(select.sql, number.at, f"{field} must be longer than nothing, up to 7 days")
        )
    return int(length)


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


def frame(window: Window, table: str, time: str) -> Frame:
    """`FROM table TIMESTAMP BY time GROUP BY HoppingWindow(...)`."""
    if window.axis != "time":
        raise QueryError("Azure's windows are over time, and this window is on an integer axis")
    if window.range > _LONGEST:
        raise QueryError(f"Azure's windows are at most 7 days long, and {window!r} is longer")
    for what, length in (("its size", window.range), ("a day", _DAY)):
        if length % window.slide:
            raise QueryError(f"{window!r}: {_UNCLEAR.format(what)}")
    offset = (window.phase - _INCLUSIVE) % window.slide
    offset -= window.slide if 2 * offset > window.slide else 0
    lengths = [_written("Duration", window.range)]
    kind = "TumblingWindow" if window.slide == window.range else "HoppingWindow"
    lengths += [] if window.slide == window.range else [_written("Hop", window.slide)]
    lengths += [_written("Offset", offset)] if offset else []
    call = f"{kind}({', '.join(lengths)})"
    return Frame(
        f"{table} TIMESTAMP BY {time}",
        ("System.Timestamp() AS window_end",),
        (call,),
        ("window_end",),
    )


def _written(function: str, length: int) -> str:
    for unit in ("day", "hour", "minute", "second", "millisecond", "microsecond"):
        if length % MICROSECONDS[unit] == 0:
            return f"{function}({unit}, {length // MICROSECONDS[unit]})"
    raise AssertionError(length)


_NO_LENGTH = "has no fixed slices to share: use TumblingWindow(unit, size) or HoppingWindow"
ASA = Dialect(
    name="asa",
    title="Azure Stream Analytics",
    read=read,
    frame=frame,
    words=WORDS,
    refused={
        **dict.fromkeys(("SESSIONWINDOW", "SESSION"), f"a session {_NO_LENGTH}"),
        **dict.fromkeys(
            ("SLIDINGWINDOW", "SLIDING"), f"a window that ends at every event {_NO_LENGTH}"
        ),
        **dict.fromkeys(("SNAPSHOTWINDOW", "SNAPSHOT"), f"a snapshot {_NO_LENGTH}"),
    },
    names_outputs=False,
)
