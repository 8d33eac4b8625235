"""The second gate: checks that the tree that Spark itself parsed contains only what is allowed.

Spark's parser gives the tree as JSON, each node with its class and the number of its children. The
check does not depend on weft's own parse of the text: a class that is not in `CLASSES`, a function
that is not allowed, or a name that is not a column of the stream is refused. So if weft and Spark
parse a text differently, what counts is what Spark would run.

    x > 5 AND upper(s) = 'A'
    And
    ├── GreaterThan (UnresolvedAttribute x, Literal 5)
    └── EqualTo (UnresolvedFunction upper (UnresolvedAttribute s), Literal A)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from weft.errors import ExpressionError
from weft.query.functions import AGGREGATES
from weft.query.limits import allows
from weft.query.syntax.reader import read_expression
from weft.query.syntax.tree import Lambda, Name, Node, Op, children
from weft.query.trust.allowed import SCALAR_FUNCTIONS

CLASSES = frozenset(
    """
    Add Alias And BitwiseAnd BitwiseNot BitwiseOr BitwiseXor CaseWhen Cast Concat CreateNamedStruct
    Divide EqualNullSafe EqualTo GreaterThan GreaterThanOrEqual ILike In IntegralDivide IsNotNull
    IsNull LambdaFunction LessThan LessThanOrEqual Like LikeAll LikeAny Literal Lower Multiply Not
    NotLikeAll NotLikeAny Or RLike Remainder ShiftLeft ShiftRight ShiftRightUnsigned SortOrder
    Subtract TimestampAdd TimestampDiff UnaryMinus UnaryPositive UnresolvedAttribute
    UnresolvedExtractValue UnresolvedFunction UnresolvedNamedLambdaVariable
    """.split()  # noqa: SIM905
)
"""The expression classes of Spark's parser that are only operators, constants, columns and calls.

Deliberately excluded are subqueries, scripts, stars, parameters, variables, window functions,
clauses such as IDENTIFIER, and functions of time and user that need no parentheses.
"""
FUNCTIONS = SCALAR_FUNCTIONS | AGGREGATES | {"between"}
"""Accepted names of calls that are not functions: BETWEEN is a call in Spark's tree."""

NOT_A_COLUMN = "is not a column of the stream"

Nodes = Sequence[Mapping[str, Any]]
Known = Callable[[tuple[str, ...]], bool]


def tree_refusal(sql: str, nodes: Nodes, is_column: Known) -> str | None:
    """Why Spark's tree of a text is refused; None if everything in it is allowed.

    >>> nodes = [{"class": "org.apache.spark.sql.catalyst.expressions.ScalarSubquery",
    ...           "num-children": 0}]
    >>> tree_refusal("x", nodes, lambda parts: True)
    'Spark reads ScalarSubquery in it, which is not accepted from an untrusted query'
    """
    reasons = _judged(iter(nodes), _names_in(sql), is_column, frozenset())
    return next((reason for reason in reasons if reason is not None), None)


def name_refusal(sql: str, is_column: Known) -> str | None:
    """Why weft's parse of a text has a name that is not a column; None if it has not."""

    def refused(node: Node, bound: frozenset[str]) -> Iterator[str]:
        if isinstance(node, Name):
            parts = tuple(map(_unquoted, node.parts))
            if parts[0].casefold() not in bound and not is_column(parts):
                yield f"{'.'.join(parts)[:80]!r} {NOT_A_COLUMN}"
        if isinstance(node, Lambda):
            bound |= {_unquoted(param).casefold() for param in node.params}
        below = node.args[:1] if isinstance(node, Op) and node.op == "AS" else children(node)
        for child in below:
            yield from refused(child, bound)

    return next(refused(read_expression(sql), frozenset()), None)


def _judged(
    nodes: Iterator[Mapping[str, Any]],
    names: Mapping[str, tuple[str, ...]],
    is_column: Known,
    bound: frozenset[str],
) -> Iterator[str | None]:
    """The refusals of the next node and its descendants; nodes are in preorder."""
    node = next(nodes)
    kind = str(node["class"]).rpartition(".")[2]
    if kind not in CLASSES:
        yield f"Spark reads {kind} in it, which is not accepted from an untrusted query"
        return  # its descendants do not matter any more
    if kind in ("UnresolvedAttribute", "UnresolvedNamedLambdaVariable"):
        yield _name_refusal(str(node["nameParts"]), names, is_column, bound)
    if kind == "UnresolvedFunction":
        yield _function_refusal(str(node["nameParts"]))
    count = int(node["num-children"])
    if kind != "LambdaFunction":
        for _ in range(count):
            yield from _judged(nodes, names, is_column, bound)
        return
    # The body precedes the parameters, to which it may refer.
    below = [_subtree(nodes) for _ in range(count)]
    params = frozenset(str(some[0].get("nameParts", "")) for some in below[1:])
    yield from _judged(iter(below[0]), names, is_column, bound | params)


def _subtree(nodes: Iterator[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The next node and its descendants."""
    found, left = [], 1
    while left:
        node = next(nodes)
        found.append(node)
        left += int(node["num-children"]) - 1
    return found


def _name_refusal(
    said: str, names: Mapping[str, tuple[str, ...]], is_column: Known, bound: frozenset[str]
) -> str | None:
    parts = names.get(said.casefold())
    shown = said[1:-1].replace(", ", ".")[:80]
    if parts is None:
        return f"Spark reads the name {shown!r} in it, and weft does not"
    first = f"[{parts[0]}]".casefold()
    if first in {param.casefold() for param in bound} or is_column(parts):
        return None
    return f"{shown!r} {NOT_A_COLUMN}"


def _function_refusal(said: str) -> str | None:
    name = said[1:-1].lower()
    if name in FUNCTIONS or (", " not in name and allows(name)):
        return None
    return f"Spark reads a call of {name.replace(', ', '.')!r} in it, which is not allowed"


@lru_cache(maxsize=16384)
def _names_in(sql: str) -> Mapping[str, tuple[str, ...]]:
    try:
        return dict(_names(read_expression(sql)))
    except ExpressionError:  # the first gate reports this; here every name counts as unknown
        return {}


def _names(node: Node) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The names in weft's parse, by their form in Spark's JSON.

    They are only used to split a name into its parts, which is ambiguous in the form `[a, b]`.
    """
    if isinstance(node, Name):
        parts = tuple(map(_unquoted, node.parts))
        yield f"[{', '.join(parts)}]".casefold(), parts
    if isinstance(node, Lambda):
        for param in map(_unquoted, node.params):
            yield f"[{param}]".casefold(), (param,)
    if isinstance(node, Op) and node.op == "AS":
        yield from _names(node.args[0])
        return
    for child in children(node):
        yield from _names(child)


def _unquoted(text: str) -> str:
    return text[1:-1].replace("``", "`") if text.startswith("`") else text
