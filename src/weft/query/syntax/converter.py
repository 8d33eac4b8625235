"""What sqlglot found, as our tree: one small function per form, and no other form is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sqlglot import exp

from weft.query.syntax.lexer import Token
from weft.query.syntax.masking import SYNTAX_CALLS, Masked, words_in
from weft.query.syntax.tree import (
    Call,
    Case,
    Cast,
    Lambda,
    Literal,
    Name,
    Node,
    Op,
    Ordered,
    Star,
)

_BINARY = {
    "EQ": "=",
    "NEQ": "<>",
    "GT": ">",
    "GTE": ">=",
    "LT": "<",
    "LTE": "<=",
    "Add": "+",
    "Sub": "-",
    "Mul": "*",
    "Div": "/",
    "IntDiv": "DIV",
    "Mod": "%",
    "DPipe": "||",
    "BitwiseAnd": "&",
    "BitwiseOr": "|",
    "BitwiseXor": "^",
    "BitwiseLeftShift": "<<",
    "BitwiseRightShift": ">>",
    "RegexpLike": "RLIKE",
    "NullSafeNEQ": "IS DISTINCT FROM",
}
_NEGATIVE = {"IS NULL", "IS TRUE", "IS FALSE", "IN", "BETWEEN", "RLIKE", "LIKE", "ILIKE"}


def convert(masked: Masked, found: exp.Expression) -> Node:
    """Convert sqlglot's tree to weft's."""
    kind = type(found).__name__
    node: Node | None = None
    if kind in _BINARY:
        left, right = convert(masked, found.this), convert(masked, found.expression)
        node = Op(_BINARY[kind], (left, right), at=left.at)
        if found.args.get("negate"):
            node = _negated(node)
    elif kind in _CONVERTERS:
        node = _CONVERTERS[kind](masked, found)
    if node is None:
        raise masked.fail(
            _first_place(masked, found),
            f"weft does not know this form of SQL ({kind}): compute it as a column of the stream "
            f"first",
        )
    return node


def _connector(masked: Masked, found: exp.Expression) -> Node:
    """Flattens AND and OR, which sqlglot nests to the left."""
    op, kind, operands = type(found).__name__.upper(), type(found), []
    while isinstance(found, kind):
        operands.append(convert(masked, found.expression))
        found = found.this
    operands.append(convert(masked, found))
    operands.reverse()
    return Op(op, tuple(operands), at=operands[0].at)


def _unary(op: str) -> Callable[[Masked, exp.Expression], Node]:
    def read(masked: Masked, found: exp.Expression) -> Node:
        operand = convert(masked, found.this)
        return Op(op, (operand,), at=operand.at)

    return read


def _not(masked: Masked, found: exp.Expression) -> Node:
    return _negated(convert(masked, found.this))


def _like(masked: Masked, found: exp.Expression) -> Node:
    """LIKE and ILIKE, also with ANY, SOME or ALL, which sqlglot parses as functions."""
    value, pattern = convert(masked, found.this), convert(masked, found.expression)
    node = Op("LIKE" if isinstance(found, exp.Like) else "ILIKE", (value, pattern), at=value.at)
    if isinstance(pattern, Call) and pattern.name.upper() in ("ANY", "SOME", "ALL"):
        node = Op(f"{node.op} {pattern.name.upper()}", (value, *pattern.args), at=value.at)
    return _negated(node) if found.args.get("negate") else node


def _escape(masked: Masked, found: exp.Expression) -> Node | None:
    like = convert(masked, found.this)
    if isinstance(like, Op) and like.op.endswith("LIKE") and len(like.args) == 2:
        return replace(like, args=(*like.args, convert(masked, found.expression)))
    return None


def _null_safe_equal(masked: Masked, found: exp.Expression) -> Node:
    """`<=>` or IS NOT DISTINCT FROM, as written between the operands."""
    left, right = convert(masked, found.this), convert(masked, found.expression)
    arrow = any(left.at < t.start < right.at and t.text == "<=>" for t in masked.tokens)
    return Op("<=>" if arrow else "IS NOT DISTINCT FROM", (left, right), at=left.at)


def _is(masked: Masked, found: exp.Expression) -> Node | None:
    constant, operand = found.expression, convert(masked, found.this)
    if isinstance(constant, exp.Null):
        return Op("IS NULL", (operand,), at=operand.at)
    if isinstance(constant, exp.Boolean):
        return Op("IS TRUE" if constant.this else "IS FALSE", (operand,), at=operand.at)
    return None


def _in(masked: Masked, found: exp.Expression) -> Node | None:
    if not found.expressions or found.args.get("query"):
        return None
    value = convert(masked, found.this)
    return Op("IN", (value, *(convert(masked, item) for item in found.expressions)), at=value.at)


def _between(masked: Masked, found: exp.Expression) -> Node | None:
    if found.args.get("symmetric"):
        return None
    value, low, high = (convert(masked, found.args[name]) for name in ("this", "low", "high"))
    return Op("BETWEEN", (value, low, high), at=value.at)


def _tuple(masked: Masked, found: exp.Expression) -> Node:
    items = tuple(convert(masked, item) for item in found.expressions)
    return Op("TUPLE", items, at=items[0].at if items else 0)


def _bracket(masked: Masked, found: exp.Expression) -> Node | None:
    if len(found.expressions) != 1:
        return None
    value = convert(masked, found.this)
    return Op("[]", (value, convert(masked, found.expressions[0])), at=value.at)


def _lambda(masked: Masked, found: exp.Expression) -> Node:
    params = [masked.token(param.name) for param in found.expressions]
    body = convert(masked, found.this)
    return Lambda(tuple(param.text for param in params), body, at=params[0].start)


def _alias(masked: Masked, found: exp.Expression) -> Node | None:
    identifier = found.args.get("alias")
    if not isinstance(identifier, exp.Identifier):
        return None
    value, alias = convert(masked, found.this), _name(masked, identifier)
    if isinstance(alias, Name):
        return Op("AS", (value, alias), at=value.at)
    before = [token.word for token in masked.tokens if token.end <= alias.at]
    if isinstance(alias, Literal) and alias.kind == "string" and before[-1:] == ["AS"]:
        raise masked.fail(alias.at, "a text is no name: write it in backquotes, or without quotes")
    raise masked.fail(alias.at, "two values in a row")


def _star(masked: Masked, found: exp.Expression) -> Node:
    return Star()


def _first_place(masked: Masked, found: exp.Expression) -> int:
    return min((masked.token(word).start for word in words_in(found)), default=0)


def _negated(node: Node) -> Node:
    """NOT of a node, written as `x NOT IN (...)` if the operator has such a form."""
    if isinstance(node, Op) and node.op in _NEGATIVE:
        op = node.op.replace("IS ", "IS NOT ") if node.op.startswith("IS ") else f"NOT {node.op}"
        return replace(node, op=op)
    return Op("NOT", (node,), at=node.at)


def _name(masked: Masked, found: exp.Expression) -> Node:
    """A column or a field, or a constant that is written as a word."""
    if isinstance(found, exp.Dot):
        owner, member = convert(masked, found.this), convert(masked, found.expression)
        if isinstance(owner, Name) and isinstance(member, Name):
            return Name((*owner.parts, *member.parts), at=owner.at)
        return Op(".", (owner, member), at=owner.at)
    if isinstance(found, exp.Column):
        if isinstance(found.this, exp.Star):
            raise masked.fail(
                _first_place(masked, found), "a star with a table name is not supported"
            )
        identifiers = list(found.parts)
    else:
        identifiers = [found]
    tokens = [masked.token(identifier.name) for identifier in identifiers]
    if len(tokens) == 1 and tokens[0].kind in ("number", "string", "literal"):
        kind = {"number": "number", "string": "string", "literal": "typed"}[tokens[0].kind]
        return Literal(kind, tokens[0].text, at=tokens[0].start)  # type: ignore[arg-type]
    if len(tokens) == 1 and tokens[0].word in ("NULL", "TRUE", "FALSE"):
        kind = "null" if tokens[0].word == "NULL" else "boolean"
        return Literal(kind, tokens[0].word, at=tokens[0].start)  # type: ignore[arg-type]
    return Name(tuple(token.text for token in tokens), at=tokens[0].start)


def _case(masked: Masked, found: exp.Expression) -> Node:
    operand, otherwise = found.args.get("this"), found.args.get("default")
    whens = tuple(
        (convert(masked, branch.this), convert(masked, branch.args["true"]))
        for branch in found.args["ifs"]
    )
    first = None if operand is None else convert(masked, operand)
    return Case(
        first,
        whens,
        None if otherwise is None else convert(masked, otherwise),
        at=first.at if first is not None else whens[0][0].at,
    )


def _call(masked: Masked, found: exp.Expression) -> Node:
    token = masked.token(found.this if isinstance(found.this, str) else found.this.name)
    args = list(found.expressions)
    if token.word in SYNTAX_CALLS and len(args) == 2:
        return _syntax_call(masked, token, args)
    distinct = bool(args) and isinstance(args[0], exp.Distinct)
    if distinct:
        args = list(args[0].expressions)
    ignoring = bool(args) and isinstance(args[-1], exp.IgnoreNulls)  # first(x IGNORE NULLS)
    if ignoring:
        args[-1] = args[-1].this
    inside = tuple(convert(masked, arg) for arg in args)
    nulls = "IGNORE" if ignoring else None
    return Call(token.text, inside, distinct, nulls=nulls, at=token.start)  # type: ignore[arg-type]


def _filtered(masked: Masked, found: exp.Expression) -> Node | None:
    call = convert(masked, found.this)
    if isinstance(call, Call) and call.where is None:
        return replace(call, where=convert(masked, found.expression.this))
    return None


def _within_group(masked: Masked, found: exp.Expression) -> Node | None:
    call, order = convert(masked, found.this), found.expression
    if not (isinstance(call, Call) and not call.order and isinstance(order, exp.Order)):
        return None
    return replace(call, order=tuple(_ordered(masked, one) for one in order.expressions))


def _ordered(masked: Masked, found: exp.Expression) -> Ordered:
    value, descending = convert(masked, found.this), found.args.get("desc")
    # sqlglot distinguishes ASC (False) from no direction (None).
    direction = None if descending is None else "DESC" if descending else "ASC"
    return Ordered(value, direction, at=value.at)  # type: ignore[arg-type]


def _nulls(masked: Masked, found: exp.Expression) -> Node | None:
    call = convert(masked, found.this)
    if isinstance(call, Call) and call.nulls is None:
        return replace(call, nulls="IGNORE" if isinstance(found, exp.IgnoreNulls) else "RESPECT")
    return None


def _syntax_call(masked: Masked, token: Token, args: list[exp.Expression]) -> Node:
    """CAST(value AS type), TRY_CAST, EXTRACT(field FROM value)."""
    if token.word == "EXTRACT":
        to, value = masked.token(args[0].name).word, convert(masked, args[1])
    else:
        value, to = convert(masked, args[0]), masked.token(args[1].name).text
    return Cast(token.word, value, to, at=token.start)


_CONVERTERS: dict[str, Callable[[Masked, Any], Node | None]] = {
    **dict.fromkeys(("Column", "Identifier", "Dot", "Var", "Literal"), _name),
    **dict.fromkeys(("And", "Or"), _connector),
    "Not": _not,
    "Neg": _unary("NEG"),
    "BitwiseNot": _unary("~"),
    "Paren": _unary("PAREN"),
    "Like": _like,
    "ILike": _like,
    "Escape": _escape,
    "NullSafeEQ": _null_safe_equal,
    "Is": _is,
    "In": _in,
    "Between": _between,
    "Tuple": _tuple,
    "Bracket": _bracket,
    "Case": _case,
    "Anonymous": _call,
    "Filter": _filtered,
    "WithinGroup": _within_group,
    "IgnoreNulls": _nulls,
    "RespectNulls": _nulls,
    "Lambda": _lambda,
    "Alias": _alias,
    "Star": _star,
}
