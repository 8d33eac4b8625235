"""ksqlDB's SQL: a clause for the window, and the stream's own time.

    CREATE TABLE hourly AS SELECT symbol, sum(volume) AS v FROM trades
    WINDOW HOPPING (SIZE 1 HOUR, ADVANCE BY 10 MINUTES, GRACE PERIOD 5 MINUTES)
    GROUP BY symbol EMIT CHANGES;

GRACE PERIOD and RETENTION are ignored: the stream's watermark decides how long it waits for late
rows, and the sink how long it keeps answers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone

from weft.errors import QueryError
from weft.query.duration import MICROSECONDS, format_duration, parse_duration
from weft.query.sql.dialects.dialect import Dialect, ParsedSelect, StatementFrame
from weft.query.sql.dialects.in_spark import (
    calls_in_spark,
    renamed_words,
    without,
)
from weft.query.sql.dialects.ksql.calls import calls_of_values, lists_in_spark
from weft.query.sql.dialects.spark import SPARK
from weft.query.sql.dialects.vocabulary import Vocabulary
from weft.query.sql.select.select import STREAM_TIME
from weft.query.sql.tokens.blocks import Block, blocks
from weft.query.sql.tokens.casts import is_type
from weft.query.sql.tokens.elements import (
    elements_in_spark,
    extracted,
    joined,
    literals_in_spark,
    split_at,
)
from weft.query.sql.tokens.over import list_end
from weft.query.sql.tokens.refusals import refuse_statement
from weft.query.syntax.lexer import Token, closed, place, tokenize
from weft.query.window import Window

TITLE = "ksqlDB's SQL"
_FORM = "WINDOW TUMBLING (SIZE 1 HOUR) or HOPPING (SIZE 1 HOUR, ADVANCE BY 10 MINUTES)"
_BY_ARRIVAL = "goes by the order in which rows arrived: use max_by(x, time) or min_by(x, time)"
_WORDS = Vocabulary(TITLE, window=None, standard_strings=True)
_REFUSED = {
    **dict.fromkeys(("LATEST_BY_OFFSET", "EARLIEST_BY_OFFSET"), _BY_ARRIVAL),
    "HISTOGRAM": "is not an aggregate of Spark: use count(*) grouped by the value",
    "TOPKDISTINCT": "is not supported: use collect_set, or a query of the top values",
}


def in_spark(sql: str) -> str:
    """Translate a whole statement into Spark SQL."""
    for word in ("CHANGES", "FINAL"):
        sql = without(sql, "EMIT", word)
    sql = _without_partitions(sql)
    tokens = tokenize(sql)
    _WORDS.refuse_tokens(sql, tuple(tokens))
    for token in tokens:
        if token.kind == "name" and token.word in _REFUSED:
            raise QueryError(place(sql, token.start, f"{token.word} {_REFUSED[token.word]}"))
        if token.word == "WITHIN" and _joins_streams(tokens, token):
            reason = "WITHIN: a join of streams within a time is not supported: join them first"
            raise QueryError(place(sql, token.start, reason))
    at = next((i for i, token in enumerate(tokens) if _is_window(tokens, i)), None)
    call = None
    if at is not None:
        end = closed(tokens, at + 2)
        call = _call(sql, tokens[at + 1].word, tokens[at + 3 : end])
        begin = tokens[at].start
        sql = _grouped_by(f"{sql[:begin]}{sql[tokens[end].end :]}", call, begin)
    bounds = {} if call is None else _bounds(call)
    sql = _named(_with_moments(sql), (*bounds, "ROWTIME"))
    sql = renamed_words(sql, {**bounds, "ROWTIME": f"unix_millis({STREAM_TIME})"})
    sql = calls_in_spark(sql, "COUNT_DISTINCT", lambda args: f"count(DISTINCT {args[0]})")
    sql = calls_in_spark(sql, "AS_VALUE", lambda args: args[0])
    sql = calls_in_spark(sql, "FROM_UNIXTIME", lambda args: f"timestamp_millis({args[0]})")
    sql = calls_in_spark(
        sql, "TIMESTAMPTOSTRING", lambda args: _formatted(f"timestamp_millis({args[0]})", args[1:])
    )
    sql = calls_in_spark(sql, "FORMAT_TIMESTAMP", lambda args: _formatted(args[0], args[1:]))
    sql = calls_in_spark(sql, "REGEXP_EXTRACT_ALL", _extract_all)
    sql = calls_in_spark(sql, "REGEXP_EXTRACT", _extract)
    sql = calls_in_spark(sql, "SPLIT", lambda args: split_at(args[0], args[-1]))
    sql = calls_in_spark(sql, "UNIX_TIMESTAMP", _milliseconds_of, at_least=0)
    sql = calls_in_spark(sql, "SLICE", _slice)
    sql = calls_in_spark(sql, "TOPK", _topk)
    sql = calls_in_spark(sql, "CONCAT", joined)
    sql = calls_in_spark(sql, "MASK", _masked)
    sql = calls_in_spark(sql, "ROUND", _rounded)
    sql = calls_of_values(sql)
    sql = lists_in_spark(elements_in_spark(literals_in_spark(_strings(_with_arrows(sql)))))
    _WORDS.refuse_operators(sql)
    return sql


def _bounds(call: str) -> dict[str, str]:
    """WINDOWSTART and WINDOWEND of a window; ksqlDB's sessions end with their last row."""
    column, _, arguments = call.partition("(")
    start, end = f"unix_millis({column}.start)", f"unix_millis({column}.end)"
    if column == "session_window":
        gap = parse_duration(arguments.split("'")[1], "gap") // MICROSECONDS["millisecond"]
        end = f"({end} - {gap})"
    return {"WINDOWSTART": start, "WINDOWEND": end}


