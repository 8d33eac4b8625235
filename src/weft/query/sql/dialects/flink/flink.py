"""Flink SQL, and Calcite's: windows as table functions, or as functions in GROUP BY.

    SELECT window_start, window_end, item, sum(price) AS total
    FROM TABLE(HOP(TABLE bids, DESCRIPTOR(ts), INTERVAL '5' MINUTES, INTERVAL '10' MINUTES))
    GROUP BY window_start, window_end, item;

    SELECT item, sum(price) AS total FROM bids GROUP BY TUMBLE(ts, INTERVAL '10' MINUTES), item;

HOP takes the slide before the size.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from functools import partial

from weft.errors import QueryError
from weft.query.duration import MICROSECONDS
from weft.query.expression import function_name
from weft.query.normal import normal
from weft.query.sql.dialects.dialect import Dialect, ParsedSelect, StatementFrame, window_bound
from weft.query.sql.dialects.flink.calls import CALLS
from weft.query.sql.dialects.flink.statements import in_spark
from weft.query.sql.dialects.flink.words import DEFAULTS, WORDS
from weft.query.sql.select.lengths import constant, inclusive_hint, read_length
from weft.query.sql.select.nodes import is_call, is_name, unquoted
from weft.query.sql.select.select import Select
from weft.query.sql.tokens.cursor import Cursor, clause
from weft.query.syntax.lexer import Token
from weft.query.syntax.reader import read_expression
from weft.query.syntax.tree import Call, Cast, Literal, Name, Node, rebuild
from weft.query.syntax.writer import write
from weft.query.window import Session, Window

_PARAMETERS = {
    "TUMBLE": ("DATA", "TIMECOL", "SIZE", "OFFSET"),
    "HOP": ("DATA", "TIMECOL", "SLIDE", "SIZE", "OFFSET"),
}
_FIELDS = {"SIZE": "range", "SLIDE": "slide", "OFFSET": "offset"}
_FORM = (
    "TABLE(TUMBLE(TABLE t, DESCRIPTOR(time), size[, offset])) or "
    "TABLE(HOP(TABLE t, DESCRIPTOR(time), slide, size[, offset]))"
)
TITLE = "Flink SQL"
SHAPE = f"SELECT ... FROM {_FORM} [WHERE ...] GROUP BY window_start, window_end[, keys]"
_GROUPED = "TUMBLE(time, size), HOP(time, slide, size) or SESSION(time, gap)"
_KINDS = {"tumble": ("range",), "hop": ("slide", "range"), "session": ("gap",)}
"""The functions of the older form, and the lengths that they take."""
_COLUMNS = ("window_start", "window_end", "window_time")
_SHOWN = tuple(f"{kind}_{what}" for kind in _KINDS for what in ("start", "end", "rowtime"))


def read(sql: str, tokens: tuple[Token, ...]) -> ParsedSelect:
    """Parse a statement in Flink SQL."""
    start = clause(tokens, "FROM")
    cursor = Cursor(sql, tokens, len(tokens) if start is None else start + 1)
    if not (cursor.word in _PARAMETERS and cursor.second == "(") and (
        cursor.word != "TABLE" or cursor.second != "("
    ):
        return _grouped(sql, tokens)
    wrapped = cursor.accept("TABLE")
    if wrapped:
        cursor.expect("(", _FORM)
    table, time, window = _table_function(cursor)
    if wrapped:
        cursor.expect(")", _FORM)
    rest = tokens[: (start or 0) + 1] + table + tokens[cursor.position :]
    select = Select.read(sql, rest, SHAPE, TITLE)
    if not all(any(is_name(key, column) for key in select.group) for column in _COLUMNS[:2]):
        raise select.fail(None, f"GROUP BY needs window_start and window_end: accepted is {SHAPE}")
    select.refuse_window_within(lambda node: is_name(node, *_COLUMNS))
    for key in select.group:
        if is_call(key, "tumble", "hop"):
            raise select.fail(key, "a second window: FROM has one")
    keys = tuple(key for key in select.group if not is_name(key, *_COLUMNS))
    select = _in_spark(replace(select, group=keys))
    return ParsedSelect(
        select, ((None, window),), time, lambda node: is_name(node, *_COLUMNS), None, _of_answers
    )


def _of_answers(node: Node, *_: object) -> Node:
    """`window_end`, `TUMBLE_ROWTIME(...)` and the like, from the window of the answers."""
    name = node.name if isinstance(node, Call) else write(node)
    field = unquoted(name).lower().rpartition("_")[2]
    if field in ("start", "end"):
        return window_bound(node, field)
    if field in ("time", "rowtime"):  # the window's last millisecond
        return window_bound(node, "end", MICROSECONDS["millisecond"])
    return Name(("window",), at=node.at)


def _in_spark(select: Select) -> Select:
    select = select.changed(lambda node: WORDS.to_spark(select.sql, _calls(node)))
    return select if select.having is None else replace(select, having=_bounds(select.having))


def _calls(node: Node) -> Node:
    """A tree with the arguments that Flink takes where none is given, and with whole seconds."""
    node = rebuild(node, _calls)
    if isinstance(node, Cast) and (node.function, node.to) == ("EXTRACT", "SECOND"):
        return Call("second", (node.value,), at=node.at)  # Spark's EXTRACT has their fraction
    if isinstance(node, Call) and node.args and function_name(node).upper() in CALLS:
        made = CALLS[function_name(node).upper()](list(map(write, node.args)))
        return replace(read_expression(made), at=node.at)
    if isinstance(node, Call) and len(node.args) == 1:
        given = DEFAULTS.get(function_name(node).upper(), ())
        return replace(node, args=(*node.args, *map(read_expression, given)))
    return node


def _bounds(node: Node) -> Node:
    """HAVING with Spark's names for the window's bounds."""
    for column, bound in (("window_start", "start"), ("window_end", "end")):
        if is_name(node, column):
            return Name(("window", bound), at=node.at)
    return rebuild(node, _bounds)


def _table_function(cursor: Cursor) -> tuple[tuple[Token, ...], str, Window]:
    """`TUMBLE(TABLE t, DESCRIPTOR(ts), size)`: the table's tokens, the time, the window."""
    if cursor.word not in _PARAMETERS:
        raise cursor.fail(f"accepted is {_FORM}")
    parameters = _PARAMETERS[cursor.take().word]
    cursor.expect("(", _FORM)
    table: tuple[Token, ...] = ()
    time = ""
    lengths: dict[str, int] = {}
    seen: set[str] = set()
    named = cursor.second == "=>"
    while True:
        if named != (cursor.second == "=>"):
            raise cursor.fail("name all arguments or none")
        if not named and len(seen) == len(parameters):
            raise cursor.fail(f"too many arguments: accepted is {_FORM}")
        parameter = cursor.word if named else parameters[len(seen)]
        if parameter not in parameters or parameter in seen:
            raise cursor.fail(f"accepted are {', '.join(parameters)}, each once")
        if named:
            cursor.position += 2
        seen.add(parameter)
        if parameter == "DATA":
            cursor.expect("TABLE", _FORM)
            table = cursor.take_name(_FORM)
        elif parameter == "TIMECOL":
            cursor.expect("DESCRIPTOR", _FORM)
            cursor.expect("(", _FORM)
            time = "".join(token.text for token in cursor.take_name(_FORM))
            cursor.expect(")", _FORM)
        else:
            lengths[_FIELDS[parameter]] = _length_of_token(cursor, _FIELDS[parameter])
        if not cursor.accept(","):
            break
    cursor.expect(")", _FORM)
    missing = [parameter for parameter in parameters[:-1] if parameter not in seen]
    if missing:
        cursor.position -= 1
        raise cursor.fail(f"{', '.join(missing)} missing: accepted is {_FORM}")
    return table, time, _made(lengths)


