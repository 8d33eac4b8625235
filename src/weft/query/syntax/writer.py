"""Writes trees as Spark SQL: with only the parentheses Spark needs, or with those for clarity."""

from __future__ import annotations

from weft.query.syntax.tree import (
    Call,
    Case,
    Cast,
    Lambda,
    Literal,
    Name,
    Node,
    Op,
    Star,
    rebuild,
)

_MANY = ("ANY", "SOME", "ALL")

# How tightly each operator binds in Spark's grammar (SqlBaseParser.g4: booleanExpression,
# predicate, valueExpression, primaryExpression).
_BINDING = {
    "OR": 1,
    "AND": 2,
    "NOT": 3,
    **dict.fromkeys(
        ["IS NULL", "IS NOT NULL", "IS TRUE", "IS NOT TRUE", "IS FALSE", "IS NOT FALSE"], 4
    ),
    **dict.fromkeys(["IN", "NOT IN", "BETWEEN", "NOT BETWEEN"], 4),
    **dict.fromkeys(["LIKE", "NOT LIKE", "ILIKE", "NOT ILIKE", "RLIKE", "NOT RLIKE"], 4),
    **dict.fromkeys(["IS DISTINCT FROM", "IS NOT DISTINCT FROM"], 4),
    **{f"{like} {many}": 4 for like in ("LIKE", "ILIKE") for many in _MANY},
    **dict.fromkeys(["=", "<>", "<", "<=", ">", ">=", "<=>"], 5),
    "|": 6,
    "^": 7,
    "&": 8,
    **dict.fromkeys(["<<", ">>", ">>>"], 9),
    **dict.fromkeys(["+", "-", "||"], 10),
    **dict.fromkeys(["*", "/", "%", "DIV"], 11),
    **dict.fromkeys(["NEG", "~"], 12),
}
# Parsers disagree on the precedence of these, among themselves and with arithmetic.
_LOOSE = frozenset(("||", "&", "|", "^", "<<", ">>", ">>>", "%"))
_ARITHMETIC = frozenset(("+", "-", "*", "/", "DIV"))
_PRIMARY = 13
_SIGN = {"NEG": "-", "~": "~"}
COMPARISONS = ("=", "<>", "<", "<=", ">", ">=", "<=>")


def write(node: Node) -> str:
    """The text of a tree, with parentheses where people and parsers might read it differently.

    >>> from weft.query.syntax.reader import read_expression
    >>> write(read_expression("( A+b ) * c > 5"))
    '(A + b) * c > 5'
    """
    return _text(_clear(node), 0)


def write_tersely(node: Node) -> str:
    """The text of a tree with only the parentheses that Spark's grammar needs."""
    return _text(node, 0)


def _clear(node: Node) -> Node:
    """The tree with parentheses around operands that parsers are known to misread."""
    node = rebuild(node, _clear)
    if isinstance(node, Op) and any(_unclear(node.op, arg) for arg in node.args):
        args = (Op("PAREN", (a,)) if _unclear(node.op, a) else a for a in node.args)
        return Op(node.op, tuple(args), at=node.at)
    return node


def _unclear(op: str, operand: Node) -> bool:
    if not isinstance(operand, Op):
        return False
    inner = operand.op
    if inner in COMPARISONS:
        return _BINDING.get(op) in (4, 5)
    if op in _LOOSE:
        return inner != op and inner in _LOOSE | _ARITHMETIC
    return op in _ARITHMETIC and inner in _LOOSE


def _binding(node: Node) -> int:
    if isinstance(node, Lambda):
        return 0
    return _BINDING.get(node.op, _PRIMARY) if isinstance(node, Op) else _PRIMARY


def _text(node: Node, least: int) -> str:
    """The text of a node, in parentheses if it binds more weakly than `least`."""
    text = _bare(node)
    return f"({text})" if _binding(node) < least else text


def _bare(node: Node) -> str:
    if isinstance(node, Name):
        return ".".join(node.parts)
    if isinstance(node, Literal):
        return node.text
    if isinstance(node, Star):
        return "*"
    if isinstance(node, Call):
        return _call(node)
    if isinstance(node, Case):
        return _case(node)
    if isinstance(node, Cast):
        if node.function == "EXTRACT":
            return f"EXTRACT({node.to} FROM {_text(node.value, 0)})"
        return f"{node.function}({_text(node.value, 0)} AS {node.to})"
    if isinstance(node, Lambda):
        params = node.params[0] if len(node.params) == 1 else f"({', '.join(node.params)})"
        return f"{params} -> {_text(node.body, 0)}"
    assert isinstance(node, Op), node
    return _operator(node)


def _call(node: Call) -> str:
    args = ", ".join(_text(arg, 0) for arg in node.args)
    text = f"{node.name}({'DISTINCT ' if node.distinct else ''}{args})"
    if node.order:
        listed = ", ".join(
            _text(one.value, 0) + (f" {one.direction}" if one.direction else "")
            for one in node.order
        )
        text += f" WITHIN GROUP (ORDER BY {listed})"
    if node.nulls is not None:
        text += f" {node.nulls} NULLS"
    if node.where is not None:
        text += f" FILTER (WHERE {_text(node.where, 0)})"
    return text


def _case(node: Case) -> str:
    operand = "" if node.operand is None else f" {_text(node.operand, 0)}"
    whens = "".join(f" WHEN {_text(when, 0)} THEN {_text(then, 0)}" for when, then in node.whens)
    otherwise = "" if node.otherwise is None else f" ELSE {_text(node.otherwise, 0)}"
    return f"CASE{operand}{whens}{otherwise} END"


def _operator(node: Op) -> str:
    op, args = node.op, node.args
    level = _binding(node)
    if op == "PAREN":
        return f"({_text(args[0], 0)})"
    if op == "TUPLE":
        return f"({', '.join(_text(arg, 0) for arg in args)})"
    if op == "AS":
        return f"{_text(args[0], 0)} AS {_text(args[1], 0)}"
    if op == "[]":
        return f"{_text(args[0], _PRIMARY)}[{_text(args[1], 0)}]"
    if op == ".":
        return f"{_text(args[0], _PRIMARY)}.{_text(args[1], _PRIMARY)}"
    if op in ("AND", "OR"):
        # The reader flattens left-deep chains of these; a nested one keeps its parentheses.
        return f" {op} ".join(_text(arg, level + 1) for arg in args)
    if op == "NOT":
        return f"NOT {_text(args[0], level)}"
    if op in ("NEG", "~"):
        operand = _text(args[0], level)
        # Two minus signs would begin a comment.
        return f"-({operand})" if op == "NEG" and operand.startswith("-") else _SIGN[op] + operand
    # Operators associate to the left; operands of a predicate (IS NULL, IN, ...) are values.
    above = level + 1
    first = _text(args[0], above if level == 4 else level)
    if len(args) == 1:
        return f"{first} {op}"
    if op in ("IN", "NOT IN") or op.endswith(_MANY):
        return f"{first} {op} ({', '.join(_text(arg, 0) for arg in args[1:])})"
    if op in ("BETWEEN", "NOT BETWEEN"):
        return f"{first} {op} {_text(args[1], above)} AND {_text(args[2], above)}"
    text = f"{first} {op} {_text(args[1], above)}"
    return f"{text} ESCAPE {_text(args[2], _PRIMARY)}" if len(args) == 3 else text
