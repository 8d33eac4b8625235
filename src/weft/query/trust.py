"""Queries from a file or from another person: they call only functions that are Spark's own.

A function of somebody's own (UDF) runs code. Python code that makes a `Query` may name any that it
has registered; a job file, a file of SQL, `weft query add` and the dashboard may name those that
the owner of the process allows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches

from weft.errors import ExpressionError
from weft.query.expression import function_name
from weft.query.functions import AGGREGATES
from weft.query.limits import FUNCTIONS, allows
from weft.query.query import Query
from weft.query.scalar_functions import SCALAR_FUNCTIONS
from weft.query.syntax.lexer import place
from weft.query.syntax.reader import read_expression
from weft.query.syntax.tree import Call, Node, walk


def check_functions(queries: Iterable[Query]) -> None:
    """Refuse a query that calls what may be somebody's own function.

    >>> from weft.query.window import Window
    >>> asked = Query("q", aggs={"n": "count(*)"}, window=Window(range="1 hour"), where="odd(x)")
    >>> check_functions([asked])
    Traceback (most recent call last):
    weft.errors.ExpressionError: query 'q': odd is not one of Spark's own deterministic functions...
    """
    for query in queries:
        for sql in _expressions(query):
            for part in walk(read_expression(sql)):
                reason = unknown(part)
                if reason is not None:
                    raise ExpressionError(f"query {query.name!r}: {place(sql, part.at, reason)}")


def unknown(node: Node) -> str | None:
    """Why a node calls what may be a function of somebody's own; None if it does not, or may."""
    if not isinstance(node, Call):
        return None
    name = function_name(node)
    if name in SCALAR_FUNCTIONS or name in AGGREGATES or allows(name):
        return None
    near = get_close_matches(name, SCALAR_FUNCTIONS | AGGREGATES, n=3, cutoff=0.7)
    meant = f" (did you mean {' or '.join(near)}?)" if near else ""
    return (
        f"{name} is not one of Spark's own deterministic functions{meant}; a function of your own "
        f"(UDF) runs code, and is accepted where whoever runs this allows it: "
        f"{FUNCTIONS}={name} in the environment"
    )


def _expressions(query: Query) -> Iterator[str]:
    if query.where:
        yield query.where
    yield from (key.native for key in query.keys)
    yield from (output.native for output in query.outputs)
    if query.having_filter is not None:
        yield query.having_filter.native