def _named(sql: str, words: Sequence[str]) -> str:
    """A statement whose SELECT list keeps the names of ksqlDB's own columns, as aliases."""
    tokens = tokenize(sql)
    end = next((index for index, token in enumerate(tokens) if token.word == "FROM"), 0)
    for index in reversed(range(1, len(tokens))):
        token, alone = tokens[index], tokens[index - 1].word in ("SELECT", ",")
        if token.word not in words or token.kind != "name":
            continue
        if tokens[index - 1].word == "AS":
            sql = f"{sql[: token.start]}`{token.text}`{sql[token.end :]}"
        elif index < end and alone and tokens[index + 1].word in ("FROM", ","):
            sql = f"{sql[: token.end]} AS `{token.text}`{sql[token.end :]}"
    return sql


def _without_partitions(sql: str) -> str:
    """A statement without PARTITION BY, which says where rows are and changes no answer."""
    tokens = tokenize(sql)
    for index in reversed(range(len(tokens) - 1)):
        if (tokens[index].word, tokens[index + 1].word) != ("PARTITION", "BY"):
            continue
        end = list_end(tokens, index + 2, _AFTER_PARTITION)
        sql = f"{sql[: tokens[index].start]}{sql[tokens[end - 1].end :]}"
    return sql


_AFTER_PARTITION = ("EMIT", "HAVING", "GROUP", "LIMIT", "WHERE", "WINDOW")


def _with_arrows(sql: str) -> str:
    """A statement with fields as `a.b` instead of `a->b`, and lambdas as `x -> y`, not `x => y`."""
    for token in reversed(tokenize(sql)):
        if token.kind == "op" and token.text in _ARROWS:
            sql = f"{sql[: token.start].rstrip()}{_ARROWS[token.text]}{sql[token.end :].lstrip()}"
    return sql


_ARROWS = {"->": ".", "=>": " -> "}


def _milliseconds_of(arguments: list[str]) -> str:
    return f"unix_millis({arguments[0] if arguments else 'current_timestamp()'})"


def _masked(arguments: list[str]) -> str:
    """MASK, which replaces other characters too, with a hyphen."""
    if len(arguments) != 1:
        raise QueryError(f"MASK({', '.join(arguments)}): accepted is MASK(column)")
    return f"mask({arguments[0]}, 'X', 'x', 'n', '-')"


def _rounded(arguments: list[str]) -> str:
    """ROUND, which rounds -2.5 to -2, where Spark's gives -3."""
    if len(arguments) != 1:
        reason = "rounds halves towards zero below zero, Spark's away from it: use FLOOR or CEIL"
        raise QueryError(f"ROUND({', '.join(arguments)}) {reason}")
    return f"floor({arguments[0]} + 0.5)"


def _with_moments(sql: str) -> str:
    """A statement with texts that are compared with a time as milliseconds, as that time is.

    >>> _with_moments("SELECT 1 FROM s WHERE ROWTIME >= '1970-01-01T00:01' AND k = '1970'")
    "SELECT 1 FROM s WHERE ROWTIME >= 60000 AND k = '1970'"
    """
    tokens = tokenize(sql)
    words = ["", "", "", "", *(token.word for token in tokens), "", ""]
    for index in reversed(range(len(tokens))):
        *before, _, after, then = words[index : index + 7]
        compared = before[2] in _TIMES and (before[3] in _COMPARISONS or before[3] == "BETWEEN")
        first = after in _COMPARISONS and then in _TIMES
        second = before[0] in _TIMES and before[1] == "BETWEEN" and before[3] == "AND"
        token = tokens[index]
        if token.kind == "string" and (compared or first or second):
            sql = f"{sql[: token.start]}{_milliseconds(sql, token)}{sql[token.end :]}"
    return sql


