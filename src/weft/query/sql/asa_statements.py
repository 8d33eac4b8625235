"""Whole statements of Azure Stream Analytics as Spark SQL: steps, joins, unions, snapshots.

    WITH Late AS (SELECT * FROM flights TIMESTAMP BY dep WHERE delay > 15)
    SELECT carrier, System.Timestamp() AS t, COUNT(*) AS n INTO Out FROM Late
    GROUP BY carrier, TumblingWindow(day, 1)

A step has the time of what it reads, or, where it groups by a window, the column in which it has
`System.Timestamp()`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from weft.errors import QueryError
from weft.query.duration import format_duration
from weft.query.names import quoted_name
from weft.query.sql.asa_sessions import item_without_partition
from weft.query.sql.asa_windows import HOPPING, SESSIONS, TUMBLING, window_of
from weft.query.sql.asa_words import WORDS
from weft.query.sql.blocks import Block, blocks
from weft.query.sql.in_spark import STREAM_TIME, calls_in_spark
from weft.query.sql.nodes import unquoted
from weft.query.sql.over import aliased, level, split
from weft.query.sql.select import Select
from weft.query.syntax.lexer import Token, place, tokenize
from weft.query.syntax.reader import read_expression
from weft.query.syntax.tree import Call, Name
from weft.query.window import Session

STEP_TIME = "weft_step_time"
"""The time of a step's answers, where the step has no name for it."""
_BRACKETS = re.compile(r"\[([^\[\]]+)\]")
_REFUSED = {
    "COLLECTTOP": "keeps several rows by an order: use max_by(x, y, n) in Spark SQL",
    **dict.fromkeys(("SLIDINGWINDOW", "SLIDING"), "ends at every event, and has no fixed slices"),
    **dict.fromkeys(("SNAPSHOTWINDOW", "SNAPSHOT"), "has no length: group by System.Timestamp()"),
    **dict.fromkeys(("LAST", "WINDOWS"), "is served in no larger statement"),
    "APPLY": "makes several rows of one: apply it to the stream first",
}
_END = "({}.end - INTERVAL '0.000001' SECOND)"
"""What Azure calls the time of a window's answer; a session's end is that time itself."""


def in_spark(sql: str) -> str:
    """A whole statement as Spark SQL."""
    sql = _BRACKETS.sub(lambda found: quoted_name(found[1].strip()), sql)
    sql = calls_in_spark(sql, "CONCAT", _concat)
    sql = calls_in_spark(sql, "DATEDIFF", _borders)
    sql = calls_in_spark(sql, "DATEPART", _part)
    sql = _OVER.sub(_over, sql)
    _refuse(sql)
    times: dict[str, str] = {}
    for number in range(len(blocks(tokenize(sql)))):
        tokens = tokenize(sql)
        # Blocks inside others come first, and what is done with one moves those after it.
        sql = _block_in_spark(sql, tokens, blocks(tokens)[number], times)
    tokens = tokenize(sql)
    for token, after in reversed(list(zip(tokens, [*tokens[1:], None], strict=True))):
        if token.word == "UNION" and after is not None and after.word != "ALL":
            sql = f"{sql[: token.end]} ALL{sql[token.end :]}"
    return WORDS.statement_in_spark(sql).replace("weft_percentile_", "percentile_")


_OVER = re.compile(
    r"\b(TopOne|PERCENTILE_CONT|PERCENTILE_DISC)\s*\(([^()]*)\)\s*OVER\s*\(\s*ORDER\s+BY\s+"
    r"([^()]*)\)",
    re.IGNORECASE,
)
_ORDER = re.compile(r"([\w.`]+)(?:\s+(ASC|DESC))?", re.IGNORECASE)
_SECONDS = {"second": 1, "ss": 1, "s": 1, "minute": 60, "mi": 60, "n": 60, "hour": 3600, "hh": 3600}
_PARTS = frozenset(("year", "month", "day", "hour", "minute", "second"))


def _concat(arguments: list[str]) -> str:
    """Nulls are empty strings."""
    return f"concat_ws('', {', '.join(f'CAST({one} AS NVARCHAR(MAX))' for one in arguments)})"


def _borders(arguments: list[str]) -> str:
    """How many borders of a unit lie between two times."""
    unit = arguments[0].strip().lower()
    if len(arguments) != 3 or unit not in _SECONDS:
        raise QueryError(f"DATEDIFF({', '.join(arguments)}): accepted units are seconds to hours")
    first, second = (f"unix_seconds({one}) DIV {_SECONDS[unit]}" for one in arguments[1:])
    return f"(({second}) - ({first}))"


def _part(arguments: list[str]) -> str:
    unit = arguments[0].strip().lower()
    if len(arguments) != 2 or unit not in _PARTS:
        raise QueryError(f"DATEPART({', '.join(arguments)}): weeks are counted otherwise in Spark")
    return f"extract({unit} FROM {arguments[1]})"


