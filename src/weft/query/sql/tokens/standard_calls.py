"""Words of standard SQL that Spark does without.

substring(x FROM 2 FOR 3)    substring(x, 2, 3)
position('a' IN x)           position('a', x)
SELECT ALL x, sum(ALL y)     SELECT x, sum(y)
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.query.sql.tokens.edits import Edit, edited
from weft.query.sql.tokens.over import level
from weft.query.syntax.lexer import Token, closed, tokenize

_WORDS = {"SUBSTRING": ("FROM", "FOR"), "SUBSTR": ("FROM", "FOR"), "POSITION": ("IN",)}


def calls_spelled_out(sql: str) -> str:
    """A statement with commas in the calls that have words instead, and without ALL.

    >>> calls_spelled_out("SELECT substring(a FROM 2 FOR n), position('x' IN lower(b)) FROM t")
    "SELECT substring(a, 2, n), position('x', lower(b)) FROM t"
    """
    tokens = tokenize(sql)
    edits: list[Edit] = []
    for index in range(len(tokens) - 1):
        if _is_needless(tokens, index):
            edits.append((tokens[index].start, tokens[index + 1].start, ""))
            continue
        words = _WORDS.get(tokens[index].word, ())
        if not words or tokens[index + 1].text != "(" or (index and tokens[index - 1].text == "."):
            continue
        begin = index + 2
        end = closed(tokens, index + 1)
        inside = tokens[begin:end]
        if end >= len(tokens) or any(token.word in ("SELECT", "DISTINCT") for token in inside):
            continue
        for at in (begin + i for i in level(inside) if inside[i].word in words):
            edits.append((tokens[at - 1].end, tokens[at + 1].start, ", "))
    return edited(sql, edits)


def _is_needless(tokens: Sequence[Token], index: int) -> bool:
    """Whether an ALL says that nothing is DISTINCT: after SELECT, or in a call."""
    before = [token.word for token in tokens[max(index - 2, 0) : index]]
    after = tokens[index + 1]
    if tokens[index].word != "ALL" or after.word in ("FROM", "AS", "OVER"):
        return False
    if after.kind == "op" and after.text not in ("(", "*"):
        return False
    called = before[1:] == ["("] and tokens[index - 2].kind == "name"
    return before[-1:] == ["SELECT"] or (called and after.text != "(" and before[0] not in _LISTS)


_LISTS = ("IN", "LIKE", "ILIKE", "ANY", "SOME", "BY", "AND", "OR", "NOT", "WHERE", "ON", "FROM")
