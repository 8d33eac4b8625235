"""Which dialect a statement is in, from what is unmistakable in it."""

from __future__ import annotations

from collections.abc import Iterator

from weft.errors import QueryError
from weft.query.sql.cql import window_clause
from weft.query.sql.dialect import DialectName
from weft.query.syntax.lexer import Token, place

_ASA_CALLS = frozenset(
    (
        *("TUMBLINGWINDOW", "HOPPINGWINDOW", "SLIDINGWINDOW", "SESSIONWINDOW", "SNAPSHOTWINDOW"),
        *("TUMBLING", "HOPPING", "WINDOWS"),
    )
)
_FLINK_CALLS = frozenset(
    (
        *("TUMBLE", "HOP", "CUMULATE", "SESSION", "DESCRIPTOR", "TUMBLE_START", "TUMBLE_END"),
        *("TUMBLE_ROWTIME", "HOP_START", "HOP_END", "HOP_ROWTIME"),
    )
)


def recognise(sql: str, tokens: tuple[Token, ...]) -> DialectName:
    """The dialect of a statement; Spark's where nothing says otherwise.

    >>> from weft.query.syntax.lexer import tokenize
    >>> sql = "SELECT count(*) AS n FROM t [RANGE '1 hour' SLIDE '5 min']"
    >>> recognise(sql, tuple(tokenize(sql)))
    'cql'
    """
    marks: dict[DialectName, Token] = {}
    for dialect, token in _marks(tokens):
        marks.setdefault(dialect, token)
    if len(marks) > 1:
        (first, _), (second, token) = sorted(marks.items(), key=lambda mark: mark[1].start)[:2]
        raise QueryError(
            place(
                sql,
                token.start,
                f"{token.text} is of the dialect {second!r}, and this statement began in "
                f"{first!r}: write one dialect, or say which with dialect=",
            )
        )
    return next(iter(marks), "spark")


def _marks(tokens: tuple[Token, ...]) -> Iterator[tuple[DialectName, Token]]:
    bracket = window_clause(tokens)
    if bracket is not None:
        yield "cql", tokens[bracket]
    for index, token in enumerate(tokens):
        if token.kind != "name":
            continue
        following = [later.word for later in tokens[index + 1 : index + 3]] + ["", ""]
        called = following[0] == "(" and (index == 0 or tokens[index - 1].text != ".")
        if called and token.word in _ASA_CALLS:
            yield "asa", token
        elif token.word == "TIMESTAMP" and following[0] == "BY":
            yield "asa", token
        elif token.word == "SYSTEM" and following[0] == "." and following[1] in _SYSTEM:
            yield "asa", token
        elif called and token.word in _FLINK_CALLS:
            yield "flink", token
        elif called and token.word == "TABLE" and tokens[index - 1].word == "FROM":
            yield "flink", token


_SYSTEM = ("TIMESTAMP", "WINDOW")
