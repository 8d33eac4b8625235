"""Translates whole statements of other dialects into Spark SQL: windows, and calls that differ.

A statement that is a single shared query is parsed by its dialect (`flink`, `azure`, ...). Others
are translated into Spark SQL, clause by clause, and parsed as that:

    FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end
    FROM t GROUP BY window(ts, '1 hour')

    FROM HOP(t, ts, INTERVAL '5 MINUTES', INTERVAL '1 HOUR')     where nothing is grouped by it
    FROM (SELECT * EXCEPT (weft_w), weft_w.start AS window_start, ... FROM (SELECT *, window(...)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from weft.errors import QueryError
from weft.query.names import quoted_name
from weft.query.sql.dialects.standard import limited, without_versions
from weft.query.sql.dialects.table_window import TableWindow
from weft.query.sql.select.lengths import constant, read_length
from weft.query.sql.select.nodes import unquoted
from weft.query.sql.tokens.blocks import Block, blocks
from weft.query.sql.tokens.edits import Rewriting
from weft.query.sql.tokens.over import aliased, level, split
from weft.query.syntax.lexer import Token, closed, place, tokenize
from weft.query.syntax.tree import Literal

_ROUNDS = 50
"""The most windows that one statement may have."""
MOST_STEPS = 100
"""The most windows that a shared CUMULATE may consist of."""
FUNCTIONS = ("TUMBLE", "HOP", "CUMULATE", "SESSION")
_PARAMETERS = {
    "TUMBLE": ("DATA", "TIMECOL", "SIZE", "OFFSET"),
    "HOP": ("DATA", "TIMECOL", "SLIDE", "SIZE", "OFFSET"),
    "CUMULATE": ("DATA", "TIMECOL", "STEP", "SIZE", "OFFSET"),
    "SESSION": ("DATA", "TIMECOL", "GAP"),
}
_SHORT_UNITS = {
    "d": "days",
    **dict.fromkeys(("h", "hr", "hrs"), "hours"),
    **dict.fromkeys(("m", "min", "mins"), "minutes"),
    **dict.fromkeys(("s", "sec", "secs"), "seconds"),
    **dict.fromkeys(("ms", "msec", "msecs"), "milliseconds"),
}
"""Abbreviated units in RisingWave's intervals, which follow PostgreSQL."""
_SHORT_UNIT = re.compile(rf"(?<=\d)\s*({'|'.join(_SHORT_UNITS)})\b", re.IGNORECASE)
_BOUNDS = ("window_start", "window_end", "window_time")
_JOINS = frozenset(
    (
        *("JOIN", "INNER", "LEFT", "RIGHT", "FULL", "CROSS", "NATURAL", "SEMI", "ANTI", "LATERAL"),
        *("PIVOT", "UNPIVOT", "TABLESAMPLE", "MATCH_RECOGNIZE", "FOR"),
    )
)
"""What may follow a table that has no alias."""


def table_windows_in_spark(sql: str, *, apart: bool = False) -> str:
    """Replace the table functions in a statement by Spark's windows, the innermost first.

    With `apart`, growing windows (CUMULATE) become a union of one window for each size. These can
    be shared, but Spark does not support them because their slide is longer than their range.
    """
    sql = limited(without_versions(sql))
    for _ in range(_ROUNDS):
        tokens = tokenize(sql)
        for block in blocks(tokens):
            if "FROM" not in block.clauses:
                continue
            begin, end = block.clauses["FROM"]
            for index in level(tokens[begin:end]):
                found = _table_window(sql, tokens, begin + index)
                if found is not None:
                    sql = _without(sql, tokens, block, found, apart)
                    break
            else:
                continue
            break
        else:
            return sql
    raise QueryError("the statement has too many windows")


