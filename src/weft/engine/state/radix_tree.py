"""Time as a tree of nodes: which pieces hold a span of slices, and which totals cover it.

Level 0 holds slices; a piece covers a time of `span`. A node of level j covers `span * RADIX**j`;
its total (one partial per fragment and group) is stored in a piece of level j + 1 together with the
totals of its siblings. So a long window is read as a few slices at either end and a few totals in
between, and a late row changes one piece per level.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

RADIX = 8
Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True, order=True)
class Node:
    """The slices that start in `[number, number + 1) * span * RADIX ** level`."""

    level: int
    number: int

    def start(self, span: int) -> int:
        """The start of the node."""
        return self.number * self.length(span)

    def end(self, span: int) -> int:
        """The start of the next node of its level."""
        return (self.number + 1) * self.length(span)

    def length(self, span: int) -> int:
        """The length of time that the node covers."""
        return span * int(RADIX**self.level)

    @property
    def parent(self) -> Node:
        """The node of the next level that contains this one."""
        return Node(self.level + 1, self.number // RADIX)

    @property
    def key(self) -> str:
        """The piece's name within its store.

        >>> Node(1, -3).key, Node.of("1:-3")
        ('1:-3', Node(level=1, number=-3))
        """
        return f"{self.level}:{self.number}"

    @classmethod
    def of(cls, key: str) -> Node:
        """The node with this key."""
        level, number = key.split(":")
        return cls(int(level), int(number))


@dataclass(frozen=True)
class Cover:
    """What to read for some spans: pieces of slices, and totals from pieces of totals."""

    slices: tuple[Node, ...]
    """Nodes of level 0 that are read slice by slice."""
    totals: tuple[Node, ...]
    """Nodes that are read as one total."""


def cover(
    cuts: Int64, pieces: Collection[Node], summed: Collection[Node], span: int, levels: int
) -> Cover:
    """The fewest reads that keep the spans between neighbouring cuts separate.

    A node with no cut inside is read as its total if it has one (`summed`); other nodes are split,
    down to slices. Only non-empty nodes (`pieces`, of level 0) are visited.

    >>> held = [Node(0, n) for n in range(24)]
    >>> found = cover(np.array([5, 170]), held, {*held, Node(1, 0), Node(1, 1)}, 10, levels=2)
    >>> [n.key for n in found.slices], [n.key for n in found.totals]
    (['0:0'], ['0:1', '0:2', '0:3', '0:4', '0:5', '0:6', '0:7', '1:1', '0:16'])
    """
    low, high = int(cuts[0]), int(cuts[-1])
    slices: list[Node] = []
    totals: list[Node] = []
    done = -1  # nodes of level 0 up to this number are covered by a total already
    for node in sorted(pieces):
        if node.end(span) <= low or node.start(span) >= high:
            continue
        if totals and node.number <= done:
            continue
        best: Node | None = None
        candidate = node
        while candidate.level < levels and _whole(candidate, cuts, low, high, span):
            if candidate in summed:
                best = candidate
            candidate = candidate.parent
        if best is None:
            slices.append(node)
        else:
            totals.append(best)
            done = (best.number + 1) * RADIX**best.level - 1
    return Cover(tuple(slices), tuple(totals))


def _whole(node: Node, cuts: Int64, low: int, high: int, span: int) -> bool:
    """Whether the node lies between two neighbouring cuts."""
    start, end = node.start(span), node.end(span)
    if start < low or end > high:
        return False
    at = int(np.searchsorted(cuts, start, side="right"))
    return at >= len(cuts) or int(cuts[at]) >= end
