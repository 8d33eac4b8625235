"""RisingWave's SQL: windows as table functions, expressions as in Spark.

SELECT window_start, symbol, sum(volume) AS v
FROM tumble(trades, ts, INTERVAL '1 hour') GROUP BY window_start, symbol
EMIT ON WINDOW CLOSE;
"""

from __future__ import annotations

from dataclasses import replace

from weft.errors import QueryError
from weft.query.duration import format_duration
from weft.query.sql.dialects.dialect import Dialect, ParsedSelect, StatementFrame
from weft.query.sql.dialects.in_spark import table_windows_in_spark, without
from weft.query.sql.dialects.risingwave.words import names_in_spark, words_in_spark
from weft.query.sql.dialects.spark import SPARK
from weft.query.sql.dialects.vocabulary import Vocabulary
from weft.query.sql.tokens.casts import casts_spelled_out
from weft.query.sql.tokens.refusals import refuse_statement
from weft.query.sql.tokens.standard_calls import calls_spelled_out
from weft.query.syntax.lexer import Token, place, tokenize
from weft.query.window import Window

TITLE = "RisingWave's SQL"
_BOUNDS = ("window_start", "window_end")
_WORDS = Vocabulary(TITLE, window=_BOUNDS)
_STRICT = replace(_WORDS, standard_strings=True)
"""For statements whose double-quoted names have been put into backquotes."""


def in_spark(sql: str) -> str:
    """Translate a whole statement into Spark SQL."""
    sql = calls_spelled_out(casts_spelled_out(names_in_spark(sql)))
    _STRICT.refuse_tokens(sql, tuple(tokenize(sql)))
    _WORDS.refuse_operators(sql)
    sql = words_in_spark(_without_options(without(sql, "EMIT", "ON", "WINDOW", "CLOSE")))
    return table_windows_in_spark(sql)


def _without_options(sql: str) -> str:
    """`CREATE SINK s AS SELECT ... WITH (options)` without its options."""
    tokens = tokenize(sql)
    for index, token in enumerate(tokens[:-1]):
        if index and token.word == "WITH" and tokens[index + 1].text == "(":
            return sql[: token.start]
    return sql


def read(sql: str, tokens: tuple[Token, ...]) -> ParsedSelect:
    """Translate a statement into Spark SQL, and parse that."""
    given = sql[tokens[0].start : tokens[-1].end]
    text = in_spark(given)
    if text == given:
        form = "FROM tumble(t, time, size) or hop(t, time, slide, size)"
        reason = f"it has no window: accepted is {form}"
        raise QueryError(place(sql, tokens[0].start, reason))
    found = tuple(tokenize(text))
    refuse_statement(text, found, SPARK.refused)
    return SPARK.read(text, found)


def frame(window: Window, table: str, time: str) -> StatementFrame:
    """`FROM hop(table, time, slide, size[, offset])`."""
    if window.axis != "time":
        raise QueryError(f"{TITLE} has windows over time, and this one is on an integer axis")
    tumbles = window.slide == window.range
    lengths = [*([] if tumbles else [window.slide]), window.range]
    lengths += [window.phase] if window.phase else []
    listed = ", ".join(f"INTERVAL '{format_duration(length)}'" for length in lengths)
    name = "tumble" if tumbles else "hop"
    return StatementFrame(f"{name}({table}, {time}, {listed})", _BOUNDS, _BOUNDS, _BOUNDS)


RISINGWAVE = Dialect(
    name="risingwave",
    title=TITLE,
    read=read,
    frame=frame,
    words=_WORDS,
    in_spark=in_spark,
    reads_spark=True,
)
