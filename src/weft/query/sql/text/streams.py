"""Databricks' STREAM, which says that a table is read as a stream: here the source says so.

FROM STREAM events          FROM events
FROM STREAM(live.events)    FROM live.events
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.query.syntax.lexer import Token, closed

_NO_TABLE = frozenset(
    (
        *("WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "WINDOW", "EMIT", "AS", "ON", "USING"),
        *("JOIN", "INNER", "LEFT", "RIGHT", "FULL", "CROSS", "NATURAL", "SEMI", "ANTI", "LATERAL"),
        *("UNION", "INTERSECT", "EXCEPT", "MINUS", "WATERMARK", "TIMESTAMP", "PARTITION"),
        *("QUALIFY", "PIVOT", "UNPIVOT", "TABLESAMPLE", "FOR", "VERSION", "SORT", "CLUSTER"),
        "DISTRIBUTE",
    )
)
"""What may follow a table that is called `stream`."""


def without_stream(text: str, tokens: Sequence[Token]) -> str | None:
    """A statement without STREAM; None if it has none.

    >>> from weft.query.syntax.lexer import tokenize
    >>> for sql in ("SELECT 1 FROM STREAM a.b JOIN STREAM(c) d", "SELECT 1 FROM stream WHERE x"):
    ...     print(without_stream(sql, tokenize(sql)))
    SELECT 1 FROM a.b JOIN c d
    None
    """
    begin, end = tokens[0].start, tokens[-1].end
    made = text[begin:end]
    for index in reversed(range(1, len(tokens) - 1)):
        token, after = tokens[index], tokens[index + 1]
        if token.word != "STREAM" or tokens[index - 1].word not in ("FROM", "JOIN", ","):
            continue
        closing = closed(tokens, index + 1) if after.text == "(" else 0
        last = tokens[closing - 1] if closing else after
        is_name = last.kind in ("name", "quoted") and last.word not in _NO_TABLE
        if not is_name or closing >= len(tokens) or (tokens[index - 1].text == "," and not closing):
            continue
        rest = tokens[closing].end if closing else after.start
        name = text[after.end : last.end].strip() if closing else ""
        made = f"{made[: token.start - begin]}{name}{made[rest - begin :]}"
    return None if made == text[begin:end] else made
