"""The tree of a Spark SQL expression."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal as OneOf

LiteralKind = OneOf["number", "string", "typed", "boolean", "null"]
_BY_UNITS = frozenset(
    ("dateadd", "date_add", "timestampadd", "datediff", "date_diff", "timestampdiff")
)
_UNITS = frozenset(
    (
        *("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "DAYOFYEAR", "HOUR", "MINUTE", "SECOND"),
        *("MILLISECOND", "MICROSECOND"),
    )
)


@dataclass(frozen=True)
class Node:
    """Any expression. Nodes are compared by content, not by their position in the text."""

    at: int = field(default=0, compare=False, kw_only=True)
    """Where in the text the node begins."""


@dataclass(frozen=True)
class Name(Node):
    """A column, or a field of one: `price`, `t.price`, `event.payload.size`; parts as written."""

    parts: tuple[str, ...]


@dataclass(frozen=True)
class Literal(Node):
    """A constant as written."""

    kind: LiteralKind
    text: str


@dataclass(frozen=True)
class Call(Node):
    """A function call, with the clauses that only aggregates accept.

    These are DISTINCT, FILTER, IGNORE NULLS, and WITHIN GROUP (ORDER BY ...).
    """

    name: str
    args: tuple[Node, ...]
    distinct: bool = False
    where: Node | None = None
    nulls: OneOf["IGNORE", "RESPECT"] | None = None
    order: tuple[Ordered, ...] = ()

    @property
    def called_as_aggregate(self) -> bool:
        """Whether it has a clause that only aggregates accept."""
        clauses = (self.distinct, self.where is not None, self.nulls is not None, self.order)
        return any(clauses)


@dataclass(frozen=True)
class Ordered(Node):
    """A value to order by, in WITHIN GROUP; an explicit ASC is kept."""

    value: Node
    direction: OneOf["ASC", "DESC"] | None = None


@dataclass(frozen=True)
class Star(Node):
    """The star of `count(*)`."""


@dataclass(frozen=True)
class Op(Node):
    """An operator and its operands; `writer` knows how each is written.

    AND and OR have any number of operands, so that they need no nesting.
    """

    op: str
    args: tuple[Node, ...]


@dataclass(frozen=True)
class Case(Node):
    """CASE [operand] WHEN ... THEN ... [ELSE ...] END."""

    operand: Node | None
    whens: tuple[tuple[Node, Node], ...]
    otherwise: Node | None


@dataclass(frozen=True)
class Cast(Node):
    """CAST or TRY_CAST, or EXTRACT with the field as its type."""

    function: str
    value: Node
    to: str


@dataclass(frozen=True)
class Lambda(Node):
    """`x -> body`, `(x, y) -> body`."""

    params: tuple[str, ...]
    body: Node


def children(node: Node) -> Iterator[Node]:
    """The direct children of a node, in text order.

    A field's name is not a node, nor is a unit: `MINUTE` in `timestampdiff(MINUTE, a, b)`.
    """
    if isinstance(node, Op):
        yield from node.args[:1] if _is_field(node) else node.args
    elif isinstance(node, Call):
        yield from node.args[1:] if _has_unit(node) else node.args
        yield from node.order
        if node.where is not None:
            yield node.where
    elif isinstance(node, Case):
        if node.operand is not None:
            yield node.operand
        for condition, value in node.whens:
            yield condition
            yield value
        if node.otherwise is not None:
            yield node.otherwise
    elif isinstance(node, Cast | Ordered):
        yield node.value
    elif isinstance(node, Lambda):
        yield node.body


def walk(node: Node) -> Iterator[Node]:
    """The node and everything under it, in the order of the text."""
    yield node
    for child in children(node):
        yield from walk(child)


def rebuild(node: Node, change: Callable[[Node], Node]) -> Node:
    """The node with each direct child replaced; the same node if nothing changed."""
    if isinstance(node, Op):
        kept = node.args[1:] if _is_field(node) else ()
        args = (*[change(arg) for arg in node.args[: len(node.args) - len(kept)]], *kept)
        return node if _same(args, node.args) else Op(node.op, args, at=node.at)
    if isinstance(node, Call):
        unit = node.args[:1] if _has_unit(node) else ()
        args = (*unit, *[change(arg) for arg in node.args[len(unit) :]])
        where = None if node.where is None else change(node.where)
        order = tuple([replace(one, value=change(one.value)) for one in node.order])
        if where is node.where and _same(args, node.args) and not order:
            return node
        return replace(node, args=args, where=where, order=order)
    if isinstance(node, Case):
        return replace(
            node,
            operand=None if node.operand is None else change(node.operand),
            whens=tuple((change(condition), change(value)) for condition, value in node.whens),
            otherwise=None if node.otherwise is None else change(node.otherwise),
        )
    if isinstance(node, Cast | Ordered):
        return replace(node, value=change(node.value))
    if isinstance(node, Lambda):
        return replace(node, body=change(node.body))
    return node


def _is_field(node: Op) -> bool:
    """Whether the node is a field of a value, as in `max(struct(a, b)).b`."""
    return node.op == "." and isinstance(node.args[1], Name)


def _has_unit(node: Call) -> bool:
    """Whether the first argument is a unit of time, and not a column of that name."""
    first = node.args[0] if len(node.args) == 3 else None
    word = first.parts[0] if isinstance(first, Name) and len(first.parts) == 1 else ""
    return word.upper() in _UNITS and node.name.lower() in _BY_UNITS


def _same(left: tuple[Node, ...], right: tuple[Node, ...]) -> bool:
    return all(a is b for a, b in zip(left, right, strict=True))
