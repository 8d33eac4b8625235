"""Whether an expression can fail on some row, and how to evaluate it only where Spark would.

When a query runs alone, Spark evaluates its conjuncts from left to right, each only if all before
it are TRUE. In one projection with other queries this does not hold: Spark moves subexpressions
that occur twice out of AND and OR (though never out of CASE) and evaluates them for every row.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from weft.query.functions import NEVER_FAIL
from weft.query.predicate import constant_of
from weft.query.syntax.tree import Call, Case, Cast, Lambda, Literal, Name, Node, Op, children
from weft.query.syntax.writer import COMPARISONS, write

TypeOf = Callable[[str], str | None]
"""The name of the Spark type of an SQL expression; None if it is unknown."""

_INTEGERS = ("tinyint", "smallint", "int", "bigint")
_FLOATS = ("float", "double")
_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
_TEMPORAL = ("date", "timestamp", "timestamp_ntz")
_MOMENT = re.compile(r"'\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?)?'")
# The Spark types of the kinds of constants, for comparisons.
_KINDS = {
    **dict.fromkeys(("integer", "byte", "short", "long"), "bigint"),
    **{kind: kind for kind in ("float", "double", "string", *_TEMPORAL)},
    "timestamp_ltz": "timestamp",
}
# Functions of doubles that never fail: where they are undefined, they return NaN.
_OF_DOUBLES = frozenset(("abs", "sqrt", "cbrt", "exp", "ln", "log10", "log2", "pow", "signum"))
_ANY_TYPE = frozenset(("isnull", "isnotnull", "isnan", "nanvl"))
_TRUTH = frozenset(
    ("AND", "OR", "NOT", "IS NULL", "IS NOT NULL", "IS TRUE", "IS NOT TRUE", "IS FALSE")
) | {"IS NOT FALSE", "PAREN"}
_COMPARED = (*COMPARISONS, "IN", "NOT IN", "BETWEEN", "NOT BETWEEN", "IS DISTINCT FROM")
# Operators whose result type has to be looked up; the others are boolean.
_VALUES = frozenset(
    ["+", "-", "*", "/", "%", "DIV", "||", "&", "|", "^", "<<", ">>", ">>>", "NEG", "~", "[]", "."]
)
TRUE, FALSE = Literal("boolean", "TRUE"), Literal("boolean", "FALSE")


def may_raise(node: Node, type_of: TypeOf) -> bool:
    """Whether a tree may fail on some row in ANSI mode; True in case of doubt.

    >>> from weft.query.syntax.reader import read_expression
    >>> types = {"x": "int", "price": "double"}.get
    >>> may_raise(read_expression("x > 5 AND price * 2D < 7"), types)
    False
    >>> may_raise(read_expression("1 / x > 2"), types)
    True
    """
    if isinstance(node, (Name, Literal)) or constant_of(node) is not None:
        return False
    if isinstance(node, (Case, Lambda)):
        return True
    if any(may_raise(child, type_of) for child in children(node)):
        return True
    if isinstance(node, Cast):
        return not _safe_cast(node, type_of)
    if isinstance(node, Call):
        return not _safe_call(node, type_of)
    assert isinstance(node, Op), node
    return not _safe_operator(node, type_of)


def typed_expressions(nodes: Sequence[Node]) -> Iterator[str]:
    """The SQL of all subexpressions whose type decides what can fail or be indexed."""
    for node in nodes:
        if isinstance(node, Lambda) or constant_of(node) is not None:
            continue
        if isinstance(node, (Name, Cast, Call, Case)) or (
            isinstance(node, Op) and node.op in _VALUES
        ):
            yield write(node)
        if not any(isinstance(child, Lambda) for child in children(node)):
            yield from typed_expressions(list(children(node)))


def guarded(node: Node, conjuncts: Sequence[Node]) -> Node:
    """The node, evaluated only where all conjuncts are TRUE; elsewhere null.

    >>> from weft.query.syntax.reader import read_expression as read
    >>> write(guarded(read("1 / x"), [read("x <> 0"), read("flag")]))
    'CASE WHEN x <> 0 THEN CASE WHEN flag THEN 1 / x END END'
    """
    for conjunct in reversed(conjuncts):
        node = Case(None, ((conjunct, node),), None)
    return node


def shielded(node: Node, type_of: TypeOf) -> Node:
    """The same condition without AND or OR above expressions that can fail, in the same order.

    >>> from weft.query.syntax.reader import read_expression as read
    >>> write(shielded(read("x = 0 OR 1 / x > 2"), {"x": "int"}.get))
    'CASE WHEN x = 0 THEN TRUE ELSE 1 / x > 2 OR x = 0 END'
    """
    if not isinstance(node, Op) or not may_raise(node, type_of):
        return node
    args = [shielded(arg, type_of) for arg in node.args]
    if node.op not in ("AND", "OR"):
        return Op(node.op, tuple(args)) if node.op in _TRUTH else node
    *before, last = args
    # The last branch also gives the null results; what it repeats was already evaluated.
    otherwise = Op(node.op, (last, *before))
    if node.op == "OR":
        return Case(None, tuple((arg, TRUE) for arg in before), otherwise)
    return Case(None, tuple((Op("NOT", (arg,)), FALSE) for arg in before), otherwise)


def _safe_cast(node: Cast, type_of: TypeOf) -> bool:
    if node.function == "TRY_CAST":
        return True
    to, source = node.to.lower(), _type(node.value, type_of)
    if source is None or node.function != "CAST":
        return False
    widens = source in _INTEGERS and to in ("bigint", "long", "double", "float")
    return to == "string" or to == source or widens or (source in _FLOATS and to == "double")


def _safe_call(node: Call, type_of: TypeOf) -> bool:
    name = node.name.lower()
    if name in _ANY_TYPE:
        return True
    types = [_type(arg, type_of) for arg in node.args]
    if name in NEVER_FAIL:
        return all(kind == "string" for kind in types)
    if name in _OF_DOUBLES:
        return all(kind in _FLOATS for kind in types)
    if name in ("coalesce", "greatest", "least", "nullif"):
        return len(set(types)) == 1 and types[0] is not None
    return False


def _safe_operator(node: Op, type_of: TypeOf) -> bool:
    if node.op in _TRUTH:
        return True
    types = [_type(arg, type_of) for arg in node.args]
    if node.op in _COMPARED:
        return all(
            _comparable(types[0], other) or (types[0] in _TEMPORAL and _is_moment(arg))
            for other, arg in zip(types[1:], node.args[1:], strict=True)
        )
    if node.op in ("LIKE", "NOT LIKE", "||"):
        patterns = [arg for arg in node.args[1:] if isinstance(arg, Literal)]
        escapes = any("\\" in pattern.text for pattern in patterns)
        known = len(patterns) == 1 or node.op == "||"
        return known and len(node.args) == 2 and not escapes and set(types) == {"string"}
    if node.op in ("+", "-", "*", "NEG"):
        # Spark computes with doubles if one of the two numbers is a float or double.
        numbers = all(kind is not None and _is_number(kind) for kind in types)
        return numbers and any(kind in _FLOATS for kind in types)
    if node.op in ("/", "%"):
        divisor = constant_of(node.args[1])
        return types[0] in _FLOATS and divisor is not None and bool(divisor.value)
    return False


def _type(node: Node, type_of: TypeOf) -> str | None:
    constant = constant_of(node)
    if isinstance(node, Literal) and node.kind in ("boolean", "null"):
        return "boolean" if node.kind == "boolean" else "void"
    if constant is None:
        found = type_of(write(node))
        if found is None and isinstance(node, Op) and node.op in ("+", "-", "*", "/", "NEG"):
            floating = any(_type(arg, type_of) in _FLOATS for arg in node.args)
            return "double" if floating else None
        return found
    if constant.kind == "decimal":
        digits = re.sub(r"[^0-9.]", "", constant.sql)
        scale = len(digits.partition(".")[2])
        return f"decimal({max(len(digits.replace('.', '')), scale, 1)},{scale})"
    return _KINDS.get(constant.kind)


def _is_moment(node: Node) -> bool:
    """Whether a node is a string that every Spark version parses as a date or a time."""
    return isinstance(node, Literal) and _MOMENT.fullmatch(node.text) is not None


def _is_number(kind: str) -> bool:
    return kind in _INTEGERS or kind in _FLOATS or _DECIMAL.fullmatch(kind) is not None


def _comparable(left: str | None, right: str | None) -> bool:
    """Whether two types can be compared without a conversion that may fail."""
    if left is None or right is None:
        return False
    if left == right or "void" in (left, right) or (left in _TEMPORAL and right in _TEMPORAL):
        return True
    if not (_is_number(left) and _is_number(right)):
        return False
    if left in _FLOATS or right in _FLOATS:
        return True
    (whole_a, scale_a), (whole_b, scale_b) = _digits(left), _digits(right)
    return max(whole_a, whole_b) + max(scale_a, scale_b) <= 38


def _digits(kind: str) -> tuple[int, int]:
    """Digits before and after the point."""
    found = _DECIMAL.fullmatch(kind)
    if found is None:
        return {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 20}[kind], 0
    precision, scale = int(found[1]), int(found[2])
    return precision - scale, scale
