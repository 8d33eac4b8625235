"""Windows of Azure Stream Analytics: reads them from syntax trees, and writes them."""

from __future__ import annotations

from fractions import Fraction

from weft.errors import QueryError, WindowError
from weft.query.duration import MICROSECONDS
from weft.query.expression import function_name
from weft.query.names import check_query_name
from weft.query.sql.dialects.dialect import StatementFrame
from weft.query.sql.select.nodes import is_call, unquoted
from weft.query.sql.select.select import Select
from weft.query.syntax.lexer import place
from weft.query.syntax.tree import Call, Literal, Name, Node, Op
from weft.query.syntax.writer import write
from weft.query.window import Session, Window

_FIXED = "TumblingWindow(unit, size) or HoppingWindow(unit, size, hop)"
_SESSION = "SessionWindow(unit, timeout, maximum)"
FORM = f"{_FIXED.replace(' or', ',')} or {_SESSION}"
TUMBLING = ("tumblingwindow", "tumbling")
HOPPING = ("hoppingwindow", "hopping")
SESSIONS = ("sessionwindow", "session")
_TIMES = {"timeout": "gap", "maxduration": "maximum"}
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
"""The offset that turns (start, end] into [start, end), in microseconds."""
_UNCLEAR = (
    "Azure does not document where windows begin whose hop does not divide {}: write it in Spark "
    "SQL, as window(time, range, slide, offset)"
)


def read_windows(select: Select, node: Node) -> list[tuple[str | None, Window]]:
    """The windows of `Windows(...)`, with their ids, or the only window."""
    assert isinstance(node, Call)
    if function_name(node) != "windows":
        return [(None, window_of(select, node))]
    found: list[tuple[str | None, Window]] = []
    for item in node.args:
        id_: str | None = None
        definition = item
        if is_call(item, "window"):
            assert isinstance(item, Call)
            first = item.args[0] if item.args else item
            if len(item.args) != 2 or not isinstance(first, Literal) or first.kind != "string":
                raise select.fail(item, f"accepted is Window('id', {FORM})")
            id_, definition = first.text[1:-1].replace("''", "'"), item.args[1]
            try:
                check_query_name(id_)
            except QueryError as error:
                raise select.fail(first, str(error)) from None
            if id_.casefold() in {(known or "").casefold() for known, _ in found}:
                raise select.fail(first, f"there are two windows {id_!r}: ids differ")
        if not is_call(definition, *TUMBLING, *HOPPING, *SESSIONS):
            raise select.fail(definition, f"accepted is {FORM}, or Window('id', one of these)")
        if found and (id_ is None) != (found[0][0] is None):
            raise select.fail(item, "give all windows an id, with Window('id', ...), or none")
        found.append((id_, window_of(select, definition)))
    if not found:
        raise select.fail(node, f"Windows needs at least one {FORM}")
    return found


def window_of(select: Select, node: Node) -> Window:
    """The window that a call defines."""
    assert isinstance(node, Call)
    if is_call(node, *SESSIONS):
        return _session_of(select, node)
    hopping = function_name(node) in HOPPING
    fields = ("range", "slide", "offset") if hopping else ("range", "offset")
    given: dict[str, int] = {}
    args = list(node.args)
    if args and isinstance(args[0], Name):  # TumblingWindow(unit, size[, offset])
        unit, *numbers = args
        listed = [(field, unit, number) for field, number in zip(fields, numbers, strict=False)]
        if len(numbers) > len(fields):
            raise select.fail(node, f"too many arguments: accepted is {_FIXED}")
    else:  # TumblingWindow(Duration(unit, size)[, Offset(unit, size)])
        listed = []
        for arg in args:
            field = _LENGTHS.get(function_name(arg), "") if isinstance(arg, Call) else ""
            if field not in fields or not isinstance(arg, Call) or len(arg.args) != 2:
                raise select.fail(
                    arg, f"accepted is {_FIXED}, or Duration, Hop and Offset (unit, size) in it"
                )
            listed.append((field, arg.args[0], arg.args[1]))
    for field, unit, number in listed:
        if field in given:
            raise select.fail(number, f"{field} is given twice")
        given[field] = length_of(select, field, unit, number)
    for field in fields[:-1]:
        if field not in given:
            raise select.fail(node, f"{field} is missing: accepted is {_FIXED}")
    slide = given.get("slide", given["range"])
    for what, length in (("its size", given["range"]), ("a day", _DAY)):
        if length % slide:
            raise select.fail(node, _UNCLEAR.format(what))
    return Window.of_units(given["range"], slide, given.get("offset", 0) + _INCLUSIVE, "time")


