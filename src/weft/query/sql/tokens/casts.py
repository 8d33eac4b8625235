"""`value::type` as CAST(value AS type), which means the same and is what weft reads."""

from __future__ import annotations

from collections.abc import Sequence

from weft.query.sql.tokens.elements import operand
from weft.query.syntax.lexer import Token, closed, tokenize

_CASTS = ("CAST", "TRY_CAST")


def casts_spelled_out(sql: str) -> str:
    """A statement with CAST instead of `::`.

    >>> casts_spelled_out("SELECT ts::date AS d, (a + b)::decimal(8, 2) / -c::int FROM t")
    'SELECT CAST(ts AS date) AS d, CAST((a + b) AS decimal(8, 2)) / -CAST(c AS int) FROM t'
    """
    at = 0
    while True:
        tokens = tokenize(sql)
        places = [i for i, token in enumerate(tokens) if token.text == "::" and token.start >= at]
        if not places:
            return sql
        index = places[0]
        at = tokens[index].end
        begin = operand(tokens, index - 1) if index else None
        end = index + 1
        if begin is None or end >= len(tokens) or tokens[end].kind != "name":
            continue
        after = tokens[end + 1].text if end + 1 < len(tokens) else ""
        if after == "<":  # array<int>
            continue
        end = _type_end(tokens, closed(tokens, end + 1) if after == "(" else end)
        if end >= len(tokens):
            continue
        value = sql[tokens[begin].start : tokens[index - 1].end]
        type_ = sql[tokens[index + 1].start : tokens[end].end]
        sql = f"{sql[: tokens[begin].start]}CAST({value} AS {type_}){sql[tokens[end].end :]}"
        at = tokens[begin].start


def _type_end(tokens: Sequence[Token], end: int) -> int:
    """The last token of a type that may have several words (`double precision`)."""
    words = [token.word for token in tokens[end : end + 4]]
    if words[:2] in (["DOUBLE", "PRECISION"], ["CHARACTER", "VARYING"]):
        return end + 1
    if words[1:] in (["WITH", "TIME", "ZONE"], ["WITHOUT", "TIME", "ZONE"]):
        return end + 3
    return end


def is_type(tokens: Sequence[Token], index: int) -> bool:
    """Whether the token is the type of a CAST, and not an alias.

    >>> tokens = tokenize("SELECT CAST(max(x) AS text) AS text")
    >>> [is_type(tokens, index) for index, token in enumerate(tokens) if token.word == "TEXT"]
    [True, False]
    """
    depth = 0
    for at in reversed(range(index)):
        text = tokens[at].text
        if text == "(" and not depth:
            return tokens[index - 1].word == "AS" and at > 0 and tokens[at - 1].word in _CASTS
        depth += (text == ")") - (text == "(")
    return False