def _table_window(
    sql: str, tokens: Sequence[Token], at: int
) -> tuple[TableWindow, int, int] | None:
    """The window whose table function is at an index, and where it begins and ends; or None."""
    wrapped = tokens[at].word == "TABLE" and at + 1 < len(tokens) and tokens[at + 1].text == "("
    name = at + 2 if wrapped else at
    if name + 1 >= len(tokens) or tokens[name].word not in FUNCTIONS:
        return None
    if tokens[name + 1].text != "(" or (at and tokens[at - 1].text == "."):
        return None
    kind, closing = tokens[name].word, closed(tokens, name + 1)
    arguments = split(tokens[name + 2 : closing])
    parameters = _PARAMETERS[kind]
    given: dict[str, Sequence[Token]] = {}
    for position, argument in enumerate(arguments):
        if len(argument) > 2 and argument[1].text == "=>":
            given[unquoted(argument[0].text).upper()] = argument[2:]
        elif position < len(parameters):
            given[parameters[position]] = argument
    if not {"DATA", "TIMECOL", *parameters[2:-1], parameters[2]} <= set(given):
        raise QueryError(place(sql, tokens[name].start, f"{kind} lacks arguments"))
    window = TableWindow(
        kind,
        _rows(sql, given["DATA"]),
        _described(sql, given["TIMECOL"]),
        {
            name: _length(sql, name, tokens)
            for name, tokens in given.items()
            if name not in ("DATA", "TIMECOL")
        },
        _parted(given["DATA"]),
    )
    return window, at, closing + 1 + wrapped


def _rows(sql: str, tokens: Sequence[Token]) -> str:
    """The rows under a window (`TABLE t`, `t` or a subquery), without their PARTITION BY."""
    if tokens and tokens[0].word == "TABLE":
        tokens = tokens[1:]
    end = next((i for i in level(tokens) if tokens[i].word == "PARTITION"), len(tokens))
    if end == 0:
        raise QueryError("a window needs a table")
    return sql[tokens[0].start : tokens[end - 1].end]


def _parted(tokens: Sequence[Token]) -> tuple[str, ...]:
    """The keys of `TABLE t PARTITION BY a` or `PARTITION BY (a, b)`."""
    at = next((i for i in level(tokens) if tokens[i].word == "PARTITION"), len(tokens))
    keys = tokens[at + 2 :]
    if keys and keys[0].text == "(" and closed(keys, 0) == len(keys) - 1:
        keys = keys[1:-1]
    return tuple(sorted("".join(map(_word, key)) for key in split(keys) if key))


def _described(sql: str, tokens: Sequence[Token]) -> str:
    if tokens[0].word == "DESCRIPTOR" and len(tokens) > 3:
        tokens = tokens[2:-1]
    return sql[tokens[0].start : tokens[-1].end]


def _length(sql: str, field: str, tokens: Sequence[Token]) -> int:
    value = constant(Literal("typed", tokens[0].text)) if len(tokens) == 1 else None
    if value is None:
        reason = f"{field} must be a constant such as INTERVAL '10' MINUTES"
        raise QueryError(place(sql, tokens[0].start, reason))
    if isinstance(value, str):
        value = with_whole_units(value)
    name = "offset" if field == "OFFSET" else field.lower()
    return read_length(sql, tokens[0].start, name, value)


def with_whole_units(text: str) -> str:
    """An interval with its units spelled out.

    >>> with_whole_units("INTERVAL '15 min'"), with_whole_units("1h")
    ("INTERVAL '15 minutes'", '1 hours')
    """
    return _SHORT_UNIT.sub(lambda found: f" {_SHORT_UNITS[found[1].lower()]}", text)


def _without(
    sql: str,
    tokens: Sequence[Token],
    block: Block,
    found: tuple[TableWindow, int, int],
    apart: bool,
) -> str:
    """The statement with one table function replaced by Spark's window."""
    window, at, until = found
    begin, end = block.clauses["FROM"]
    rest = tokens[until:end]
    name, joined = _alias(rest)
    apt = at == begin + 1 and not _chooses(tokens, block)
    if joined:
        name = name or _own_name(window.rows)
        apt = apt and name is not None and _keeps_windows(tokens, block, window, joined, name)
    grouped = _grouped(tokens, block) if apt else None
    if joined and grouped is not None:
        window = replace(window, time=f"{quoted_name(name or '')}.{window.time}")
    grows = window.kind == "CUMULATE"
    if grouped is None or (grows and not (apart and len(window.steps) <= MOST_STEPS)):
        if window.kind == "SESSION":
            raise QueryError(place(sql, tokens[at].start, "SESSION is supported in GROUP BY only"))
        return f"{sql[: tokens[at].start]}{window.subquery}{sql[tokens[until - 1].end :]}"
    keys = tuple(sorted("".join(map(_word, key)) for key in grouped))
    if window.kind == "SESSION" and window.parted != keys:
        reason = "SESSION: its PARTITION BY and the keys of GROUP BY must be the same"
        raise QueryError(place(sql, tokens[at].start, reason))
    before, after = sql[: tokens[block.begin].start], sql[tokens[block.core_end - 1].end :]
    if not grows:
        made = _select(sql, tokens, block, window, grouped, rest, name)
        finish = _named(tokens[block.core_end : block.end], window, name)
        return f"{before}{made} {finish}{sql[tokens[block.end - 1].end :]}"
    listed = [_select(sql, tokens, block, one, grouped, rest, name) for one in window.steps]
    return f"{before}SELECT * FROM ({' UNION ALL '.join(listed)}) {after}"


