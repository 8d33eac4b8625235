"""Helpers for syntax trees: what a node calls or names, aliases, and quoted names."""

from __future__ import annotations

from weft.query.expression import function_name
from weft.query.syntax.tree import Call, Name, Node, Op, Star
from weft.query.syntax.writer import write


def split_alias(item: Node) -> tuple[Node, str | None]:
    """The expression of a SELECT item, and the alias that AS gives it."""
    if isinstance(item, Op) and item.op == "AS":
        return item.args[0], unquoted(write(item.args[1]))
    return item, None


def is_call(node: Node, *names: str) -> bool:
    """Whether a node calls one of these functions (names in lower case)."""
    return isinstance(node, Call) and function_name(node) in names


def is_name(node: Node, *names: str) -> bool:
    """Whether a node is one of these columns (names in lower case)."""
    return (
        isinstance(node, Name)
        and len(node.parts) == 1
        and unquoted(node.parts[0]).casefold() in names
    )


def default_name(node: Node) -> str:
    """The name that Spark gives a column without one (its own spelling for simple calls)."""
    if isinstance(node, Name):
        return unquoted(node.parts[-1])
    if isinstance(node, Call) and node.args and isinstance(node.args[0], Star):
        return f"{function_name(node)}(1)"
    return write(node)


def unquoted(text: str) -> str:
    """A name without backquotes."""
    return text[1:-1].replace("``", "`") if text.startswith("`") else text
