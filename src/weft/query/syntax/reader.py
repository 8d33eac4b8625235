"""Parses Spark SQL text to trees: sqlglot finds the structure, weft's own tokens keep the words.

The tree, written back with Spark's operator precedence, must give the same tokens as the text;
otherwise the text is refused. So `a - b % c`, which some releases of sqlglot parse as
`(a - b) % c`, is refused there with a request for parentheses: no release can change the meaning.
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.errors import ExpressionError
from weft.query.limits import check_text
from weft.query.syntax.converter import convert
from weft.query.syntax.lexer import Token, place, tokenize
from weft.query.syntax.masking import (
    EXPRESSION_WORDS,
    STATEMENT_WORDS,
    Masked,
    join_types,
    mask,
    parse,
)
from weft.query.syntax.tree import Node
from weft.query.syntax.writer import write_tersely


def read_expression(sql: str) -> Node:
    """The tree of one expression.

    >>> read_expression("volume > 50")
    Op(at=0, op='>', args=(Name(at=0, parts=('volume',)), Literal(at=9, kind='number', text='50')))
    """
    check_text(sql, "the expression")
    refuse_substitution(sql)
    masked = mask(sql, EXPRESSION_WORDS)
    if not masked.tokens:
        raise ExpressionError("the expression is empty")
    refuse_tokens(masked)
    try:
        found = parse(masked)
        if len(found) != 1 or found[0] is None:
            raise masked.fail(0, "not one expression")
        node = convert(masked, found[0])
        check(masked, write_tersely(node), node.at)
    except RecursionError:
        raise masked.fail(0, "the expression is nested too deeply") from None
    return node


_REFUSED_WORDS = {
    "SELECT": "a subquery cannot be shared: join its result to the stream first",
    "OVER": "a window function (OVER) cannot be shared: compute it in the stream first",
}
_REFUSED_OPERATORS = {
    ";": "one expression is expected",
    "?": "parameters are not known here",
    "$": "parameters are not known here",
    "@": "variables are not known here",
    "::": "write CAST(value AS type) instead of value::type",
    "=>": "named arguments are not supported",
    ":": "paths into variants are not supported: use a function such as get_json_object",
}


def refuse_substitution(sql: str, begin: int = 0, end: int | None = None) -> None:
    """Refuse text that Spark may substitute before parsing, so that it would parse another text."""
    at = sql.find("${", begin, end)
    if at >= 0:
        raise ExpressionError(
            place(
                sql,
                at,
                "'${' is not accepted, not even in constants and names, because Spark may replace "
                "it by a setting: write concat('$', '{...}')",
            )
        )


def refuse_tokens(masked: Masked) -> None:
    """Refuse what no shared expression may contain: subqueries, window functions, parameters."""
    refuse_operators(masked)
    before, last = "", ""
    for token in masked.tokens:
        if token.kind == "name" and last != ".":
            _refuse_word(masked, token, before, last)
        before, last = last, token.word


def refuse_operators(masked: Masked) -> None:
    """Refuse operators that no shared expression may contain."""
    before: Token | None = None
    for token in masked.tokens:
        if token.kind == "op" and token.text in _REFUSED_OPERATORS:
            marker = token.text == ":" and (before is None or _expects_value(before))
            raise masked.fail(token.start, _REFUSED_OPERATORS["?" if marker else token.text])
        before = token


def _expects_value(token: Token) -> bool:
    """Whether a value follows a token, so that `:` begins a parameter and no path."""
    if token.kind == "op":
        return token.text not in (")", "]")
    return token.word in STATEMENT_WORDS or token.word in ("LIMIT", "WHEN", "THEN", "ELSE")


def _refuse_word(masked: Masked, token: Token, before: str, last: str) -> None:
    if token.word == "SELECT" or (token.word in _REFUSED_WORDS and last in (")", "NULLS")):
        raise masked.fail(token.start, _REFUSED_WORDS[token.word])
    if token.word in ("ANY", "SOME", "ALL") and last in ("LIKE", "ILIKE") and before == "NOT":
        # In Spark "x NOT LIKE ANY" is not the negation of "x LIKE ANY".
        raise masked.fail(
            token.start,
            f"write NOT (x {last} {token.word} (...)), or x NOT {last} for each pattern",
        )


def check(masked: Masked, written: str, at: int, optional: frozenset[str] = frozenset()) -> None:
    """Refuse a text if its tree, written back, has other tokens.

    `optional` words are ignored (AS before a name in SELECT).
    """
    found = _signature(join_types(masked.sql, tokenize(written)), optional)
    if _signature(masked.tokens, optional) != found:
        raise masked.fail(
            at,
            "this is ambiguous, or has a form that weft does not know: put parentheses around its "
            "parts, or compute it as a column of the stream first",
        )


_SPELLINGS = {"==": "=", "!=": "<>", "!": "NOT", "REGEXP": "RLIKE"}


_MOVABLE = frozenset(("NOT", "IGNORE", "RESPECT", "NULLS"))


def _signature(tokens: Sequence[Token], optional: frozenset[str]) -> tuple[list[str], list[str]]:
    """The words of some tokens, and separately those that may be in two positions."""
    words = [_SPELLINGS.get(token.word, token.word) for token in tokens]
    fixed = [word for word in words if word not in _MOVABLE | optional]
    return fixed, sorted(word for word in words if word in _MOVABLE)