def _made(lengths: dict[str, int]) -> Window:
    if "gap" in lengths:
        return Session(gap=timedelta(microseconds=lengths["gap"]))
    slide = lengths.get("slide", lengths["range"])
    return Window.of_units(lengths["range"], slide, lengths.get("offset", 0), "time")


def _length_of_token(cursor: Cursor, field: str) -> int:
    token = cursor.take()
    value = constant(Literal("typed", token.text)) if token.kind == "literal" else None
    if value is None:
        cursor.position -= 1
        raise cursor.fail(f"{field} must be a constant such as INTERVAL '10' MINUTES")
    return read_length(cursor.sql, token.start, field, value)


def _grouped(sql: str, tokens: tuple[Token, ...]) -> ParsedSelect:
    """Parse the older form: TUMBLE, HOP or SESSION in GROUP BY."""
    select = Select.read(sql, tokens, SHAPE, TITLE)
    call, select = select.one_window(
        lambda item: is_call(item, *_KINDS), f"{_GROUPED}, or window_start and window_end"
    )
    assert isinstance(call, Call)
    kind = next(kind for kind in _KINDS if is_call(call, kind))
    fields = _KINDS[kind]
    if len(call.args) != len(fields) + 1:
        raise select.fail(call, f"accepted is {_GROUPED}; an offset is taken by {_FORM}")
    if not isinstance(call.args[0], Name):
        raise select.fail(call.args[0], "the time must be a column: compute it in the stream first")
    lengths: dict[str, int] = {}
    for field, node in zip(fields, call.args[1:], strict=True):
        value = constant(node)
        if value is None or not (isinstance(node, Literal) and node.kind == "typed"):
            raise select.fail(node, f"{field} must be a constant such as INTERVAL '10' MINUTES")
        lengths[field] = read_length(sql, node.at, field, value)
    arguments = [normal(arg) for arg in call.args]

    def shows_window(node: Node) -> bool:
        if not (isinstance(node, Call) and is_call(node, *_SHOWN)):
            return is_call(node, *_KINDS)
        same = [normal(arg) for arg in node.args] == arguments
        if not same or not unquoted(node.name).lower().startswith(kind):
            raise select.fail(node, f"this is not the window of GROUP BY, {write(call)}")
        return True

    return ParsedSelect(
        _in_spark(select),
        ((None, _made(lengths)),),
        write(call.args[0]),
        shows_window,
        window_as=_of_answers,
    )


