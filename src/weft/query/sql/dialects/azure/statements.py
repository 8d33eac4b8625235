"""Translates whole statements of Azure Stream Analytics: steps, joins, unions, snapshots.

    WITH Late AS (SELECT * FROM flights TIMESTAMP BY dep WHERE delay > 15)
    SELECT carrier, System.Timestamp() AS t, COUNT(*) AS n INTO Out FROM Late
    GROUP BY carrier, TumblingWindow(day, 1)

The time of a step is that of the table it reads or, if it groups by a window, the column in which
it selects `System.Timestamp()`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from weft.errors import QueryError
from weft.query.duration import format_duration
from weft.query.names import quoted_name
from weft.query.sql.dialects.azure.calls import calls_of_values, differences
from weft.query.sql.dialects.azure.rows import (
    AT,
    Derived,
    OneTable,
    at_every_change,
    row_calls,
    sliding,
)
from weft.query.sql.dialects.azure.sessions import item_without_partition
from weft.query.sql.dialects.azure.windows import HOPPING, SESSIONS, TUMBLING, window_of
from weft.query.sql.dialects.azure.words import UNSUPPORTED, WORDS
from weft.query.sql.dialects.in_spark import calls_in_spark, renamed_words
from weft.query.sql.select.nodes import unquoted
from weft.query.sql.select.select import STREAM_TIME, Select
from weft.query.sql.tokens.blocks import Block, blocks
from weft.query.sql.tokens.over import aliased, level, split
from weft.query.syntax.lexer import Token, closed, place, tokenize
from weft.query.syntax.reader import read_expression
from weft.query.syntax.tree import Call, Name
from weft.query.window import Session

_PLAIN = re.compile(r"\w+|`[^`]+`")
OUTER_TIME = "weft_time_of_an_outer_join"
"""The time of an outer join of two inputs, which Spark cannot say: it may not be used."""
STEP_TIME = "weft_step_time"
"""The time column of a step's answers, if the step does not name one."""
_REFUSED = {
    "COLLECTTOP": "is read as CollectTop(n[, column]) OVER (ORDER BY columns)",
    "WINDOWS": "is read in a SELECT that is a statement of its own, without sliding windows",
    **UNSUPPORTED,
}
_END = "({}.end - INTERVAL '0.000001' SECOND)"
"""The time of a window's answer in Azure; for a session it is the session's end."""


def in_spark(sql: str) -> str:
    """Translate a whole statement into Spark SQL."""
    sql = _names_quoted(sql)
    sql = calls_in_spark(sql, "SNAPSHOTWINDOW", lambda given: "System.Timestamp()", at_least=0)
    sql = _applied(calls_of_values(sql))
    _refuse(sql)
    reading = _Reading()
    for number in range(len(blocks(tokenize(sql)))):
        # Inner blocks come first, and rewriting one moves the tokens after it.
        sql = _with_moments(sql, number, reading)
        sql = _with_row_calls(sql, number, reading)
        tokens = tokenize(sql)
        sql = _block_in_spark(sql, tokens, blocks(tokens)[number], reading)
    while reading.derived.texts.keys() & {token.word for token in tokenize(sql)}:
        sql = renamed_words(sql, reading.derived.texts)
    sql = differences(sql)
    tokens = tokenize(sql)
    for token, after in reversed(list(zip(tokens, [*tokens[1:], None], strict=True))):
        if token.word == "UNION" and after is not None and after.word != "ALL":
            sql = f"{sql[: token.end]} ALL{sql[token.end :]}"
    return WORDS.statement_in_spark(sql).replace("weft_percentile_", "percentile_")


@dataclass
class _Reading:
    """What is known about a statement while its SELECTs are translated one by one."""

    times: dict[str, str] = field(default_factory=dict)
    """The time columns of the steps so far and of derived subqueries, by name."""
    derived: Derived = field(default_factory=Derived)


def _names_quoted(sql: str) -> str:
    """`[device id]` as a quoted name; brackets in strings stay as they are."""
    tokens = tokenize(sql)
    for index in reversed(range(len(tokens))):
        if tokens[index].text != "[":
            continue
        end = next((i for i in range(index, len(tokens)) if tokens[i].text == "]"), None)
        if end is not None and end > index + 1:
            name = sql[tokens[index].end : tokens[end].start].strip()
            sql = f"{sql[: tokens[index].start]}{quoted_name(name)}{sql[tokens[end].end :]}"
    return sql


