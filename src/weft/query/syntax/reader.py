"""Spark SQL text as trees: sqlglot finds the structure, our own tokens keep the words.

What sqlglot found must give back the text that was read, token by token, under Spark's own
precedence; otherwise the text is refused. So `a - b % c`, which some releases of sqlglot read as
`(a - b) % c`, then asks for parentheses: no release can change what a query means.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlglot import exp

from weft.errors import ExpressionError
from weft.query.syntax.lexer import Token, tokenize
from weft.query.syntax.masking import (
    EXPRESSION_WORDS,
    SYNTAX_CALLS,
    Masked,
    join_types,
    mask,
    parse,
    words_in,
)
from weft.query.syntax.tree import Call, Case, Cast, Lambda, Literal, Name, Node, Op, Star
from weft.query.syntax.writer import write_tersely


def read_expression(sql: str) -> Node:
    """The tree of one expression.

    >>> read_expression("volume > 50")
    Op(at=0, op='>', args=(Name(at=0, parts=('volume',)), Literal(at=9, kind='number', text='50')))
    """
    masked = mask(sql, EXPRESSION_WORDS)
    if not masked.tokens:
        raise ExpressionError("the expression is empty")
    refuse_tokens(masked)
    found = parse(masked)
    if len(found) != 1 or found[0] is None:
        raise masked.fail(0, "not one expression")
    node = convert(masked, found[0])
    check(masked, write_tersely(node), node.at)
    return node


_REFUSED_WORDS = {
    "SELECT": "a subquery cannot be shared: join its result to the stream first",
    "OVER": "a window function (OVER) cannot be shared: compute it in the stream first",
    "WITHIN": "WITHIN GROUP is not served",
}
_REFUSED_OPERATORS = {
    ";": "one expression is expected",
    "?": "parameters are not known here",
    "@": "variables are not known here",
    "::": "write CAST(value AS type) instead of value::type",
    "=>": "named arguments are not served",
    ":": "paths into variants are not served: use a function such as get_json_object",
}


def refuse_tokens(masked: Masked) -> None:
    """Refuse what no shared expression may hold: subqueries, window functions, parameters."""
    before, last = "", ""
    for token in masked.tokens:
        if token.kind == "op" and token.text in _REFUSED_OPERATORS:
            raise masked.fail(token.start, _REFUSED_OPERATORS[token.text])
        if token.kind == "name" and last != ".":
            _refuse_word(masked, token, before, last)
        before, last = last, token.word


def _refuse_word(masked: Masked, token: Token, before: str, last: str) -> None:
    if token.word == "SELECT" or (token.word in _REFUSED_WORDS and last in (")", "NULLS")):
        raise masked.fail(token.start, _REFUSED_WORDS[token.word])
    if token.word in ("ANY", "SOME", "ALL") and last in ("LIKE", "ILIKE") and before == "NOT":
        # In Spark "x NOT LIKE ANY" is not the negation of "x LIKE ANY".
        raise masked.fail(
            token.start,
            f"write NOT (x {last} {token.word} (...)), or x NOT {last} for each pattern",
        )


def check(masked: Masked, written: str, at: int, optional: frozenset[str] = frozenset()) -> None:
    """Refuse what does not say, written back, what the text says, token by token.

    `optional` words count nowhere (AS before a name in SELECT).
    """
    found = _signature(join_types(masked.sql, tokenize(written)), optional)
    if _signature(masked.tokens, optional) != found:
        raise masked.fail(
            at,
            "this can be read in more than one way, or has a form that weft does not know: put "
            "parentheses around its parts, or compute it as a column of the stream first",
        )


_SPELLINGS = {"==": "=", "!=": "<>", "!": "NOT", "REGEXP": "RLIKE"}


_MOVABLE = frozenset(("NOT", "IGNORE", "RESPECT", "NULLS"))


def _signature(tokens: Sequence[Token], optional: frozenset[str]) -> tuple[list[str], list[str]]:
    """The words of some tokens, and apart from them those that may stand in two places."""
    words = [_SPELLINGS.get(token.word, token.word) for token in tokens]
    fixed = [word for word in words if word not in _MOVABLE | optional]
    return fixed, sorted(word for word in words if word in _MOVABLE)


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
    "Like": "LIKE",
    "ILike": "ILIKE",
    "NullSafeNEQ": "IS DISTINCT FROM",
}
_NEGATIVE = {"IS NULL", "IS TRUE", "IS FALSE", "IN", "BETWEEN", "RLIKE", "LIKE", "ILIKE"}


def convert(masked: Masked, found: exp.Expression) -> Node:
    """Our tree of what sqlglot found."""
    kind = type(found).__name__

    def under(child: Any) -> Node:
        return convert(masked, child)

    if kind in ("Column", "Identifier", "Dot", "Var", "Literal"):
        return _name(masked, found)
    if kind in ("And", "Or"):
        left, right = under(found.this), under(found.expression)
        operands = left.args if isinstance(left, Op) and left.op == kind.upper() else (left,)
        return Op(kind.upper(), (*operands, right), at=left.at)
    if kind in _BINARY:
        left, right = under(found.this), under(found.expression)
        node = Op(_BINARY[kind], (left, right), at=left.at)
        if node.op in ("LIKE", "ILIKE") and isinstance(right, Call):
            node = _quantified(node, right)
        return _negated(node) if found.args.get("negate") else node
    if kind == "NullSafeEQ":
        left, right = under(found.this), under(found.expression)
        between = [
            token.text
            for token in masked.tokens
            if left.at < token.start < right.at and token.text == "<=>"
        ]
        return Op("<=>" if between else "IS NOT DISTINCT FROM", (left, right), at=left.at)
    if kind == "Not":
        return _negated(under(found.this))
    if kind == "Neg":
        return Op("NEG", (operand := under(found.this),), at=operand.at)
    if kind == "BitwiseNot":
        return Op("~", (operand := under(found.this),), at=operand.at)
    if kind == "Paren":
        return Op("PAREN", (operand := under(found.this),), at=operand.at)
    if kind == "Tuple":
        items = tuple(under(item) for item in found.expressions)
        return Op("TUPLE", items, at=items[0].at if items else 0)
    if kind == "Is":
        constant = {
            "Null": "IS NULL",
            "Boolean": "IS TRUE" if found.expression.this else "IS FALSE",
        }
        op = constant.get(type(found.expression).__name__)
        if op is not None:
            return Op(op, (operand := under(found.this),), at=operand.at)
    if kind == "In" and found.expressions and not found.args.get("query"):
        value = under(found.this)
        return Op("IN", (value, *(under(item) for item in found.expressions)), at=value.at)
    if kind == "Between" and not found.args.get("symmetric"):
        value = under(found.this)
        args = (value, under(found.args["low"]), under(found.args["high"]))
        return Op("BETWEEN", args, at=value.at)
    if kind == "Escape":
        like = under(found.this)
        if isinstance(like, Op) and like.op.endswith("LIKE") and len(like.args) == 2:
            return replace(like, args=(*like.args, under(found.expression)))
    if kind == "Bracket" and len(found.expressions) == 1:
        value = under(found.this)
        return Op("[]", (value, under(found.expressions[0])), at=value.at)
    if kind == "Case":
        return _case(masked, found)
    if kind in ("Anonymous", "Filter", "IgnoreNulls", "RespectNulls"):
        return _call(masked, found)
    if kind == "Lambda":
        params = tuple(masked.token(param.name).text for param in found.expressions)
        body = under(found.this)
        return Lambda(params, body, at=masked.token(found.expressions[0].name).start)
    if kind == "Alias" and isinstance(found.args.get("alias"), exp.Identifier):
        value, alias = under(found.this), _name(masked, found.args["alias"])
        if isinstance(alias, Name):
            return Op("AS", (value, alias), at=value.at)
        raise masked.fail(alias.at, "two values in a row")
    if kind == "Star":
        return Star()
    raise masked.fail(
        _first_place(masked, found),
        f"weft does not know this form of SQL ({kind}): compute it as a column of the stream first",
    )


def _quantified(node: Op, right: Call) -> Op:
    """`x LIKE ANY ('a', 'b')`, in which ANY looks like a function."""
    if right.name.upper() not in ("ANY", "SOME", "ALL"):
        return node
    return replace(node, op=f"{node.op} {right.name.upper()}", args=(node.args[0], *right.args))


def _first_place(masked: Masked, found: exp.Expression) -> int:
    return min((masked.token(word).start for word in words_in(found)), default=0)


def _negated(node: Node) -> Node:
    """NOT of a node, as `x NOT IN (...)` where the operator has such a form."""
    if isinstance(node, Op) and node.op in _NEGATIVE:
        op = node.op.replace("IS ", "IS NOT ") if node.op.startswith("IS ") else f"NOT {node.op}"
        return replace(node, op=op)
    return Op("NOT", (node,), at=node.at)


def _name(masked: Masked, found: exp.Expression) -> Node:
    """A column or a field, or the constant that a word stands for."""
    if isinstance(found, exp.Dot):
        owner, member = convert(masked, found.this), convert(masked, found.expression)
        if isinstance(owner, Name) and isinstance(member, Name):
            return Name((*owner.parts, *member.parts), at=owner.at)
        return Op(".", (owner, member), at=owner.at)
    if isinstance(found, exp.Column):
        if isinstance(found.this, exp.Star):
            raise masked.fail(_first_place(masked, found), "a star with a table name is not served")
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
    """A call with the clauses around it."""
    if isinstance(found, exp.Filter):
        call = convert(masked, found.this)
        if isinstance(call, Call) and call.where is None:
            return replace(call, where=convert(masked, found.expression.this))
    elif isinstance(found, (exp.IgnoreNulls, exp.RespectNulls)):
        call = convert(masked, found.this)
        if isinstance(call, Call):
            return replace(
                call, nulls="IGNORE" if isinstance(found, exp.IgnoreNulls) else "RESPECT"
            )
    else:
        name = found.this if isinstance(found.this, str) else found.this.name
        token = masked.token(name)
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
        return Call(
            token.text, inside, distinct, nulls="IGNORE" if ignoring else None, at=token.start
        )
    raise masked.fail(_first_place(masked, found), "this clause follows something that is no call")


def _syntax_call(masked: Masked, token: Token, args: list[exp.Expression]) -> Node:
    """CAST(value AS type), TRY_CAST, EXTRACT(field FROM value)."""
    if token.word == "EXTRACT":
        to, value = masked.token(args[0].name).word, convert(masked, args[1])
    else:
        value, to = convert(masked, args[0]), masked.token(args[1].name).text
    return Cast(token.word, value, to, at=token.start)
