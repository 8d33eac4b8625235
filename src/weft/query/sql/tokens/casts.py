"""`value::type` as CAST(value AS type), which means the same and is what weft reads."""

from __future__ import annotations

from weft.query.sql.tokens.elements import operand
from weft.query.syntax.lexer import closed, tokenize


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
        end = closed(tokens, end + 1) if after == "(" else end
        if end >= len(tokens):
            continue
        value = sql[tokens[begin].start : tokens[index - 1].end]
        type_ = sql[tokens[index + 1].start : tokens[end].end]
        sql = f"{sql[: tokens[begin].start]}CAST({value} AS {type_}){sql[tokens[end].end :]}"
        at = tokens[begin].start