def frame(window: Window, table: str, time: str) -> StatementFrame:
    """`FROM TABLE(HOP(TABLE table, DESCRIPTOR(time), slide, size, offset))`."""
    if window.axis != "time":
        raise QueryError("Flink's windows are over time, and this window is on an integer axis")
    for field, length in (
        ("range", window.range),
        ("slide", window.slide),
        ("offset", window.phase),
    ):
        if length % MICROSECONDS["millisecond"]:
            raise QueryError(
                f"Flink's windows are in milliseconds, and the {field} of {window!r} is finer"
                f"{inclusive_hint(window)}"
            )
    if isinstance(window, Session):
        made = f"{time}, {_interval(window.gap)}"
        shown = [f"SESSION_{what}({made}) AS window_{what.lower()}" for what in _BOUNDS]
        return StatementFrame(table, tuple(shown), (f"SESSION({made})",), _COLUMNS[:2])
    tumbles = window.slide == window.range
    lengths = [*([] if tumbles else [window.slide]), window.range]
    if window.range % window.slide:
        # Flink's table function requires the slide to divide the range; its older form does not.
        if window.phase:
            raise QueryError(
                f"Flink takes an offset only where the slide divides the range, and {window!r} has "
                f"an offset and a slide that does not"
            )
        grouped = f"HOP({time}, {', '.join(map(_interval, lengths))})"
        shown = [f"HOP_{what}({grouped[4:-1]}) AS window_{what.lower()}" for what in _BOUNDS]
        return StatementFrame(table, tuple(shown), (grouped,), _COLUMNS[:2])
    lengths += [window.phase] if window.phase else []
    listed = ", ".join(map(_interval, lengths))
    function = "TUMBLE" if tumbles else "HOP"
    return StatementFrame(
        f"TABLE({function}(TABLE {table}, DESCRIPTOR({time}), {listed}))",
        _COLUMNS[:2],
        _COLUMNS[:2],
        _COLUMNS,
    )


_BOUNDS = ("START", "END")


def _interval(length: int) -> str:
    """An interval of standard SQL, whose leading field has at most two digits."""
    for unit in ("day", "hour", "minute", "second"):
        count, rest = divmod(length, MICROSECONDS[unit])
        if rest == 0 and count < 100:
            return f"INTERVAL '{count}' {unit.upper()}"
    seconds, millis = divmod(length // MICROSECONDS["millisecond"], 1000)
    fraction = f".{millis:03d}" if millis else ""
    if seconds < 100:
        return f"INTERVAL '{seconds}{fraction}' SECOND"
    days, rest = divmod(seconds, 86_400)
    if days > 99:
        raise QueryError("Flink's intervals have at most 99 days")
    clock = f"{rest // 3600:02d}:{rest % 3600 // 60:02d}:{rest % 60:02d}{fraction}"
    return f"INTERVAL '{days} {clock}' DAY TO SECOND"


FLINK = Dialect(
    name="flink",
    title=TITLE,
    read=read,
    frame=frame,
    words=WORDS,
    refused={
        "CUMULATE": "growing windows are not supported: write one TUMBLE for each step",
        "REGEXP_EXTRACT": "it is null where nothing matches: compute it in the stream first",
        "SPLIT_INDEX": "Spark has it not: compute it in the stream first",
        **{
            f"{kind}_PROCTIME": "processing time cannot be shared: use a column of event time"
            for kind in ("TUMBLE", "HOP")
        },
    },
    in_spark=in_spark,
    to_share=partial(in_spark, apart=True),
    names_outputs=False,
)