def _applied(sql: str) -> str:
    """`CROSS APPLY GetArrayElements(x) AS e` as a LATERAL VIEW."""
    tokens = tokenize(sql)
    for index in reversed(range(len(tokens) - 3)):
        words = [token.word for token in tokens[index : index + 4]]
        if words[:1] not in (["CROSS"], ["OUTER"]) or words[1:] != [
            "APPLY",
            "GETARRAYELEMENTS",
            "(",
        ]:
            continue
        end = closed(tokens, index + 3)
        alias = end + 1 + (end + 1 < len(tokens) and tokens[end + 1].word == "AS")
        if alias >= len(tokens) or tokens[alias].kind not in ("name", "quoted"):
            reason = "GetArrayElements(...) needs a name: ... AS element"
            raise QueryError(place(sql, tokens[index].start, reason))
        outer = "OUTER " if words[0] == "OUTER" else ""
        given = sql[tokens[index + 3].end : tokens[end].start]
        columns = f"{tokens[alias].text} AS ArrayIndex, ArrayValue"
        view = f"LATERAL VIEW {outer}posexplode({given}) {columns}"
        sql = f"{sql[: tokens[index].start]}{view}{sql[tokens[alias].end :]}"
    return sql


def _with_moments(sql: str, number: int, reading: _Reading) -> str:
    """A statement in which DATEDIFF in one SELECT has time columns instead of tables."""
    tokens = tokenize(sql)
    block = blocks(tokens)[number]
    if "FROM" not in block.clauses:
        return sql
    begin, end = block.clauses["FROM"]
    moments = dict(_moments(tokens[begin + 1 : end], reading.times))
    for index in reversed(range(block.begin, block.end - 1)):
        if tokens[index].word == "DATEDIFF" and tokens[index + 1].text == "(":
            for given in reversed(split(tokens[index + 2 : closed(tokens, index + 1)])[1:]):
                moment = moments.get(_folded(given[0])) if len(given) == 1 else None
                if moment is not None:
                    sql = f"{sql[: given[0].start]}{moment}{sql[given[0].end :]}"
    return sql


def _moments(tokens: Sequence[Token], times: dict[str, str]) -> Iterator[tuple[str, str]]:
    """The names of the tables in FROM, each with its time column."""
    starts = [0, *(i + 1 for i in level(tokens) if tokens[i].word in ("JOIN", ","))]
    for begin, until in zip(starts, [*starts[1:], len(tokens) + 1], strict=True):
        table = tokens[begin : until - 1]
        end = next((i for i, t in enumerate(table) if t.word in _AFTER_TABLE), len(table))
        names = [token for token in table[:end] if token.word != "AS"]
        if not names:
            continue
        time = times.get(_folded(names[0]))
        if [token.word for token in table[end : end + 2]] == ["TIMESTAMP", "BY"]:
            time = table[_name_end(table, end + 2) - 1].text
        if time is not None:
            yield _folded(names[-1]), f"{names[-1].text}.{time}"


def _folded(token: Token) -> str:
    return unquoted(token.text).casefold()


_AFTER_TABLE = frozenset(
    ("TIMESTAMP", "PARTITION", "ON", "INNER", "LEFT", "CROSS", "OUTER", "LATERAL", "JOIN")
)


def _with_row_calls(sql: str, number: int, reading: _Reading) -> str:
    """A statement in which one SELECT's calls that read other rows are columns of its FROM."""
    tokens = tokenize(sql)
    block = blocks(tokens)[number]
    if "FROM" not in block.clauses:
        return sql
    found = list(row_calls(sql, tokens, block))
    if not found:
        return sql
    source, time = _source(sql, tokens, block, reading)
    table = OneTable.read(source, tokenize(source), sql, found[0].name)
    names = [f"weft_row_{at}" for at in range(len(found))]
    listed = ", ".join(
        f"{_text(tokenize(call.in_spark(time)), time)} AS {name}"
        for call, name in zip(found, names, strict=True)
    )
    rows = f"(SELECT *, {listed} FROM {table.text}) AS {table.alias}"
    name = reading.derived.add(rows)
    reading.times[name] = time
    begin, end = block.clauses["FROM"]
    changes = [(call.begin, call.end, name) for call, name in zip(found, names, strict=True)]
    changes.append((tokens[begin + 1].start, tokens[end - 1].end, name))
    select = block.clauses["SELECT"]
    for item in split(tokens[select[0] + 1 : select[1]]):
        if item and item[-1].text == "*" and [token.text for token in item[1:-1]] in ([], ["."]):
            changes.append((item[-1].start, item[-1].end, f"* EXCEPT ({', '.join(names)})"))
    for first, last, text in sorted(changes, reverse=True):
        sql = f"{sql[:first]}{text}{sql[last:]}"
    return sql