def _alias(rest: Sequence[Token]) -> tuple[str | None, Sequence[Token]]:
    """The alias of a window's rows, in lower case, and what FROM joins to them."""
    at = 1 if rest and rest[0].word == "AS" else 0
    if at < len(rest) and rest[at].kind in ("name", "quoted") and rest[at].word not in _JOINS:
        return _word(rest[at]), rest[at + 1 :]
    return None, rest


def _own_name(rows: str) -> str | None:
    """The name under which FROM has a table without an alias; None for a subquery."""
    tokens = tokenize(rows)
    return None if tokens[-1].text == ")" else _word(tokens[-1])


def _keeps_windows(
    tokens: Sequence[Token], block: Block, window: TableWindow, joined: Sequence[Token], name: str
) -> bool:
    """Whether rows may be joined first and then put into windows.

    A join may repeat or drop rows of the left side, which changes sessions, but no other window.
    """
    words = {token.word for token in joined}
    if window.kind not in ("TUMBLE", "HOP") or words & {"RIGHT", "FULL", "NATURAL", *FUNCTIONS}:
        return False
    if len(tokenize(window.time)) != 1 or any(_word(token) in _BOUNDS for token in joined):
        return False
    return all(
        _word(tokens[index - 2]) == name
        for index in range(block.begin + 2, block.end)
        if _word(tokens[index]) in _BOUNDS and tokens[index - 1].text == "."
    )


def _select(
    sql: str,
    tokens: Sequence[Token],
    block: Block,
    window: TableWindow,
    grouped: Sequence[Sequence[Token]],
    rest: Sequence[Token],
    name: str | None,
) -> str:
    """A SELECT grouped by a Spark window; `rest` follows the table in FROM, `name` is its alias."""
    pieces = ["SELECT "]
    select = block.clauses["SELECT"]
    items = tokens[select[0] + 1 : select[1]]
    if items and items[0].word == "DISTINCT":
        pieces.append("DISTINCT ")
        items = items[1:]
    pieces.append(", ".join(_item(item, window, name) for item in split(items)))
    pieces.append(f" FROM {window.rows} {sql[rest[0].start : rest[-1].end] if rest else ''}")
    position = block.clauses["FROM"][1]
    group = block.clauses["GROUP"]
    pieces.append(f" {_named(tokens[position : group[0]], window, name)}")
    listed = ", ".join([window.call, *(_named(key, window, name) for key in grouped)])
    pieces.append(f" GROUP BY {listed} ")
    pieces.append(_named(tokens[group[1] : block.core_end], window, name))
    return "".join(pieces)


def _grouped(tokens: Sequence[Token], block: Block) -> list[Sequence[Token]] | None:
    """The keys besides the window's columns; None unless those are keys, each on its own."""
    if "GROUP" not in block.clauses:
        return None
    begin, end = block.clauses["GROUP"]
    keys = [_at_position(tokens, block, key) for key in split(tokens[begin + 2 : end])]
    bounds = [key for key in keys if _bound(key) is not None]
    rest = [key for key in keys if _bound(key) is None]
    inside = any(_word(token) in _BOUNDS for key in rest for token in key)
    return None if not bounds or inside else rest


