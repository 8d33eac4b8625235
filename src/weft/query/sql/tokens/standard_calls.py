"""Calls of standard SQL with words between their arguments, as calls with commas.

substring(x FROM 2 FOR 3)    substring(x, 2, 3)
position('a' IN x)           position('a', x)
"""

from __future__ import annotations

from weft.query.sql.tokens.over import level
from weft.query.syntax.lexer import closed, tokenize

_WORDS = {"SUBSTRING": ("FROM", "FOR"), "SUBSTR": ("FROM", "FOR"), "POSITION": ("IN",)}


def calls_spelled_out(sql: str) -> str:
    """A statement with commas in the calls that have words instead; Spark takes both.

    >>> calls_spelled_out("SELECT substring(a FROM 2 FOR n), position('x' IN lower(b)) FROM t")
    "SELECT substring(a, 2, n), position('x', lower(b)) FROM t"
    """
    tokens = tokenize(sql)
    for index in reversed(range(len(tokens) - 1)):
        words = _WORDS.get(tokens[index].word, ())
        if not words or tokens[index + 1].text != "(" or (index and tokens[index - 1].text == "."):
            continue
        begin = index + 2
        inside = tokens[begin : closed(tokens, index + 1)]
        if any(token.word in ("SELECT", "DISTINCT") for token in inside):
            continue
        for at in reversed([begin + i for i in level(inside) if inside[i].word in words]):
            sql = f"{sql[: tokens[at - 1].end]}, {sql[tokens[at + 1].start :]}"
        tokens = tokenize(sql)
    return sql