def _milliseconds(sql: str, token: Token) -> int:
    """The milliseconds of a text such as '2020-02-23T23:45', of which the end may be left out."""
    found = _MOMENT.fullmatch(token.text[1:-1])
    if found is None:
        reason = "a time is a text such as '2020-02-23T23:45:12.000', or a number of milliseconds"
        raise QueryError(place(sql, token.start, reason))
    year, month, day, hour, minute, second, fraction, zone = found.groups()
    clock = f"{hour or '00'}:{minute or '00'}:{second or '00'}.{(fraction or '').ljust(6, '0')}"
    offset = "+00:00" if zone in (None, "Z") else f"{zone[:3]}:{zone[-2:]}"
    try:
        moment = datetime.fromisoformat(f"{year}-{month or '01'}-{day or '01'}T{clock}{offset}")
    except ValueError as error:
        raise QueryError(place(sql, token.start, f"not a time: {error}")) from None
    return (moment - datetime(1970, 1, 1, tzinfo=timezone.utc)) // timedelta(milliseconds=1)


_TIMES = ("ROWTIME", "WINDOWSTART", "WINDOWEND")
_COMPARISONS = ("=", "<", ">", "<=", ">=", "<>", "!=")
_MOMENT = re.compile(
    r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:T(\d\d)(?::(\d\d)(?::(\d\d)(?:\.(\d{1,3}))?)?)?)?)?)?"
    r"(Z|[+-]\d\d:?\d\d)?"
)


def _formatted(time: str, arguments: Sequence[str]) -> str:
    """A time as text: in the given zone or, as in ksqlDB, in that of the system."""
    if not 1 <= len(arguments) <= 2:
        raise QueryError(f"a text of {time} takes a pattern, and a time zone if need be")
    shown = f"convert_timezone({arguments[1]}, {time})" if len(arguments) == 2 else time
    return f"date_format({shown}, {arguments[0]})"


def _extract(arguments: list[str]) -> str:
    """REGEXP_EXTRACT, which takes the pattern first in ksqlDB."""
    if not 2 <= len(arguments) <= 3:
        raise QueryError("REGEXP_EXTRACT takes a pattern, a string, and a group if need be")
    return extracted(arguments[1], arguments[0], arguments[2] if len(arguments) == 3 else None)


def _extract_all(arguments: list[str]) -> str:
    """REGEXP_EXTRACT_ALL, which takes the pattern first, and the whole match without a group."""
    if not 2 <= len(arguments) <= 3:
        raise QueryError("REGEXP_EXTRACT_ALL takes a pattern, a string, and a group if need be")
    pattern, text, group = (*arguments, "0")[:3]
    return f"regexp_extract_all({text}, {pattern}, {group})"


def _slice(arguments: list[str]) -> str:
    """SLICE from one position to another; Spark's takes a length."""
    if len(arguments) != 3:
        raise QueryError(f"SLICE({', '.join(arguments)}): accepted is SLICE(array, from, to)")
    array, first, last = arguments
    return f"slice({array}, {first}, {last} - {first} + 1)"


def _topk(arguments: list[str]) -> str:
    if len(arguments) != 2:
        listed = ", ".join(arguments)
        raise QueryError(f"TOPK({listed}): accepted is TOPK(column, k), without other columns")
    return f"slice(sort_array(collect_list({arguments[0]}), false), 1, {arguments[1]})"


def _strings(sql: str) -> str:
    """Cast to STRING instead of VARCHAR, which requires a length in Spark."""
    tokens = tokenize(sql)
    for index in reversed(range(1, len(tokens) - 1)):
        token = tokens[index]
        if token.word == "VARCHAR" and tokens[index + 1].text == ")" and is_type(tokens, index):
            sql = f"{sql[: token.start]}STRING{sql[token.end :]}"
    return sql


def read(sql: str, tokens: tuple[Token, ...]) -> ParsedSelect:
    """Translate a statement into Spark SQL, and parse that."""
    if not any(_is_window(tokens, index) for index in range(len(tokens))):
        raise QueryError(place(sql, tokens[0].start, f"it has no window: accepted is {_FORM}"))
    text = in_spark(sql[tokens[0].start : tokens[-1].end])
    found = tuple(tokenize(text))
    refuse_statement(text, found, SPARK.refused)
    return SPARK.read(text, found)


