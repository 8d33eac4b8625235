"""Statements that are no queries: malformed ones, and those that set something up."""

from __future__ import annotations

from collections.abc import Sequence

from weft.errors import QueryError
from weft.query.sql.text.wrappers import BEFORE_KIND, KINDS, unwrapped
from weft.query.syntax.lexer import Token, place

NOTHING_THERE = (LookupError, ValueError, StopIteration)
"""The errors of a reader when the text ends, or has a comma, where it expects something else."""
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_DEFINED = frozenset(
    (*KINDS, "SOURCE", "CONNECTION", "CATALOG", "DATABASE", "SCHEMA", "FUNCTION", "TYPE", "INDEX")
)
_WITH_ROWS = ("TABLE", "STREAM", "SOURCE")
_NO_QUERY = frozenset(
    (
        *("SET", "RESET", "USE", "DROP", "ALTER", "DECLARE", "TRUNCATE", "DELETE", "UPDATE"),
        *("MERGE", "GRANT", "REVOKE", "ANALYZE", "REFRESH", "UNCACHE", "SHOW", "DESCRIBE"),
        *("ADD", "LOAD", "CALL", "PRINT", "TERMINATE", "PAUSE", "RESUME", "LIST", "UNSET"),
        *("EXPLAIN", "OPTIMIZE", "VACUUM", "COMMENT", "CLEAR", "MSCK", "FLUSH", "APPLY"),
    )
)
"""First words of statements that answer nothing."""


def malformed(sql: str, tokens: Sequence[Token]) -> QueryError | None:
    """Why a statement is malformed, so that no reader looks for clauses in it; None if it is not.

    >>> from weft.query.syntax.lexer import tokenize
    >>> sql = "SELECT sum(a, count(*) FROM t"
    >>> print(malformed(sql, tokenize(sql)))
    ( is not closed (line 1, column 11):
      SELECT sum(a, count(*) FROM t
                ^
    """
    opened: list[Token] = []
    before: Token | None = None
    for token in tokens:
        if token.kind == "op" and token.text in _CLOSING:
            opened.append(token)
        elif _closes(token) and (not opened or _CLOSING[opened.pop().text] != token.text):
            return QueryError(place(sql, token.start, f"{token.text} closes nothing"))
        if before is not None and _is_comma(before) and _ends_list(token):
            return QueryError(place(sql, before.start, "a comma with nothing after it"))
        if _is_comma(token) and (before is None or before.text in ("(", "[")):
            return QueryError(place(sql, token.start, "a comma with nothing before it"))
        before = token
    if opened:
        return QueryError(place(sql, opened[-1].start, f"{opened[-1].text} is not closed"))
    if before is not None and _is_comma(before):
        return QueryError(place(sql, before.start, "a comma with nothing after it"))
    return None


def not_a_query(sql: str, tokens: Sequence[Token]) -> QueryError | None:
    """Why a statement that sets something up, or changes data, is refused.

    >>> from weft.query.syntax.lexer import tokenize
    >>> sql = "CREATE TABLE t (x INT) WITH ('connector' = 'kafka')"
    >>> print(not_a_query(sql, tokenize(sql)))
    CREATE TABLE is not a query: say where the rows of a table are with --source NAME=PATH, ...
      CREATE TABLE t (x INT) WITH ('connector' = 'kafka')
      ^
    """
    first = tokens[0].word
    if first == "CREATE":
        if unwrapped(tokens)[0] is not tokens:
            return None
        kind = next((token.word for token in tokens[1:] if token.word not in BEFORE_KIND), "")
        if kind not in _DEFINED:
            return None
        reason = f"CREATE {kind} is not a query: " + (
            "say where the rows of a table are with --source NAME=PATH, or under sources: in a job "
            "file"
            if kind in _WITH_ROWS
            else "leave it out"
        )
    elif first == "INSERT" and unwrapped(tokens)[0] is tokens and "VALUES" in map(_word, tokens):
        reason = "INSERT of values is not a query: leave it out"
    elif first in _NO_QUERY:
        reason = f"{first} is not a query: leave it out"
    else:
        return None
    return QueryError(place(sql, tokens[0].start, reason))


def unread(sql: str, tokens: Sequence[Token], wrong: QueryError | None) -> str:
    """The reason to give for a statement that no reader can read."""
    return str(wrong or place(sql, tokens[0].start, "this cannot be read as SQL"))


def _word(token: Token) -> str:
    return token.word


def _closes(token: Token) -> bool:
    return token.kind == "op" and token.text in _CLOSING.values()


def _is_comma(token: Token) -> bool:
    return token.kind == "op" and token.text == ","


def _ends_list(token: Token) -> bool:
    return token.kind == "op" and token.text in (",", ")", "]")
