"""SQL expressions: parsed, checked, and normalised so that equal forms have equal meaning."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from weft.errors import ExpressionError
from weft.query.clock_texts import clock_refusal
from weft.query.functions import (
    AGGREGATES,
    CLOCK_WITHOUT_ARGUMENTS,
    CLOCK_WORDS,
    GENERATORS,
    NOT_DETERMINISTIC,
    TIME_WINDOWS,
    WINDOW_FUNCTIONS,
)
from weft.query.normal import column_name, normal
from weft.query.quoting import quoted
from weft.query.syntax.lexer import place
from weft.query.syntax.reader import read_expression
from weft.query.syntax.tree import Call, Lambda, Name, Node, Op, Star, children, walk
from weft.query.syntax.writer import write


def normalise(sql: str) -> str:
    """The normal form of an expression over one row: equal normal forms have equal meaning.

    >>> normalise("50 < Volume")
    'volume > 50'
    >>> normalise("NOT (price BETWEEN 1 AND 2)")
    'price < 1 OR price > 2'
    """
    return _normalised(_text(sql))[0]


def columns(sql: str) -> frozenset[str]:
    """The columns that an expression reads, in lower case; for a field, the column it is in.

    >>> sorted(columns("Price * volume > event.limit"))
    ['event', 'price', 'volume']
    """
    return _normalised(_text(sql))[1]


def _text(sql: str) -> str:
    if not isinstance(sql, str):
        raise ExpressionError(
            f"{quoted(sql)} is not an expression: accepted is a string of Spark SQL"
        )
    return sql


@lru_cache(maxsize=65536)
def _normalised(sql: str) -> tuple[str, frozenset[str]]:
    node = read_expression(sql)
    if isinstance(node, Op) and node.op == "AS":
        raise ExpressionError(place(sql, node.args[1].at, "a name (AS) is not accepted here"))
    check_scalar(sql, node)
    return write(normal(node)), frozenset(columns_of(node))


def columns_of(node: Node, bound: frozenset[str] = frozenset()) -> Iterator[str]:
    """The columns that a tree reads, except the parameters of lambdas."""
    if isinstance(node, Name):
        column = column_name(node.parts[0])
        if column not in bound:
            yield column[1:-1].replace("``", "`") if column.startswith("`") else column
    if isinstance(node, Lambda):
        bound |= {column_name(param) for param in node.params}
    for child in children(node):
        yield from columns_of(child, bound)


def check_scalar(sql: str, node: Node) -> None:
    """Refuse what one row does not determine: aggregates, generators, random values, clocks."""
    for part in walk(node):
        reason = refusal(part)
        if reason is None and isinstance(part, Call):
            if function_name(part) in AGGREGATES:
                reason = (
                    f"{function_name(part)} is an aggregate; here only expressions over one row "
                    f"are accepted"
                )
            elif part.called_as_aggregate:
                reason = (
                    f"{function_name(part)} takes no DISTINCT, FILTER, NULLS or WITHIN GROUP clause"
                )
        if isinstance(part, Star):
            reason = "a star is accepted in count(*) only"
        if reason is not None:
            raise ExpressionError(place(sql, part.at, reason))


def function_name(call: Call) -> str:
    """The function name of a call, in the form in which Spark looks it up."""
    return call.name.strip("`").lower()


def refusal(node: Node) -> str | None:
    """Why a node cannot be part of any expression, or None."""
    if isinstance(node, Name) and len(node.parts) == 1:
        word = node.parts[0].lower()
        if word in CLOCK_WORDS:
            return f"{word} {NOT_DETERMINISTIC[word]}; a column of this name needs backquotes"
    told = clock_refusal(node)
    if told is not None or not isinstance(node, Call):
        return told
    name = function_name(node)
    if name in NOT_DETERMINISTIC:
        return f"{name} {NOT_DETERMINISTIC[name]}"
    if name in CLOCK_WITHOUT_ARGUMENTS and not node.args:
        return f"{name}() {NOT_DETERMINISTIC['now']}"
    if name in GENERATORS:
        return f"{name} makes several rows of one: apply it to the stream first"
    if name in WINDOW_FUNCTIONS:
        return f"{name} is a window function and cannot be shared: compute it in the stream first"
    if name in TIME_WINDOWS:
        return f"{name} makes windows, which a query has apart (window=Window(range=, slide=))"
    return None
