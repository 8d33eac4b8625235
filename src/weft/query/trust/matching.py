"""Finds pattern matching in expressions, and refuses patterns that may take too long."""

from __future__ import annotations

from weft.query.expression import function_name
from weft.query.limits import allows
from weft.query.syntax.literals import string_value
from weft.query.syntax.tree import Call, Literal, Name, Node, Op, walk
from weft.query.trust.patterns import pattern_refusal, repeats_refusal
from weft.query.trust.value_size import COLUMN, constant_bytes

REGULAR: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("rlike", "regexp", "regexp_like", "regexp_count", "regexp_instr"), (1,)),
    **dict.fromkeys(("regexp_extract", "regexp_extract_all", "regexp_replace"), (1,)),
    **dict.fromkeys(("regexp_substr", "split"), (1,)),
    "str_to_map": (1, 2),
}
"""Functions with regular expressions, and the positions of these arguments."""
_LIKE = ("LIKE", "ILIKE")
SMALL = 256
"""Bytes that a query may add to a column so that it still counts as matching the column."""
PERCENTS = 20
"""The most `%` in one LIKE pattern."""


def matching_refusal(sql: str, node: Node) -> str | None:
    """Why a match is refused; None if the node is not a match, or is accepted.

    >>> from weft.query.syntax.reader import read_expression
    >>> sql = "name RLIKE '(a+)+b'"
    >>> matching_refusal(sql, read_expression(sql))
    'the pattern repeats a group that contains a repetition, which may take forever'
    """
    if isinstance(node, Op) and node.op in ("RLIKE", "NOT RLIKE"):
        return _regular(sql, "rlike", node.args[0], node.args[1:2])
    if isinstance(node, Op) and node.op.removeprefix("NOT ").startswith(_LIKE):
        escaped = len(node.args) == 3 and node.op.endswith("LIKE")
        return _like(sql, node.args[0], node.args[1:2] if escaped else node.args[1:])
    if not isinstance(node, Call) or not node.args:
        return None
    name = function_name(node)
    if name in ("like", "ilike"):
        return _like(sql, node.args[0], node.args[1:2])
    if name in REGULAR:
        patterns = tuple(node.args[at] for at in REGULAR[name] if at < len(node.args))
        return _regular(sql, name, node.args[0], patterns)
    return None


def _regular(sql: str, name: str, subject: Node, patterns: tuple[Node, ...]) -> str | None:
    if allows(name):
        return None
    made = _made(sql, subject)
    for pattern in patterns:
        if not (isinstance(pattern, Literal) and pattern.kind == "string"):
            return f"{name} takes its pattern as a constant: compute others in the stream first"
        # A session setting decides how Spark parses backslashes, so both readings must be safe.
        for said in dict.fromkeys((string_value(pattern) or "", pattern.text[1:-1])):
            reason = pattern_refusal(said, made)
            if reason is not None:
                return reason
    return None


def _like(sql: str, subject: Node, patterns: tuple[Node, ...]) -> str | None:
    made = _made(sql, subject)
    for pattern in patterns:
        if isinstance(pattern, Literal):
            percents = pattern.text.count("%")
            if percents > PERCENTS:
                return f"the pattern has {percents} % signs: at most {PERCENTS} are accepted"
            reason = repeats_refusal(percents, made) if percents > 2 else None
            if reason is not None:
                return reason
        elif constant_bytes(sql, pattern) > SMALL:
            return (
                "a LIKE pattern that is no constant may add little to a column, as in "
                "concat('%', x, '%')"
            )
    return None


def _made(sql: str, subject: Node) -> float | None:
    """The size of a text that the query itself makes; None if it is (almost) only a column."""
    own = constant_bytes(sql, subject)
    if own <= SMALL and any(isinstance(part, Name) for part in walk(subject)):
        return None
    return max(own, COLUMN.bytes if own > SMALL else own)
