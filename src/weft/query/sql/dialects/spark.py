"""Spark SQL.

    -- name: hourly_hi
    SELECT window, symbol, max(price) AS hi
    FROM trades
    WHERE volume > 50
    GROUP BY window(ts, '1 hour', '10 minutes'), symbol
    HAVING count(*) > 10;

A batch returns the SELECT list in its order. Answers in Python and on streams carry the window and
every key, whether or not they are in the SELECT list.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from weft.errors import QueryError
from weft.query.calls import is_aggregate
from weft.query.duration import format_duration
from weft.query.expression import check_scalar
from weft.query.names import quoted_name
from weft.query.normal import normal
from weft.query.source import NO_NULLS
from weft.query.sql.dialects.dialect import Dialect, ParsedSelect, StatementFrame
from weft.query.sql.dialects.vocabulary import Vocabulary
from weft.query.sql.select.lateral import lateral_aliases
from weft.query.sql.select.lengths import constant, read_length
from weft.query.sql.select.nodes import default_name, is_call, split_alias, unquoted
from weft.query.sql.select.select import Select
from weft.query.sql.select.truncation import Truncation, truncation
from weft.query.syntax.lexer import Token
from weft.query.syntax.tree import Call, Literal, Name, Node, Op, rebuild
from weft.query.syntax.writer import write
from weft.query.window import Session, Window

_FORM = "window(time, range[, slide[, offset]]) or session_window(time, gap)"
_WINDOWS = ("window", "session_window")
TITLE = "Spark SQL"
SHAPE = f"SELECT ... FROM table [WHERE ...] GROUP BY {_FORM}[, keys]"


def read(sql: str, tokens: tuple[Token, ...]) -> ParsedSelect:
    """Parse a statement in Spark SQL."""
    select = lateral_aliases(Select.read(sql, tokens, SHAPE, TITLE).spelled_out())
    keys = (_whole(key) for key in select.group if not isinstance(key, Literal))
    select = replace(select, group=tuple(dict.fromkeys(keys)))  # a constant makes no groups
    if not any(is_call(key, *_WINDOWS) for key in select.group):
        cut = truncation(select.group)
        if cut is not None:
            return _truncated(select, cut)
    call, select = select.one_window(lambda item: is_call(item, *_WINDOWS), _FORM)
    assert isinstance(call, Call)
    window = _window(select, call)
    check_scalar(sql, call.args[0])
    asked = normal(call)
    aliases = select.names_of(asked)
    column = unquoted(call.name).lower()

    def shows_window(node: Node) -> bool:
        if isinstance(node, Name):
            return unquoted(node.parts[0]).lower() in (column, *aliases)
        if is_call(node, *_WINDOWS) and normal(node) != asked:
            raise select.fail(node, f"this is not the window of GROUP BY, {write(call)}")
        return is_call(node, column)

    return ParsedSelect(
        replace(select, absent=(*select.absent, *select.uses(aliases))),
        ((None, window),),
        write(call.args[0]),
        shows_window,
        window_as=_of_answers,
    )


def _window(select: Select, call: Call) -> Window:
    """The window of a call in GROUP BY."""
    if is_call(call, "session_window"):
        if len(call.args) != 2:
            raise select.fail(call, "session_window takes (time, gap)")
        if constant(call.args[1]) is None:
            raise select.fail(
                call.args[1],
                "a gap that depends on rows is not shared: write a constant such as '5 minutes'",
            )
        return Session(gap=timedelta(microseconds=_length(select, "gap", call.args[1])))
    if not 2 <= len(call.args) <= 4:
        raise select.fail(call, "window takes (time, range[, slide[, offset]])")
    fields = ("range", "slide", "offset")
    given = {
        field: _length(select, field, arg)
        for field, arg in zip(fields, call.args[1:], strict=False)
    }
    slide = given.get("slide", given["range"])
    return Window.of_units(given["range"], slide, given.get("offset", 0), "time")


def _truncated(select: Select, cut: Truncation) -> ParsedSelect:
    """A statement that groups by a truncated time: within its windows, `min` of it is that time."""
    keys = [normal(key) for key in cut.keys]

    def changed(node: Node) -> Node:
        if is_aggregate(node):
            return node
        if isinstance(node, Op) and node.op == "AS":
            return Op("AS", (changed(node.args[0]), node.args[1]), at=node.at)
        return Call("min", (node,), at=node.at) if normal(node) in keys else rebuild(node, changed)

    rest = tuple(key for key in select.group if normal(key) not in keys)
    made = replace(
        select,
        items=tuple(_called(item, changed(item)) for item in select.items),
        having=None if select.having is None else changed(select.having),
        group=rest,
        needs=(NO_NULLS, *cut.needs),
    )
    return ParsedSelect(
        made, ((None, cut.window),), cut.time, lambda node: False, window_as=_of_answers
    )


def _called(item: Node, changed: Node) -> Node:
    """An item with `min` of a truncated time, under the name that Spark gives it without `min`."""
    if changed == item or split_alias(item)[1] is not None:
        return changed
    return Op("AS", (changed, Name((quoted_name(default_name(item)),), at=item.at)), at=item.at)


def _whole(key: Node) -> Node:
    """`window(...).start` as the window itself, which its start identifies."""
    if isinstance(key, Op) and key.op == "." and is_call(key.args[0], *_WINDOWS):
        return key.args[0]
    return key


def _of_answers(node: Node, *_: object) -> Node:
    """The window as a column of answers, whether it is named or called."""
    parts = node.parts[1:] if isinstance(node, Name) else ()
    return Name(("window", *parts), at=node.at)


def _length(select: Select, field: str, node: Node) -> int:
    value = constant(node)  # an integer is microseconds, as in Spark
    if value is None:
        raise select.fail(node, f"{field} must be a constant such as '10 minutes'")
    return read_length(select.sql, node.at, field, value)


def frame(window: Window, table: str, time: str) -> StatementFrame:
    """`GROUP BY window(time, range[, slide[, offset]])`, or `session_window(time, gap)`."""
    if isinstance(window, Session):
        made = f"session_window({time}, '{format_duration(window.gap)}')"
        return StatementFrame(table, ("session_window",), (made,), ("session_window",))
    if window.axis != "time":
        raise QueryError("Spark's window() is over time, and this window is on an integer axis")
    if window.slide > window.range:
        raise QueryError(
            f"Spark's window() takes no slide longer than the range, and {window!r} leaves gaps"
        )
    lengths = [window.range]
    if window.phase or window.slide != window.range:
        lengths.append(window.slide)
    if window.phase:
        lengths.append(window.phase)
    listed = ", ".join(f"'{format_duration(length)}'" for length in lengths)
    return StatementFrame(table, ("window",), (f"window({time}, {listed})",), ("window",))


SPARK = Dialect(
    name="spark",
    title=TITLE,
    read=read,
    frame=frame,
    words=Vocabulary("Spark SQL"),
)
