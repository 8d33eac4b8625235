"""Values of JSON, which RisingWave takes from PostgreSQL.

data -> 'user' ->> 'id'    get_json_object(data, '$.user.id')
data ->> 0                 get_json_object(data, '$[0]')
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from weft.errors import QueryError
from weft.query.sql.tokens.elements import operand
from weft.query.syntax.lexer import Token, place, tokenize

_PLAIN = re.compile(r"'\w+'")


def json_in_spark(sql: str) -> str:
    """A statement with `->>` as function calls; refused where a path is no constant.

    >>> json_in_spark("SELECT max(t.data -> 'a' ->> 'b') FROM t")
    "SELECT max(get_json_object(t.data, '$.a.b')) FROM t"
    """
    while True:
        tokens = tokenize(sql)
        at = next((i for i in range(1, len(tokens) - 2) if _is_text(tokens, i)), None)
        if at is None:
            return sql
        path, first = [tokens[at + 2]], at
        while first > 2 and tokens[first - 2].text == "->":
            path.insert(0, tokens[first - 1])
            first -= 2
        begin = operand(tokens, first - 1)
        steps = [_step(token) for token in path]
        if begin is None or None in steps:
            reason = "->> is read of a column and constant names such as data ->> 'id'"
            raise QueryError(place(sql, tokens[at].start, reason))
        value = sql[tokens[begin].start : tokens[first - 1].end]
        made = f"get_json_object({value}, '${''.join(filter(None, steps))}')"
        sql = f"{sql[: tokens[begin].start]}{made}{sql[path[-1].end :]}"


def _is_text(tokens: Sequence[Token], index: int) -> bool:
    """Whether `->>` is at an index; it is two tokens."""
    arrow, after = tokens[index : index + 2]
    return (arrow.text, after.text) == ("->", ">") and arrow.end == after.start


def _step(token: Token) -> str | None:
    """A name or a position as part of a path; None if it is neither."""
    if token.kind == "string" and _PLAIN.fullmatch(token.text):
        return f".{token.text[1:-1]}"
    return f"[{token.text}]" if token.text.isdecimal() else None