def _refuse(sql: str) -> None:
    tokens = tokenize(sql)
    for index, token in enumerate(tokens):
        after = tokens[index + 1].word if index + 1 < len(tokens) else ""
        called = after == "(" or token.word == "APPLY"
        if token.kind == "name" and token.word in _REFUSED and called:
            raise QueryError(place(sql, token.start, f"{token.text} {_REFUSED[token.word]}"))


def _block_in_spark(sql: str, tokens: Sequence[Token], block: Block, reading: _Reading) -> str:
    """Translate one SELECT into Spark SQL."""
    if "FROM" not in block.clauses:
        return sql
    source, time = _source(sql, tokens, block, reading)
    begin, end = block.clauses["SELECT"]
    group = block.clauses.get("GROUP")
    keys = [] if group is None else split(tokens[group[0] + 2 : group[1]])
    tables = tokens[slice(*block.clauses["FROM"])]
    keys = [item_without_partition(sql, key, keys, tables) for key in keys]
    calls = {at: _window_call(sql, key, time) for at, key in enumerate(keys)}
    window = next((call for call in calls.values() if call is not None), None)
    now = time if window is None else _end(window.partition("(")[0])
    where = _text(tokens[slice(*block.clauses.get("WHERE", (0, 0)))], time)
    length = next((found for key in keys if (found := sliding(sql, key)) is not None), None)
    if length is not None:
        if window is not None:
            reason = "SlidingWindow beside another window"
            raise QueryError(place(sql, tokens[block.begin].start, reason))
        table = OneTable.read(source, tokenize(source), sql, "SlidingWindow")
        by = [_text(key, time) for key in keys if sliding(sql, key) is None]
        rows = at_every_change(table, where, by, time, length)
        source, where, window, now = reading.derived.add(rows), "", AT, AT
        calls = {
            at: AT if sliding(sql, key) else call
            for (at, call), key in zip(calls.items(), keys, strict=True)
        }
    items = [_item(item, now) for item in split(_without_into(tokens[begin + 1 : end]))]
    new = window is not None or _is_joined(time)
    if new and _defines(tokens, block) and not _shows_time(tokens, block):
        items.append(f"{now} AS {STEP_TIME}")
    pieces = [sql[: tokens[block.begin].start], f"SELECT {', '.join(items)} FROM {source} "]
    after = block.clauses["FROM"][1]
    if group is None:
        pieces.append(_text(tokens[after : block.end], now))
    else:
        pieces.append(where)
        listed = [calls[at] or _text(key, time) for at, key in enumerate(keys)]
        pieces.append(f" GROUP BY {', '.join(dict.fromkeys(listed))} ")
        pieces.append(_text(tokens[group[1] : block.end], now))
    if OUTER_TIME in "".join(pieces[1:]):
        reason = "the time of an outer join of two inputs is not supported: use the time of one"
        raise QueryError(place(sql, tokens[block.begin].start, reason))
    if length is not None and re.search(r"struct\s*\(\s*\*", pieces[1]):
        reason = "whole rows in a SlidingWindow are not supported: name a column"
        raise QueryError(place(sql, tokens[block.begin].start, reason))
    _remember(tokens, block, window, time, reading.times)
    return f"{''.join(pieces)}{sql[tokens[block.end - 1].end :]}"


def _source(sql: str, tokens: Sequence[Token], block: Block, reading: _Reading) -> tuple[str, str]:
    """The text after FROM without TIMESTAMP BY and PARTITION BY, and the time column."""
    begin, end = block.clauses["FROM"]
    inside = list(tokens[begin + 1 : end])
    kept: list[Token] = []
    times: list[str] = []
    qualified: list[str] = []
    index = 0
    while index < len(inside):
        words = [token.word for token in inside[index : index + 2]]
        if words == ["TIMESTAMP", "BY"]:
            until = _name_end(inside, index + 2)
            said = unquoted(inside[until - 1].text)
            if until < len(inside) and inside[until].text == "(":
                until = closed(inside, until) + 1
                said = _text(inside[index + 2 : until], "")
            if until < len(inside) and inside[until].word == "OVER":
                reason = "a timeline for each key is not supported: leave OVER out"
                raise QueryError(place(sql, inside[until].start, reason))
            times.append(said)
            column = f"{kept[-1].text}.{said}" if kept and _PLAIN.fullmatch(said) else said
            qualified.append(column)
            index = until
        elif words == ["PARTITION", "BY"]:
            index = _name_end(inside, index + 2)
        else:
            kept.append(inside[index])
            index += 1
    first = unquoted(kept[0].text).casefold() if kept else ""
    if len(times) > 1:
        # The event that a join makes is known when the later of the two rows is.
        outer = any(token.word in ("LEFT", "RIGHT", "FULL") for token in kept)
        return _text(kept, ""), OUTER_TIME if outer else f"greatest({', '.join(qualified)})"
    time = times[0] if times else None
    return _text(kept, ""), time or reading.times.get(first) or STREAM_TIME


