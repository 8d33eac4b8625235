"""Checks the text of statements that run unchanged on Spark: value sizes and patterns.

The tree that Spark parses (`statement_tree`) shows which tables and functions a statement uses. The
sizes of values, and the patterns that they are matched with, are checked here as in a shared query,
call by call: each call in the text is parsed separately. A call that cannot be parsed (because it
contains a subquery) is refused unless its function name alone bounds the size of its value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from weft.errors import ExpressionError
from weft.query.clock_texts import WORDS
from weft.query.functions import CLOCK_WITHOUT_ARGUMENTS
from weft.query.limits import allows, check_text
from weft.query.syntax.lexer import Token, closed, place, tokenize
from weft.query.syntax.reader import read_expression, refuse_substitution
from weft.query.syntax.tree import walk
from weft.query.trust.allowed import GROWTH, OPTIONS
from weft.query.trust.matching import REGULAR, matching_refusal
from weft.query.trust.untrusted import options_refusal
from weft.query.trust.value_size import check_value_size

_ONLY_PLAIN = frozenset((*REGULAR, *OPTIONS))
_SKETCHES = frozenset(
    (
        *("approx_count_distinct", "approx_percentile", "approx_top_k", "bitmap_construct_agg"),
        *("count_min_sketch", "histogram_numeric", "percentile_approx", "stack"),
    )
)
_MOST = 10_000
"""The maximum of a constant of a sketch, and of its reciprocal."""
_MATCHES = frozenset(("LIKE", "ILIKE", "RLIKE", "REGEXP"))


def check_statement_text(sql: str) -> None:
    """Refuse a statement with calls whose values are too large, or patterns that take forever.

    >>> check_statement_text("SELECT repeat(name, 1000000000) FROM t")
    Traceback (most recent call last):
    weft.errors.ExpressionError: repeat makes a value of up to 1,000,000,000,000 bytes of ...
    """
    check_text(sql, "the statement")
    refuse_substitution(sql)
    tokens = tokenize(sql)
    index = 0
    while index < len(tokens):
        token = tokens[index]
        if token.word in _MATCHES and token.kind == "name":
            _check_match(sql, tokens, index)
        name = token.text.strip("`").lower()
        _check_sketch(sql, tokens, index, name)
        called = index + 1 < len(tokens) and tokens[index + 1].text == "("
        if called and token.word == "FILTER" and index and tokens[index - 1].text == ")":
            called = False  # the clause
        if called and token.word == "EXISTS" and tokens[index + 2 : index + 3]:
            called = tokens[index + 2].word not in ("SELECT", "WITH")  # not the function
        if called and token.kind in ("name", "quoted") and (name in GROWTH or name in REGULAR):
            end = min(closed(tokens, index + 1), len(tokens) - 1)
            if _is_checked(sql, sql[token.start : tokens[end].end], token):
                index = end
            elif not allows(name) and (GROWTH.get(name) == "own" or name in _ONLY_PLAIN):
                raise ExpressionError(
                    place(sql, token.start, f"{name} is accepted with plain arguments only")
                )
        index += 1


def _inside(text: str) -> str:
    """The text between the quotes of a constant of any type: that of `DATE 'Today '` is today."""
    return text.rstrip("'\" ").rpartition("'")[2].rpartition('"')[2].strip().lower()


def refuse_clocks(sql: str) -> None:
    """Refuse a statement that runs repeatedly if it may refer to the current time.

    >>> refuse_clocks("SELECT TIMESTAMP 'now'")
    Traceback (most recent call last):
    weft.errors.ExpressionError: TIMESTAMP 'now' may mean the time at which the statement runs...
    """
    tokens = tokenize(sql)
    for index, token in enumerate(tokens):
        after = [one.text for one in tokens[index + 1 : index + 3]]
        reason = None
        if token.text.strip("`").lower() in CLOCK_WITHOUT_ARGUMENTS and after == ["(", ")"]:
            reason = f"{token.text}() is the time at which the statement runs"
        elif token.kind in ("string", "literal") and _inside(token.text) in WORDS:
            reason = f"{token.text} may mean the time at which the statement runs"
        if reason is not None:
            raise ExpressionError(place(sql, token.start, f"{reason}: use a constant"))


def _check_sketch(sql: str, tokens: Sequence[Token], index: int, name: str) -> None:
    """Refuse a number in the call of a sketch, or of `stack`, that needs much memory."""
    if name not in _SKETCHES or tokens[index + 1 : index + 2] == []:
        return
    if tokens[index + 1].text != "(":
        return
    for token in tokens[index + 2 : closed(tokens, index + 1)]:
        if token.kind == "number":
            value = abs(float(token.text.rstrip("lLsSyYfFdDbB")))
            if value > _MOST or 0 < value < 1 / _MOST:
                reason = f"{name} would keep too much for {token.text}: at most {_MOST:,}"
                raise ExpressionError(place(sql, token.start, reason))


def _is_checked(sql: str, text: str, token: Token) -> bool:
    """Whether a call can be parsed separately; raises if it is not allowed."""
    try:
        node = read_expression(text)
    except ExpressionError:
        return False
    for part in walk(node):
        reason = matching_refusal(text, part) or options_refusal(part)
        if reason is not None:
            raise ExpressionError(place(sql, token.start, reason))
    try:
        check_value_size(text, node)
    except ExpressionError as error:
        reason = str(error).partition(" (line 1, ")[0]
        raise ExpressionError(place(sql, token.start, reason)) from None
    return True


def _check_match(sql: str, tokens: Sequence[Token], index: int) -> None:
    """Check the pattern of `x RLIKE 'a+'`, as if it were matched with a column."""
    for pattern in _patterns(sql, tokens, index + 1):
        if pattern.kind != "string" and tokens[index].word not in ("LIKE", "ILIKE"):
            reason: str | None = "a pattern is accepted as a constant only"
        else:
            text = f"x {tokens[index].word} {pattern.text}" if pattern.kind == "string" else "x"
            reason = matching_refusal(text, read_expression(text))
        if reason is not None:
            raise ExpressionError(place(sql, pattern.start, reason))


def _patterns(sql: str, tokens: Sequence[Token], index: int) -> Iterator[Token]:
    if index < len(tokens) and tokens[index].word in ("ANY", "SOME", "ALL"):
        index += 1
        yield from (t for t in tokens[index : closed(tokens, index)] if t.kind == "string")
    elif index < len(tokens):
        yield tokens[index]
        if index + 1 < len(tokens) and tokens[index + 1].kind == "string":
            reason = "a pattern is accepted as one constant"
            raise ExpressionError(place(sql, tokens[index + 1].start, reason))
