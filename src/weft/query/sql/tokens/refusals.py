"""SQL that a shared query cannot express, refused with the place, the reason and an alternative."""

from __future__ import annotations

from collections.abc import Mapping

from weft.errors import QueryError
from weft.query.syntax.lexer import Token, place

_JOIN = "a join cannot be shared: join the streams first and give weft the joined DataFrame"
_ORDER = "answers are a table without an order: order them when you read them"
_SETS = "set operations cannot be shared: write one query for each SELECT"
_GROUPINGS = "several groupings in one query are not supported: write one query for each"

_CLAUSES = {
    **dict.fromkeys(
        ("JOIN", "INNER", "LEFT", "RIGHT", "FULL", "CROSS", "NATURAL", "SEMI", "ANTI"), _JOIN
    ),
    **dict.fromkeys(("ORDER", "SORT", "CLUSTER", "DISTRIBUTE"), _ORDER),
    "LIMIT": "a stream's answers have no end to cut at: limit them when you read them",
    **dict.fromkeys(("UNION", "INTERSECT", "EXCEPT", "MINUS"), _SETS),
    "LATERAL": "LATERAL VIEW makes several rows of one: apply it to the stream first",
    **dict.fromkeys(("PIVOT", "UNPIVOT"), "apply it to the answers instead"),
    "TABLESAMPLE": "sample the stream first",
    "QUALIFY": "window functions cannot be shared",
    "OVER": "a window function (OVER) cannot be shared: compute it in the stream first",
    "GROUPING": _GROUPINGS,
    "WITH": "WITH ROLLUP, CUBE and the like are not supported: write one query for each grouping",
    "WINDOW": "named windows belong to window functions, which cannot be shared",
}
_PAIRS = {
    ("PARTITION", "BY"): "how a stream is partitioned changes no answer: leave it out",
    ("FOR", "SYSTEM_TIME"): _JOIN,
}
_CALLS = {
    **dict.fromkeys(("ROLLUP", "CUBE"), _GROUPINGS),
    "MATCH_RECOGNIZE": "patterns of rows are not aggregates of windows",
}
_FIRST = {
    "WITH": "a common table expression cannot be shared: give weft its result as a DataFrame",
    "FROM": "write SELECT ... FROM ... in this order",
    **dict.fromkeys(
        ("ISTREAM", "DSTREAM", "RSTREAM"),
        "answers are always one row for each window and group: write SELECT ... alone",
    ),
}


def refuse_statement(sql: str, tokens: tuple[Token, ...], calls: Mapping[str, str]) -> None:
    """Refuse the first part of a statement that cannot be shared.

    `calls` are the dialect's own functions that cannot be shared, with the reasons.
    """
    refused = {**_CALLS, **calls}
    first = tokens[0]
    if first.word != "SELECT":
        reason = _FIRST.get(first.word, "a query begins with SELECT")
        raise _fail(sql, first, reason)
    depth, clause, before = 0, "", None
    for token, after in zip(tokens, (*tokens[1:], None), strict=True):
        ended = before is not None and _ends_operand(before)
        counted = after is not None and (after.kind == "number" or after.text == "(")
        if token.text in ("(", ")", "[", "]"):
            depth += 1 if token.text in ("(", "[") else -1
        elif token.text == "," and depth == 0 and clause == "FROM":
            raise _fail(sql, token, _JOIN)
        elif token.text == "*" and depth == 0 and clause == "" and not ended:
            raise _fail(sql, token, "name the columns: a star is accepted in count(*) only")
        elif token.kind == "name" and (before is None or before.text != "."):
            if token.word == "SELECT" and before is not None:
                raise _fail(
                    sql, token, "a subquery cannot be shared: join its result to the stream first"
                )
            if token.word == "DISTINCT" and before is not None and before.word == "SELECT":
                raise _fail(
                    sql, token, "SELECT DISTINCT is not supported: a group is one row anyway"
                )
            if token.word == "OVER" and ended and clause == "FROM":
                raise _fail(sql, token, "a timeline for each key cannot be shared: leave OVER out")
            if token.word in _CLAUSES and ended:
                raise _fail(sql, token, f"{token.word}: {_CLAUSES[token.word]}")
            if after is not None and (token.word, after.word) == ("GROUPING", "SETS"):
                raise _fail(sql, token, f"GROUPING SETS: {_GROUPINGS}")
            if ended and after is not None and (token.word, after.word) in _PAIRS:
                reason = _PAIRS[token.word, after.word]
                raise _fail(sql, token, f"{token.word} {after.word}: {reason}")
            if token.word in refused and after is not None and after.text == "(":
                raise _fail(sql, token, f"{token.text}: {refused[token.word]}")
            if token.word == "TOP" and before is not None and before.word == "SELECT" and counted:
                raise _fail(sql, token, f"TOP: {_CLAUSES['LIMIT']}")
            within = before is not None and before.word == "WITHIN"
            if depth == 0 and token.word in ("FROM", "WHERE", "GROUP", "HAVING") and not within:
                clause = token.word
        before = token


def _ends_operand(token: Token) -> bool:
    """Whether a token ends an operand, so that a keyword after it begins a clause."""
    words = ("SELECT", "FROM", "WHERE", "BY", "HAVING", "AND", "OR", "NOT", "AS", "IN", "LIKE")
    return token.text in (")", "]") or (token.kind != "op" and token.word not in words)


def _fail(sql: str, token: Token, message: str) -> QueryError:
    return QueryError(place(sql, token.start, message))
