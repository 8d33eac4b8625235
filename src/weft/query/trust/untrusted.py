"""The first gate for untrusted queries: checks their text as parsed by weft.

SQL text, files of queries, requests, the dashboard and job files are untrusted; a `Query` made in
Python code is trusted and not checked (unless it has `trusted=False`). This is the first of two
gates. The second, `weft.spark.parsed`, checks the tree that Spark itself has parsed, and does not
rely on this one.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache

from weft.algebra.part import Part
from weft.errors import ExpressionError
from weft.query.expression import function_name
from weft.query.functions import AGGREGATES
from weft.query.limits import FUNCTIONS, LIMITS, allows, limits
from weft.query.query import Query
from weft.query.syntax.lexer import place
from weft.query.syntax.literals import string_value
from weft.query.syntax.reader import read_expression
from weft.query.syntax.tree import Call, Literal, Name, Node, Op, walk
from weft.query.trust.allowed import OPTIONS, REACHING, SCALAR_FUNCTIONS
from weft.query.trust.matching import matching_refusal
from weft.query.trust.value_size import check_value_size


def check_untrusted(queries: Iterable[Query]) -> None:
    """Refuse untrusted queries that access more than their rows, or make too large values.

    >>> from weft.query.window import Window
    >>> asked = Query("q", aggs={"n": "count(*)"}, window=Window(range="1 hour"), where="odd(x)",
    ...               trusted=False)
    >>> check_untrusted([asked])
    Traceback (most recent call last):
    weft.errors.ExpressionError: query 'q': odd is not one of Spark's own deterministic functions...
    """
    for query in queries:
        if query.trusted:
            continue
        try:
            for text in texts(query):
                check_expression(text.sql)
            for part in query.parts:
                _check_kept(part)
        except ExpressionError as error:
            raise ExpressionError(f"query {query.name!r}: {error}") from None


def check_expression(sql: str) -> None:
    """Refuse one expression of an untrusted query."""
    _checked(sql, os.environ.get(LIMITS, ""), os.environ.get(FUNCTIONS, ""))


@lru_cache(maxsize=65536)
def _checked(sql: str, limits: str, functions: str) -> None:
    """Check an expression; cached, so that it is checked once under the same settings."""
    node = read_expression(sql)
    for part in walk(node):
        reason = refusal(sql, part)
        if reason is not None:
            raise ExpressionError(place(sql, part.at, reason))
    check_value_size(sql, node)


def refusal(sql: str, node: Node) -> str | None:
    """Why an untrusted text may not contain a node; None if it may."""
    if isinstance(node, Op) and node.op == "." and not isinstance(node.args[1], Name):
        return "a function with a name in front of it is somebody's own: write it without"
    reason = matching_refusal(sql, node)
    if reason is not None or not isinstance(node, Call):
        return reason
    name = function_name(node)
    if allows(name):
        return None
    if name in REACHING:
        return f"{name} {REACHING[name]}; {_allow(name)}"
    if name not in SCALAR_FUNCTIONS and name not in AGGREGATES:
        near = get_close_matches(name, SCALAR_FUNCTIONS | AGGREGATES, n=3, cutoff=0.7)
        meant = f" (did you mean {' or '.join(near)}?)" if near else ""
        return (
            f"{name} is not one of Spark's own deterministic functions{meant}; a function of your "
            f"own (UDF) runs code: {_allow(name)}, or, in Python, with trusted=True"
        )
    return options_refusal(node)


def _allow(name: str) -> str:
    return (
        f"it is accepted where whoever runs this allows it: {FUNCTIONS}={name} in the environment"
    )


def options_refusal(call: Node) -> str | None:
    """Why options are refused: they must be a constant map of known names, as some name files."""
    if not isinstance(call, Call):
        return None
    name = function_name(call)
    position, known = OPTIONS.get(name, (len(call.args), frozenset()))
    if position >= len(call.args):
        return None
    given = call.args[position]
    if not isinstance(given, Call) or function_name(given) != "map":
        return f"{name}: its options have to be written as map('option', 'value', ...)"
    for key in given.args[::2]:
        text = string_value(key) if isinstance(key, Literal) else None
        if text is None or text.lower() not in known:
            shown = "a name that is no constant" if text is None else repr(text[:60])
            return (
                f"{name}: option {shown} is not accepted; accepted are {', '.join(sorted(known))}"
            )
    return None


def _check_kept(part: Part) -> None:
    """Refuse a part whose constant requires much memory, because every group stores one."""
    needed = 0
    if part.kind == "hll":
        needed = 2 ** int(part.options[0])
    elif part.kind.startswith(("first_n", "last_n")):
        needed = 8 * int(part.options[0])
    most = limits().value_bytes
    if needed > most:
        raise ExpressionError(
            f"{part} would keep up to {needed:,} bytes for every group: at most {most:,} are "
            f"accepted (the limit value_bytes of {LIMITS})"
        )


@dataclass(frozen=True)
class Text:
    """An expression of a query, and the names that it may use besides the stream's columns."""

    sql: str
    names: frozenset[str] = frozenset()


def texts(query: Query) -> Iterator[Text]:
    """Every expression of a query, in the given form and in the form that runs."""
    rows = [query.where, query.predicate]
    rows += [sql for key in query.keys for sql in (key.native, key.expression)]
    rows += [output.native for output in query.outputs]
    rows += [sql for part in query.parts for sql in (*part.args, part.where)]
    yield from (Text(sql) for sql in rows if sql)
    having = query.having_filter
    answers = frozenset(("window", *(key.name for key in query.keys)))
    if having is not None:
        yield Text(having.native, answers)
    named = answers | {output.name for output in query.outputs}
    yield from (Text(sql, named) for sql, _ in query.shown or ())
    for output in (*query.outputs, *([] if having is None else [having])):
        values = [f"weft_{position}" for position in range(len(output.calls))]
        yield Text(output.render(values), answers | frozenset(values))
