"""The normal form of a tree: the same text for expressions that are easily seen to be equivalent.

Every rule preserves Spark's semantics exactly: three-valued logic, NaN as the greatest number,
types (`50` is not `50.0`), and errors in ANSI mode. Operands are reordered only if none of them can
fail, because Spark skips operands that it need not evaluate, so a guard must stay before what it
guards. One assumption is made: comparing a column with a constant does not fail. (It can, if a
string column is compared with a number; but there Spark guarantees no order of evaluation either.)
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import groupby

from weft.query.functions import NEVER_FAIL, SYNONYMS
from weft.query.syntax.tree import Call, Lambda, Literal, Name, Node, Op, rebuild, walk
from weft.query.syntax.writer import COMPARISONS, write

_FLIPPED = {"=": "=", "<>": "<>", "<=>": "<=>", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
_OPPOSITE = {
    "=": "<>",
    "<>": "=",
    "<": ">=",
    ">=": "<",
    ">": "<=",
    "<=": ">",
    "<=>": "IS DISTINCT FROM",
    "IS DISTINCT FROM": "<=>",
}
for _op in ("IS NULL", "IS TRUE", "IS FALSE"):
    _OPPOSITE[_op] = _op.replace("IS", "IS NOT")
for _op in ("IN", "LIKE", "ILIKE", "RLIKE", "BETWEEN"):
    _OPPOSITE[_op] = f"NOT {_op}"
_OPPOSITE.update({negative: positive for positive, negative in list(_OPPOSITE.items())})
_BOOLEAN = frozenset((*_OPPOSITE, "AND", "OR", "NOT"))
_REGULAR = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Names that keep their quotes, because without them they mean something else.
_WORDS = frozenset(
    (
        *("and", "or", "not", "in", "is", "null", "true", "false", "between", "case", "when"),
        *("then", "else", "end", "like", "ilike", "rlike", "regexp", "escape", "div", "as"),
        *("distinct", "from", "where", "select", "group", "by", "having", "filter", "over"),
        *("interval", "date", "timestamp", "timestamp_ntz", "timestamp_ltz", "time", "x", "r"),
        *("current_date", "current_timestamp", "current_time", "localtimestamp", "current_user"),
        *("session_user", "user", "cast", "try_cast", "extract", "any", "some", "all", "exists"),
        *("ignore", "respect", "nulls", "on", "join", "union", "order", "limit", "with", "within"),
        *("sort", "cluster", "distribute", "lateral", "window", "table", "values", "using"),
    )
)


def normal(node: Node) -> Node:
    """The normal form of a tree.

    >>> from weft.query.syntax.reader import read_expression
    >>> write(normal(read_expression("50 < Volume AND NOT (`price` >= 3 OR side = 'B')")))
    "side <> 'B' AND price < 3 AND volume > 50"
    """
    return _arrange(_spell(node))


def _spell(node: Node) -> Node:
    """Unify the spelling: no parentheses, lower-case names, no BETWEEN, NOT only where needed."""
    node = _unwrap(node)
    if isinstance(node, Op) and node.op == "NOT":
        return _push_not(node.args[0])
    if isinstance(node, Op) and node.op in ("BETWEEN", "NOT BETWEEN"):
        node = _two_comparisons(node)
    node = _rename(rebuild(node, _spell))
    if isinstance(node, Op) and node.op == "IS NOT DISTINCT FROM":
        return replace(node, op="<=>")
    if isinstance(node, Call) and node.name in ("isnull", "isnotnull") and len(node.args) == 1:
        return Op("IS NULL" if node.name == "isnull" else "IS NOT NULL", node.args, at=node.at)
    return node


def _unwrap(node: Node) -> Node:
    while isinstance(node, Op) and node.op == "PAREN":
        node = node.args[0]
    return node


def _push_not(inner: Node) -> Node:
    """NOT of a node, moved inwards; valid in three-valued logic and because NaN is ordered."""
    inner = _unwrap(inner)
    if isinstance(inner, Op):
        if inner.op == "NOT":
            # NOT NOT x is x only if x is a boolean; NOT casts a string to one.
            operand = _unwrap(inner.args[0])
            if isinstance(operand, Op) and operand.op in _BOOLEAN:
                return _spell(operand)
        elif inner.op in ("AND", "OR"):
            op = "OR" if inner.op == "AND" else "AND"
            return Op(op, tuple(_push_not(arg) for arg in inner.args), at=inner.at)
        elif inner.op == "IS NOT DISTINCT FROM":
            return _spell(replace(inner, op="IS DISTINCT FROM"))
        elif inner.op in _OPPOSITE:
            return _spell(replace(inner, op=_OPPOSITE[inner.op]))
    spelled = _spell(inner)
    if isinstance(spelled, Op) and spelled.op in _OPPOSITE:  # isnull(x) has become x IS NULL
        return replace(spelled, op=_OPPOSITE[spelled.op])
    return Op("NOT", (spelled,), at=inner.at)


def _two_comparisons(node: Op) -> Op:
    """`x BETWEEN a AND b` as `x >= a AND x <= b`, unless x is expensive to compute twice."""
    value, low, high = node.args
    if any(isinstance(part, Call) for part in walk(value)):
        return node
    if node.op == "BETWEEN":
        op, pair = "AND", (Op(">=", (value, low)), Op("<=", (value, high)))
    else:
        op, pair = "OR", (Op("<", (value, low)), Op(">", (value, high)))
    return Op(op, pair, at=node.at)


def _rename(node: Node) -> Node:
    """Names in lower case where Spark ignores case, without needless quotes.

    A field's name is unchanged: it may be the key of a map, and keys are case-sensitive.
    """
    if isinstance(node, Name):
        first, *fields = node.parts
        return Name((column_name(first), *(_plain(part) for part in fields)), at=node.at)
    if isinstance(node, Call):
        name = _plain(node.name)
        lowered = name.lower() if _REGULAR.fullmatch(name) else name
        return replace(node, name=SYNONYMS.get(lowered, lowered))
    if isinstance(node, Lambda):
        return replace(node, params=tuple(column_name(param) for param in node.params))
    if isinstance(node, Literal):
        return Literal(node.kind, _constant(node), at=node.at)
    return node


def column_name(text: str) -> str:
    """A column's name in lower case (if Spark ignores case), and quoted only if needed.

    >>> column_name("`Price`"), column_name("`net price`"), column_name("END"), column_name("`end`")
    ('price', '`net price`', 'end', '`end`')
    """
    plain = _plain(text)
    return plain.lower() if plain.isascii() else plain


def _plain(text: str) -> str:
    inner = text[1:-1]
    regular = text[:1] == "`" and _REGULAR.fullmatch(inner) and inner.lower() not in _WORDS
    return inner if regular else text


def _constant(node: Literal) -> str:
    text = node.text
    if node.kind == "number":
        return (text.lstrip("0") or "0") if text.isdigit() else text.upper()
    if node.kind == "string" and text[0] == '"' and not set(text[1:-1]) & set("'\"\\"):
        return f"'{text[1:-1]}'"
    return text


def is_constant(node: Node) -> bool:
    """Whether a node is a literal, or minus one."""
    if isinstance(node, Op) and node.op == "NEG":
        return isinstance(node.args[0], Literal) and node.args[0].kind == "number"
    return isinstance(node, Literal)


def _is_leaf(node: Node) -> bool:
    return isinstance(node, Name) or is_constant(node)


def _arrange(node: Node) -> Node:
    """Unify the order: constants on the right, commutative operands sorted."""
    node = rebuild(node, _arrange)
    if not isinstance(node, Op):
        return node
    if node.op in COMPARISONS:
        return _orient(node)
    if node.op in ("+", "*", "&", "|", "^") and all(_is_leaf(arg) for arg in node.args):
        return replace(node, args=tuple(sorted(node.args, key=_leaf_key)))
    if node.op in ("AND", "OR"):
        return _sort_operands(node)
    if node.op in ("IN", "NOT IN"):
        return _sort_list(node)
    return node


def _leaf_key(node: Node) -> tuple[bool, str]:
    return (is_constant(node), write(node))


def _orient(node: Op) -> Op:
    """`50 < volume` as `volume > 50`; two columns in alphabetical order."""
    left, right = node.args
    turn = is_constant(left) and not is_constant(right)
    if _is_leaf(left) and _is_leaf(right):
        turn = _leaf_key(right) < _leaf_key(left)
    return replace(node, op=_FLIPPED[node.op], args=(right, left)) if turn else node


def _sort_operands(node: Op) -> Node:
    """AND and OR flattened, without duplicates, sorted within runs of operands that cannot fail."""
    flat: list[Node] = []
    for arg in node.args:
        nested = isinstance(arg, Op) and arg.op == node.op
        flat.extend(arg.args if nested else (arg,))  # type: ignore[attr-defined]
    ordered: list[Node] = []
    for fails, neighbours in groupby(dict.fromkeys(flat), key=lambda arg: _risk(arg) > 1):
        operands = list(neighbours)
        ordered += operands if fails else sorted(operands, key=lambda arg: (_risk(arg), write(arg)))
    return ordered[0] if len(ordered) == 1 else replace(node, args=tuple(ordered))


def _risk(node: Node) -> int:
    """0: cannot fail; 1: cannot fail unless the types are unusual; 2: may fail."""
    if isinstance(node, (Name, Literal)):
        return 0
    if isinstance(node, Call):
        safe = node.name in NEVER_FAIL and not any(isinstance(a, Lambda) for a in node.args)
        return max(map(_risk, node.args), default=0) if safe else 2
    if isinstance(node, Op):
        inside = max(map(_risk, node.args), default=0)
        if node.op in COMPARISONS or node.op in ("IN", "NOT IN"):
            strings = all(isinstance(a, Literal) and a.kind == "string" for a in node.args[1:])
            return max(inside, 0 if strings else 1)
        if node.op in _BOOLEAN:
            return inside
        if node.op == "NEG" and is_constant(node):
            return 0
    return 2


def _sort_list(node: Op) -> Op:
    """The constants of an IN list, distinct and sorted, if they are all of one simple kind."""
    value, *items = node.args
    whole = all(isinstance(item, Literal) and item.text.isdigit() for item in items)
    strings = all(isinstance(item, Literal) and item.kind == "string" for item in items)
    if not (whole or strings):
        return node
    unique = dict.fromkeys(items)
    ordered = sorted(unique, key=lambda item: (len(write(item)) if whole else 0, write(item)))
    return replace(node, args=(value, *ordered))
