"""Spark's plans and expressions as trees, read from their JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Json = Any
_TOLD = ("value", "ordinal", "dataType", "fromType", "toType", "timeZoneId")
"""The fields that distinguish expressions of one class."""


@dataclass(frozen=True, eq=False)
class Node:
    """A node of a plan or of an expression, with its children."""

    said: Mapping[str, Any]
    children: tuple[Node, ...]

    @classmethod
    def tree(cls, listed: Json) -> Node:
        """A tree from its nodes in preorder, as in Spark's JSON."""
        nodes = iter(listed)

        def build() -> Node:
            said = next(nodes)
            return cls(said, tuple(build() for _ in range(said["num-children"])))

        return build()

    @property
    def kind(self) -> str:
        """The name of its class."""
        return str(self.said["class"]).rpartition(".")[2]

    @property
    def id(self) -> int:
        """The expression id of an attribute or alias."""
        return int(self.said["exprId"]["id"])

    @property
    def literal(self) -> int | None:
        """The value of an integer literal; None for other nodes."""
        try:
            return int(self.said["value"]) if self.kind == "Literal" else None
        except (KeyError, TypeError, ValueError):
            return None

    def trees(self, name: str) -> list[Node]:
        """Some expressions of a plan's node."""
        return [Node.tree(listed) for listed in self.said.get(name) or ()]

    def walk(self) -> Iterator[Node]:
        """The node, and all below it."""
        yield self
        for child in self.children:
            yield from child.walk()

    def is_same(self, other: Node) -> bool:
        """Whether two expressions are equal, over the same attributes."""
        if self.kind != other.kind or len(self.children) != len(other.children):
            return False
        if self.kind == "AttributeReference":
            return self.id == other.id
        if any(self.said.get(name) != other.said.get(name) for name in _TOLD):
            return False
        pairs = zip(self.children, other.children, strict=True)
        return all(one.is_same(another) for one, another in pairs)