def _session_of(select: Select, node: Call) -> Session:
    """The sessions that a call defines; they may have no maximum, though Microsoft's syntax
    requires one."""
    accepted = f"accepted is {_SESSION}, or Timeout and MaxDuration (unit, size) in it"
    if node.args and isinstance(node.args[0], Name):
        unit, *numbers = node.args
        listed = [(field, unit, one) for field, one in zip(_TIMES.values(), numbers, strict=False)]
        if len(numbers) > len(_TIMES):
            raise select.fail(node, f"too many arguments: {accepted}")
    else:
        listed = [_session_length(select, arg, accepted) for arg in node.args]
    given: dict[str, int] = {}
    for field, unit, number in listed:
        if field in given:
            raise select.fail(number, f"{field} is given twice")
        given[field] = length_of(select, field, unit, number)
    if "gap" not in given:
        raise select.fail(node, f"its timeout is missing: {accepted}")
    try:
        return Session.of_micros(**given)
    except WindowError as error:
        raise WindowError(place(select.sql, node.at, str(error))) from None


def _session_length(select: Select, arg: Node, accepted: str) -> tuple[str, Node, Node]:
    """`Timeout(unit, size)` or `MaxDuration(unit, size)`."""
    field = _TIMES.get(function_name(arg), "") if isinstance(arg, Call) else ""
    if not field or not isinstance(arg, Call) or len(arg.args) != 2:
        raise select.fail(arg, accepted)
    return field, arg.args[0], arg.args[1]


def length_of(select: Select, field: str, unit: Node, number: Node) -> int:
    """A number of units, in microseconds."""
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


def frame(window: Window, table: str, time: str) -> StatementFrame:
    """`FROM table TIMESTAMP BY time GROUP BY HoppingWindow(...)`."""
    if window.axis != "time":
        raise QueryError("Azure's windows are over time, and this window is on an integer axis")
    longest = window.maximum if isinstance(window, Session) else window.range
    if longest is not None and longest > _LONGEST:
        raise QueryError(f"Azure's windows are at most 7 days long, and {window!r} is longer")
    if isinstance(window, Session):
        return _framed(table, time, _session_call(window), partitioned=True)
    for what, length in (("its size", window.range), ("a day", _DAY)):
        if length % window.slide:
            raise QueryError(f"{window!r}: {_UNCLEAR.format(what)}")
    offset = (window.phase - _INCLUSIVE) % window.slide
    offset -= window.slide if 2 * offset > window.slide else 0
    lengths = [_written("Duration", window.range)]
    kind = "TumblingWindow" if window.slide == window.range else "HoppingWindow"
    lengths += [] if window.slide == window.range else [_written("Hop", window.slide)]
    lengths += [_written("Offset", offset)] if offset else []
    return _framed(table, time, f"{kind}({', '.join(lengths)})")


def _session_call(window: Session) -> str:
    if window.maximum is None:
        raise QueryError(
            f"Azure's sessions have a maximum, and {window!r} has none: give it one, up to 7 days"
        )
    timeout, longest = _written("Timeout", window.gap), _written("MaxDuration", window.maximum)
    return f"SessionWindow({timeout}, {longest})"


def _framed(table: str, time: str, call: str, *, partitioned: bool = False) -> StatementFrame:
    return StatementFrame(
        f"{table} TIMESTAMP BY {time}",
        ("System.Timestamp() AS window_end",),
        (call,),
        ("window_end",),
        partitioned,
    )


def _written(function: str, length: int) -> str:
    for unit in ("day", "hour", "minute", "second", "millisecond", "microsecond"):
        if length % MICROSECONDS[unit] == 0:
            return f"{function}({unit}, {length // MICROSECONDS[unit]})"
    raise AssertionError(length)
