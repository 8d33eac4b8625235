"""Malformed statements: unmatched brackets, and commas with nothing before or after them."""

from __future__ import annotations

from collections.abc import Sequence

from weft.errors import QueryError
from weft.query.syntax.lexer import Token, place

NOTHING_THERE = (LookupError, ValueError, StopIteration)
"""The errors of a reader when the text ends, or has a comma, where it expects something else."""
_CLOSING = {"(": ")", "[": "]", "{": "}"}


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


def unread(sql: str, tokens: Sequence[Token], wrong: QueryError | None) -> str:
    """The reason to give for a statement that no reader can read."""
    return str(wrong or place(sql, tokens[0].start, "this cannot be read as SQL"))


def _closes(token: Token) -> bool:
    return token.kind == "op" and token.text in _CLOSING.values()


def _is_comma(token: Token) -> bool:
    return token.kind == "op" and token.text == ","


def _ends_list(token: Token) -> bool:
    return token.kind == "op" and token.text in (",", ")", "]")