def _over(found: re.Match[str]) -> str:
    """An aggregate that Azure writes as a window function."""
    name, inside, order = found[1].lower(), found[2].strip(), found[3].strip()
    if name != "topone":
        return f"weft_{name}({inside}) WITHIN GROUP (ORDER BY {order})"
    keys = [_ORDER.fullmatch(one.strip()) for one in order.split(",")]
    ways = {(key[2] or "ASC").upper() for key in keys if key is not None}
    if None in keys or len(ways) != 1:
        raise QueryError(f"TopOne OVER (ORDER BY {order}): in one direction it is max_by or min_by")
    by = ", ".join(key[1] for key in keys if key is not None)
    by = f"struct({by})" if len(keys) > 1 else by
    return f"{'max_by' if ways == {'DESC'} else 'min_by'}({inside or 'struct(*)'}, {by})"


def _refuse(sql: str) -> None:
    tokens = tokenize(sql)
    for index, token in enumerate(tokens):
        after = tokens[index + 1].word if index + 1 < len(tokens) else ""
        called = after == "(" or token.word == "APPLY"
        if token.kind == "name" and token.word in _REFUSED and called:
            raise QueryError(place(sql, token.start, f"{token.text} {_REFUSED[token.word]}"))
        if (token.word, after) == ("LIMIT", "DURATION"):
            raise QueryError(place(sql, token.start, "LIMIT DURATION looks back for every row"))


def _block_in_spark(sql: str, tokens: Sequence[Token], block: Block, times: dict[str, str]) -> str:
    """One SELECT in Spark's words; `times` are the columns of time of the steps before it."""
    if "FROM" not in block.clauses:
        return sql
    source, time = _source(sql, tokens, block, times)
    begin, end = block.clauses["SELECT"]
    group = block.clauses.get("GROUP")
    keys = [] if group is None else split(tokens[group[0] + 2 : group[1]])
    tables = tokens[slice(*block.clauses["FROM"])]
    keys = [item_without_partition(sql, key, keys, tables) for key in keys]
    calls = {at: _window_call(sql, key, time) for at, key in enumerate(keys)}
    window = next((call for call in calls.values() if call is not None), None)
    now = time if window is None else _end(window.partition("(")[0])
    items = [_item(item, now) for item in split(_without_into(tokens[begin + 1 : end]))]
    if window is not None and _defines(tokens, block) and not _shows_time(tokens, block):
        items.append(f"{now} AS {STEP_TIME}")
    pieces = [sql[: tokens[block.begin].start], f"SELECT {', '.join(items)} FROM {source} "]
    after = block.clauses["FROM"][1]
    if group is None:
        pieces.append(_text(tokens[after : block.end], now))
    else:
        pieces.append(_text(tokens[after : group[0]], now))
        listed = [calls[at] or _text(key, time) for at, key in enumerate(keys)]
        pieces.append(f" GROUP BY {', '.join(dict.fromkeys(listed))} ")
        pieces.append(_text(tokens[group[1] : block.end], now))
    _remember(tokens, block, window, time, times)
    return f"{''.join(pieces)}{sql[tokens[block.end - 1].end :]}"


def _source(
    sql: str, tokens: Sequence[Token], block: Block, times: dict[str, str]
) -> tuple[str, str]:
    """What stands after FROM without TIMESTAMP BY and PARTITION BY, and the column of time."""
    begin, end = block.clauses["FROM"]
    inside, kept, time = list(tokens[begin + 1 : end]), [], None
    index = 0
    while index < len(inside):
        words = [token.word for token in inside[index : index + 2]]
        if words == ["TIMESTAMP", "BY"]:
            until = _name_end(inside, index + 2)
            if until < len(inside) and inside[until].word in ("OVER", "("):
                reason = "a timeline for each key, or a time that is no column: leave it out"
                raise QueryError(place(sql, inside[until].start, reason))
            time = time or unquoted(inside[until - 1].text)
            index = until
        elif words == ["PARTITION", "BY"]:
            index = _name_end(inside, index + 2)
        else:
            kept.append(inside[index])
            index += 1
    first = unquoted(kept[0].text).casefold() if kept else ""
    return _text(kept, ""), time or times.get(first) or STREAM_TIME


def _remember(
    tokens: Sequence[Token], block: Block, window: str | None, time: str, times: dict[str, str]
) -> None:
    """The column of time of a step that WITH defines."""
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
    if window is None:
        times.setdefault(name, time)
    elif name not in times:
        times[name] = STEP_TIME


def _defines(tokens: Sequence[Token], block: Block) -> bool:
    """Whether a SELECT is a step of WITH."""
    before = [token.word for token in tokens[max(block.begin - 2, 0) : block.begin]]
    return before == ["AS", "("] and block.begin >= 3


def _shows_time(tokens: Sequence[Token], block: Block) -> bool:
    begin, end = block.clauses["SELECT"]
    return any(token.word == "SYSTEM" for token in tokens[begin:end])


def _window_call(sql: str, key: Sequence[Token], time: str) -> str | None:
    """A window of GROUP BY as a function of Spark's; None if the key is none."""
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
    """An item of SELECT: `Name = expression` is Azure's other way to give it a name."""
    if len(tokens) > 2 and tokens[1].text == "=" and tokens[0].kind in ("name", "quoted"):
        return f"{_text(tokens[2:], now)} AS {tokens[0].text}"
    return _text(tokens, now)


def _text(tokens: Sequence[Token], now: str) -> str:
    """Tokens as text, with the time of an answer in the place of System.Timestamp()."""
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
