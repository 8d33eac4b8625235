"""The components of a predicate: conjuncts, and comparisons of an expression with a constant."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal as OneOf

from weft.query.normal import is_constant
from weft.query.syntax.reader import read_expression
from weft.query.syntax.tree import Literal, Node, Op
from weft.query.syntax.writer import write

ComparisonOp = OneOf["=", "<>", "<", "<=", ">", ">="]
_OPS: tuple[ComparisonOp, ...] = ("=", "<>", "<", "<=", ">", ">=")
_SUFFIXES = {"L": "long", "S": "short", "Y": "byte", "F": "float", "D": "double", "BD": "decimal"}


@dataclass(frozen=True)
class Constant:
    """A constant with the type that follows from its SQL.

    `kind` is integer (Spark: int, or as wide as needed), long, short, byte, decimal, double,
    float, string, or the word of a typed literal in lower case (date, timestamp, interval...).
    `value` is the Python number or string; None where only Spark knows it.
    """

    kind: str
    sql: str
    value: int | float | Decimal | str | None


@dataclass(frozen=True)
class Comparison:
    """`expression op constant`; many of these can share one interval index."""

    expression: str
    op: ComparisonOp
    constant: Constant


def conjuncts(predicate: str) -> tuple[str, ...]:
    """The conditions that a normalised predicate joins with AND; itself if it joins none.

    >>> conjuncts("side = 'B' AND (price > 3 OR volume > 50)")
    ("side = 'B'", '(price > 3 OR volume > 50)')
    """
    node = read_expression(predicate)
    if not (isinstance(node, Op) and node.op == "AND"):
        return (predicate,)
    return tuple(write(arg) for arg in node.args)


def comparison(condition: str) -> Comparison | None:
    """A normalised condition as a comparison; None if it is none, and so is opaque.

    >>> comparison("price * volume >= 1000")
    Comparison(expression='price * volume', op='>=',
               constant=Constant(kind='integer', sql='1000', value=1000))
    >>> comparison("price > volume") is None
    True
    """
    node = read_expression(condition)
    while isinstance(node, Op) and node.op == "PAREN":
        node = node.args[0]
    if not isinstance(node, Op) or node.op not in _OPS:
        return None
    left, right = node.args
    constant = constant_of(right)
    if constant is None or is_constant(left):
        return None
    op = next(op for op in _OPS if op == node.op)
    return Comparison(write(left), op, constant)


def constant_of(node: Node) -> Constant | None:
    """A node as a constant, or None; NULL, TRUE and FALSE do not count as constants here."""
    sign = 1
    if isinstance(node, Op) and is_constant(node):
        sign, inner = -1, node.args[0]
    else:
        inner = node
    if not isinstance(inner, Literal) or inner.kind in ("null", "boolean"):
        return None
    text = write(node)
    if inner.kind == "number":
        kind, value = _number(inner.text.upper())
        if sign < 0:
            # Arithmetic on Decimal would round to the 28 digits of its context.
            value = value.copy_negate() if isinstance(value, Decimal) else -value
        return Constant(kind, text, value)
    if inner.kind == "string":
        body = inner.text[1:-1]
        plain = inner.text[0] == "'" and not set(body) & set("'\\")
        return Constant("string", text, body if plain else None)
    return Constant(inner.text.split(" ")[0].lower(), text, None)


def _number(text: str) -> tuple[str, int | float | Decimal]:
    """The kind and value of a number, by Spark's grammar."""
    digits = text.rstrip("BDFLSY")
    suffix = text[len(digits) :]
    kind = _SUFFIXES.get(suffix)
    if kind is None:
        kind = "double" if "E" in digits else ("decimal" if "." in digits else "integer")
    if kind in ("double", "float"):
        return kind, float(digits)
    return kind, Decimal(digits) if kind == "decimal" else int(digits)
