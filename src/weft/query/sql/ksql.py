"""ksqlDB's SQL: a clause for the window, and the stream's own time.

    CREATE TABLE hourly AS SELECT symbol, sum(volume) AS v FROM trades
    WINDOW HOPPING (SIZE 1 HOUR, ADVANCE BY 10 MINUTES, GRACE PERIOD 5 MINUTES)
    GROUP BY symbol EMIT CHANGES;

How long late rows are waited for (GRACE PERIOD) is the stream's watermark here, and how long
answers are kept (RETENTION) the sink's business.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from weft.errors import QueryError
from weft.query.duration import format_duration, parse_duration
from weft.query.sql.dialect import Dialect, ParsedSelect, StatementFrame
from weft.query.sql.in_spark import STREAM_TIME, calls_in_spark, renamed_words, without
from weft.query.sql.refusals import refuse_statement
from weft.query.sql.spark import SPARK
from weft.query.sql.vocabulary import Vocabulary, refuse_whole_quotients
from weft.query.syntax.lexer import Token, closed, place, tokenize
from weft.query.window import Window

TITLE = "ksqlDB's SQL"
_FORM = "WINDOW TUMBLING (SIZE 1 HOUR) or HOPPING (SIZE 1 HOUR, ADVANCE BY 10 MINUTES)"
_BY_ARRIVAL = "goes by the order in which rows arrived: use max_by(x, time) or min_by(x, time)"
_REFUSED = {
    **dict.fromkeys(("LATEST_BY_OFFSET", "EARLIEST_BY_OFFSET"), _BY_ARRIVAL),
    "FORMAT_TIMESTAMP": "has patterns of its own: use date_format in Spark SQL",
    "HISTOGRAM": "is not an aggregate of Spark: use count(*) grouped by the value",
    "TOPKDISTINCT": "is not supported: use collect_set, or a query of the top values",
}


def in_spark(sql: str) -> str:
    """A whole statement as Spark SQL."""
    refuse_whole_quotients(sql, TITLE)
    for word in ("CHANGES", "FINAL"):
        sql = without(sql, "EMIT", word)
    sql = without(sql, "PARTITION", "BY", after=1)
    tokens = tokenize(sql)
    for token in tokens:
        if token.kind == "name" and token.word in _REFUSED:
            raise QueryError(place(sql, token.start, f"{token.word} {_REFUSED[token.word]}"))
    at = next((i for i, token in enumerate(tokens) if _is_window(tokens, i)), None)
    call = column = None
    if at is not None:
        end = closed(tokens, at + 2)
        call = _call(sql, tokens[at + 1].word, tokens[at + 3 : end])
        column = call.partition("(")[0]
        sql = f"{sql[: tokens[at].start]}{sql[tokens[end].end :]}"
        sql = _grouped_by(sql, call)
    bounds = {} if column is None else {
        "WINDOWSTART": f"unix_millis({column}.start)", "WINDOWEND": f"unix_millis({column}.end)",
    }  # fmt: skip
    sql = renamed_words(sql, {**bounds, "ROWTIME": f"unix_millis({STREAM_TIME})"})
    sql = calls_in_spark(sql, "COUNT_DISTINCT", lambda args: f"count(DISTINCT {args[0]})")
    sql = calls_in_spark(sql, "AS_VALUE", lambda args: args[0])
    sql = calls_in_spark(sql, "FROM_UNIXTIME", lambda args: f"timestamp_millis({args[0]})")
    sql = calls_in_spark(
        sql,
        "TIMESTAMPTOSTRING",
        lambda args: f"date_format(timestamp_millis({args[0]}), {args[1]})",
    )
    sql = calls_in_spark(
        sql, "TOPK", lambda args: f"slice(sort_array(collect_list({args[0]}), false), 1, {args[1]})"
    )
    return re.sub(r"\s*->\s*", ".", sql) if "->" in sql and "=>" not in sql else sql


def read(sql: str, tokens: tuple[Token, ...]) -> ParsedSelect:
    """What a statement asks: read as the Spark SQL that it is put into."""
    if not any(_is_window(tokens, index) for index in range(len(tokens))):
        raise QueryError(place(sql, tokens[0].start, f"it has no window: accepted is {_FORM}"))
    text = in_spark(sql[tokens[0].start : tokens[-1].end])
    found = tuple(tokenize(text))
    refuse_statement(text, found, SPARK.refused)
    return SPARK.read(text, found)


def _is_window(tokens: Sequence[Token], index: int) -> bool:
    words = [token.word for token in tokens[index : index + 3]]
    kinds = ("TUMBLING", "HOPPING", "SESSION")
    return len(words) == 3 and words[0] == "WINDOW" and words[1] in kinds and words[2] == "("


def _call(sql: str, kind: str, tokens: Sequence[Token]) -> str:
    """The window as a function of Spark's."""
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


def _grouped_by(sql: str, call: str) -> str:
    tokens = tokenize(sql)
    for index, token in enumerate(tokens[:-1]):
        if token.word == "GROUP" and tokens[index + 1].word == "BY":
            at = tokens[index + 1].end
            return f"{sql[:at]} {call},{sql[at:]}"
    raise QueryError("a window needs GROUP BY")


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
    words=Vocabulary(TITLE, window=None),
    in_spark=in_spark,
    reads_spark=True,
)
