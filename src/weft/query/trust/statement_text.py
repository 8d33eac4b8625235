"""Whole statements that run as they are: what their expressions may make of a row.

The tree that Spark parses (`statement_tree`) says which tables and functions a statement uses. How
large values grow, and which patterns they are matched with, is judged here as in a shared query,
call by call: each call of a text is read by itself. One that cannot be (it holds a subquery) is
refused if its name alone does not bound what it makes.
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
"""What a constant of a sketch may be, or one divided by it."""
_MATCHES = frozenset(("LIKE", "ILIKE", "RLIKE", "REGEXP"))


def check_statement_text(sql: str) -> None:
    """Refuse a statement with calls that make too much of a row, or patterns that take forever.

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
    """What is between the quotes of a constant, whatever its type: `DATE 'Today '` says today."""
    return text.rstrip("'\" ").rpartition("'")[2].rpartition('"')[2].strip().lower()


def refuse_clocks(sql: str) -> None:
    """Refuse a statement that is run again if it may mean the time at which it runs.

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
    """Refuse a number in the call of a sketch, or of `stack`, that asks for much memory."""
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
    """Whether a call can be read by itself; what is wrong with it is raised."""
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
    """The pattern of `x RLIKE 'a+'`, as if it were matched with a column."""
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