def _at_position(tokens: Sequence[Token], block: Block, key: Sequence[Token]) -> Sequence[Token]:
    """A key; if it is the position of a SELECT item, that item."""
    if len(key) != 1 or not key[0].text.isdecimal():
        return key
    begin, end = block.clauses["SELECT"]
    items = split(tokens[begin + 1 : end])
    position = int(key[0].text)
    return aliased(items[position - 1])[0] if 1 <= position <= len(items) else key


def _chooses(tokens: Sequence[Token], block: Block) -> bool:
    """Whether WHERE uses the window's columns, which Spark does not have before GROUP BY."""
    begin, end = block.clauses.get("WHERE", (0, 0))
    return any(_word(token) in _BOUNDS for token in tokens[begin:end])


def _bound(tokens: Sequence[Token]) -> str | None:
    """The window's column that an expression is, or None."""
    last = _word(tokens[-1]) if tokens else ""
    plain = len(tokens) == 1 or (len(tokens) == 3 and tokens[1].text == ".")
    return last if plain and last in _BOUNDS else None


def _item(tokens: Sequence[Token], window: TableWindow, alias: str | None) -> str:
    bound = _bound(tokens)
    if bound is not None:
        return f"{window.bound(bound)} AS {bound}"
    expression, name = aliased(tokens)
    text = _named(expression, window, alias)
    return text if name is None else f"{text} AS {quoted_name(unquoted(tokens[-1].text))}"


def _named(tokens: Sequence[Token], window: TableWindow, alias: str | None) -> str:
    """Tokens as text, with the window's columns as in Spark."""
    found: list[str] = []
    for index, token in enumerate(tokens):
        after = tokens[index + 1].text if index + 1 < len(tokens) else ""
        before = tokens[index - 1].text if index else ""
        if _word(token) not in _BOUNDS or token.kind not in ("name", "quoted") or after == "(":
            found.append(token.text)
            continue
        if before == "." and len(found) > 1 and found[-2].strip("`").lower() == alias:
            del found[-2:]
        elif before == ".":
            found.append(token.text)
            continue
        found.append(window.bound(_word(token)))
    return " ".join(found)


def calls_in_spark(
    sql: str, name: str, written: Callable[[list[str]], str], *, at_least: int = 1
) -> str:
    """Rewrite all calls of one function in a statement, from the last to the first."""
    tokens = tokenize(sql)
    made = Rewriting(sql)
    for index in reversed(range(len(tokens) - 1)):
        if tokens[index].kind == "name" and tokens[index].word == name:
            before = tokens[index - 1].text if index else ""
            if tokens[index + 1].text != "(" or before == ".":
                continue
            closing = closed(tokens, index + 1)
            if closing >= len(tokens):
                reason = f"the parenthesis after {tokens[index].text} is not closed"
                raise QueryError(place(sql, tokens[index + 1].start, reason))
            inside = split(tokens[index + 2 : closing])
            arguments = [made.text(some[0].start, some[-1].end) for some in inside if some]
            if len(arguments) < at_least:
                continue
            made.replace(tokens[index].start, tokens[closing].end, written(arguments))
    return made.whole


def without(sql: str, *words: str, after: int = 0) -> str:
    """Remove a sequence of words, and `after` more tokens, wherever it occurs."""
    tokens = tokenize(sql)
    for index in reversed(range(len(tokens) - len(words) + 1)):
        some = tokens[index : index + len(words)]
        if [token.word for token in some] == list(words):
            last = tokens[min(index + len(words) + after, len(tokens)) - 1]
            sql = f"{sql[: some[0].start]}{sql[last.end :]}"
    return sql


def renamed_words(sql: str, words: dict[str, str]) -> str:
    """Replace names, given in upper case, where they are neither qualified nor called."""
    tokens = tokenize(sql)
    for index in reversed(range(len(tokens))):
        token = tokens[index]
        before = tokens[index - 1].text if index else ""
        after = tokens[index + 1].text if index + 1 < len(tokens) else ""
        if token.kind == "name" and token.word in words and before != "." and after != "(":
            sql = f"{sql[: token.start]}{words[token.word]}{sql[token.end :]}"
    return sql


def _word(token: Token) -> str:
    return unquoted(token.text).lower()