def _joins_streams(tokens: Sequence[Token], within: Token) -> bool:
    """Whether a WITHIN is that of a join: `WITHIN 1 HOUR` or `WITHIN (1 HOUR, 2 HOURS)`."""
    after = tokens[tokens.index(within) + 1 :]
    return any(token.kind == "number" for token in after[:2]) and any(
        token.word == "JOIN" for token in tokens[: tokens.index(within)]
    )


def _is_window(tokens: Sequence[Token], index: int) -> bool:
    words = [token.word for token in tokens[index : index + 3]]
    kinds = ("TUMBLING", "HOPPING", "SESSION")
    return len(words) == 3 and words[0] == "WINDOW" and words[1] in kinds and words[2] == "("


def _call(sql: str, kind: str, tokens: Sequence[Token]) -> str:
    """The window as a call of a Spark function."""
    inside = sql[tokens[0].start : tokens[-1].end] if tokens else ""
    lengths: dict[str, int] = {}
    for term in inside.split(","):
        found = re.fullmatch(r"\s*(SIZE|ADVANCE\s+BY|RETENTION|GRACE\s+PERIOD)?\s*(\d+\s+\w+)\s*",
                             term, re.IGNORECASE)  # fmt: skip
        if found is None:
            raise QueryError(place(sql, tokens[0].start if tokens else 0, f"accepted is {_FORM}"))
        name = " ".join((found[1] or "SIZE").upper().split())
        lengths[name] = parse_duration(found[2].lower(), name.lower())
    if "SIZE" not in lengths:
        raise QueryError(place(sql, tokens[0].start if tokens else 0, f"accepted is {_FORM}"))
    size = format_duration(lengths["SIZE"])
    if kind == "SESSION":
        return f"session_window({STREAM_TIME}, '{size}')"
    slide = lengths.get("ADVANCE BY")
    then = "" if slide is None else f", '{format_duration(slide)}'"
    return f"window({STREAM_TIME}, '{size}'{then})"


def _grouped_by(sql: str, call: str, begin: int) -> str:
    """A statement with the window in GROUP BY of the SELECT whose WINDOW clause was at `begin`."""
    tokens = tokenize(sql)
    if any(_is_window(tokens, index) for index in range(len(tokens))):
        reason = "one window is supported in a statement: write each as a statement of its own"
        raise QueryError(place(sql, begin, reason))
    depth = 0
    for index, token in enumerate(tokens):
        if token.start < begin:
            continue
        depth += (token.text == "(") - (token.text == ")")
        if depth < 0:
            break
        if depth == 0 and token.word == "GROUP" and tokens[index + 1].word == "BY":
            _refuse_bounds_elsewhere(sql, tokens, index)
            at = tokens[index + 1].end
            return f"{sql[:at]} {call},{sql[at:]}"
    raise QueryError("a window needs GROUP BY")


def _refuse_bounds_elsewhere(sql: str, tokens: Sequence[Token], group: int) -> None:
    """Refuse WINDOWSTART and WINDOWEND in a SELECT other than the one that is grouped."""
    found = blocks(tokens)
    own = _innermost(found, group)
    for index, token in enumerate(tokens):
        aliased = index > 0 and tokens[index - 1].word == "AS"
        if token.word in _TIMES[1:] and not aliased and _innermost(found, index) is not own:
            reason = f"{token.word} of another SELECT's window: select it there, under a name"
            raise QueryError(place(sql, token.start, reason))


def _innermost(found: Sequence[Block], index: int) -> Block | None:
    inside = [block for block in found if block.begin <= index < block.end]
    return max(inside, key=lambda block: block.depth, default=None)


def frame(window: Window, table: str, time: str) -> StatementFrame:
    """`FROM table WINDOW HOPPING (SIZE ..., ADVANCE BY ...)`."""
    if window.axis != "time" or window.phase:
        raise QueryError(f"{TITLE} has only windows over time that are aligned with the epoch")
    size = _length(window.range)
    if window.slide == window.range:
        clause = f"WINDOW TUMBLING (SIZE {size})"
    else:
        clause = f"WINDOW HOPPING (SIZE {size}, ADVANCE BY {_length(window.slide)})"
    return StatementFrame(f"{table} {clause}", (), (), ("windowstart", "windowend"))


def _length(length: int) -> str:
    text = format_duration(length)
    if len(text.split()) != 2 or "microsecond" in text:
        raise QueryError(f"{TITLE} writes lengths in a single unit, at least 1 ms: not {text}")
    return text.upper()


KSQL = Dialect(
    name="ksql",
    title=TITLE,
    read=read,
    frame=frame,
    words=_WORDS,
    in_spark=in_spark,
    reads_spark=True,
)
