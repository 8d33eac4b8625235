"""`value::type` as CAST(value AS type), which means the same and is what weft reads."""

from __future__ import annotations

from collections.abc import Sequence

from weft.query.sql.tokens.edits import Edit, edited
from weft.query.sql.tokens.elements import operand
from weft.query.syntax.lexer import Token, closed, tokenize

_CASTS = ("CAST", "TRY_CAST")


def casts_spelled_out(sql: str) -> str:
    """A statement with CAST instead of `::`.

    >>> casts_spelled_out("SELECT ts::date AS d, (a + b)::decimal(8, 2) / -c::int FROM t")
    'SELECT CAST(ts AS date) AS d, CAST((a + b) AS decimal(8, 2)) / -CAST(c AS int) FROM t'
    """
    tokens = tokenize(sql)
    edits: list[Edit] = []
    types: dict[int, int] = {}
    """Where the value of a cast begins, by the places of the tokens of its type."""
    for index, token in enumerate(tokens):
        if token.text != "::":
            continue
        begin = operand(tokens, index - 1) if index else None
        end = index + 1
        if begin is None or begin < 0 or end >= len(tokens) or tokens[end].kind != "name":
            continue
        begin = types.get(begin, begin)  # a::int::text
        after = tokens[end + 1].text if end + 1 < len(tokens) else ""
        if after == "<":  # array<int>
            continue
        end = _type_end(tokens, closed(tokens, end + 1) if after == "(" else end)
        if end >= len(tokens):
            continue
        type_ = sql[tokens[index + 1].start : tokens[end].end]
        edits.append((tokens[begin].start, tokens[begin].start, "CAST("))
        edits.append((tokens[index - 1].end, tokens[end].end, f" AS {type_})"))
        types |= dict.fromkeys(range(index, end + 1), begin)
    return edited(sql, edits)


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