def _remember(
    tokens: Sequence[Token], block: Block, window: str | None, time: str, times: dict[str, str]
) -> None:
    """Record the time column of a step that WITH defines."""
    if not _defines(tokens, block):
        return
    name = unquoted(tokens[block.begin - 3].text).casefold()
    begin, end = block.clauses["SELECT"]
    for item in split(tokens[begin + 1 : end]):
        expression, alias = aliased(item)
        text = "".join(token.word for token in expression)
        if alias is not None and (
            text.startswith("SYSTEM.TIMESTAMP") or text.strip("`") == time.upper()
        ):
            times[name] = quoted_name(alias)
    new = window is not None or _is_joined(time)
    times.setdefault(name, STEP_TIME if new else time)


def _is_joined(time: str) -> bool:
    """Whether a time is that of a join of two inputs, so that no column has it."""
    return time.startswith("greatest(")


def _defines(tokens: Sequence[Token], block: Block) -> bool:
    """Whether a SELECT is a step of WITH."""
    before = [token.word for token in tokens[max(block.begin - 2, 0) : block.begin]]
    return before == ["AS", "("] and block.begin >= 3


def _shows_time(tokens: Sequence[Token], block: Block) -> bool:
    begin, end = block.clauses["SELECT"]
    return any(token.word == "SYSTEM" for token in tokens[begin:end])


def _window_call(sql: str, key: Sequence[Token], time: str) -> str | None:
    """A window in GROUP BY as a call of a Spark function; None if the key is no window."""
    name = key[0].word.lower() if key else ""
    if len(key) < 3 or key[1].text != "(" or name not in (*TUMBLING, *HOPPING, *SESSIONS):
        return None
    text = sql[key[0].start : key[-1].end]
    node = read_expression(text)
    select = Select(text, "", 0, (), Name(("t",)), None, (), None)
    assert isinstance(node, Call)
    window = window_of(select, node)
    if not isinstance(window, Session):
        lengths = (window.range, window.slide, window.phase)
        listed = ", ".join(f"'{format_duration(length)}'" for length in lengths)
        return f"window({time}, {listed})"
    if window.maximum is not None:
        raise QueryError(
            place(
                text,
                0,
                "a session with a maximum is served in one SELECT of aggregates over a stream; "
                "there is more in this statement (steps, joins, DATEDIFF and the like), so that it "
                "is put into Spark SQL, which has no such window: make the SELECT with the session "
                "a statement of its own, or leave the maximum out",
            )
        )
    return f"session_window({time}, '{format_duration(window.gap)}')"


def _end(window: str) -> str:
    return f"{window}.end" if window == "session_window" else _END.format(window)


def _item(tokens: Sequence[Token], now: str) -> str:
    """A SELECT item; `Name = expression` is Azure's other syntax for an alias."""
    if len(tokens) > 2 and tokens[1].text == "=" and tokens[0].kind in ("name", "quoted"):
        return f"{_text(tokens[2:], now)} AS {tokens[0].text}"
    return _text(tokens, now)


def _text(tokens: Sequence[Token], now: str) -> str:
    """Tokens as text, with the time of an answer instead of System.Timestamp()."""
    found: list[str] = []
    index = 0
    while index < len(tokens):
        words = [token.word for token in tokens[index : index + 3]]
        if words == ["SYSTEM", ".", "TIMESTAMP"]:
            found.append(now)
            index += 3
            if [token.text for token in tokens[index : index + 2]] == ["(", ")"]:
                index += 2
            continue
        found.append(tokens[index].text)
        index += 1
    return " ".join(found)


def _without_into(tokens: Sequence[Token]) -> Sequence[Token]:
    for index in level(tokens):
        if tokens[index].word == "INTO" and index and index + 1 < len(tokens):
            return tokens[:index]
    return tokens


def _name_end(tokens: Sequence[Token], position: int) -> int:
    end = position + 1
    while end + 1 < len(tokens) and tokens[end].text == ".":
        end += 2
    return min(end, len(tokens))
