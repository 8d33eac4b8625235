"""FlatFAT: a complete binary tree in one array over a ring of leaves."""

from __future__ import annotations

from typing import Any

from weft.engine.finals.cells import Cells
from weft.engine.finals.contract import Card, Final


class FlatFAT(Final):
    """Every inner node combines its two children; an insert updates one path to the root.

    Node 1 is the root, the children of node i are 2i and 2i + 1, leaf s is node `leaves + s`. The
    ring uses `capacity` of the `leaves`, a power of two. Evicting slices updates nothing: no answer
    reads a node above a leaf that is not held, except the root, and that only if the whole ring is
    held and the aggregate commutes or the oldest slice is at leaf 0.

    >>> from weft.algebra.extremes import MAX
    >>> final = FlatFAT(MAX, capacity=4)
    >>> for value in (3, 9, 4, 1, 5):
    ...     final.evict(final.end - 3); _ = final.insert((value,))
    >>> final.answer(), final.answer(start=3), final.answer(start=2, end=4)
    ((9,), (5,), (4,))
    """

    card = Card(
        name="flatfat",
        title="flat fixed-size aggregator",
        starts="any",
        needs=(),
        single="log n (2 log n if order matters)",
        multi="n log n",
        worst="3 log n",
        space="2^(ceil(log n) + 1)",
        late="log n",
        paper="General incremental sliding-window aggregation (VLDB 2015)",
    )

    def _open(self) -> None:
        self.nodes: Cells = self.store.cells("nodes")
        self.leaves = 1 << (self.capacity - 1).bit_length()

    def _insert(self, position: int, partial: Any) -> None:
        leaf = self.leaves + position % self.capacity
        self.nodes.put(leaf, partial)
        self._renew(leaf)

    def _renew(self, node: int) -> None:
        """Recompute every node above this one."""
        while node > 1:
            node >>= 1
            self.nodes.put(node, self._join(self.nodes.get(2 * node), self.nodes.get(2 * node + 1)))

    def _join(self, left: Any, right: Any) -> Any:
        """The combination of two nodes, either of which may not have been written yet."""
        if left is None:
            return right
        return left if right is None else self.algebra.combine(left, right)

    def _answer(self, start: int, end: int) -> Any:
        low, high = start % self.capacity, (end - 1) % self.capacity
        if end - start == self.capacity and (self.algebra.laws.commutative or low == 0):
            return self.nodes.get(1)
        if low <= high:
            return self._between(low, high)
        older = self._between(low, self.capacity - 1)
        return self.algebra.combine(older, self._between(0, high))

    def _between(self, low: int, high: int) -> Any:
        """The combination of the leaves low..high, from as few nodes as cover them."""
        left, right = None, None
        low, high = low + self.leaves, high + self.leaves + 1
        while low < high:
            if low & 1:
                left = self._join(left, self.nodes.get(low))
                low += 1
            if high & 1:
                high -= 1
                right = self._join(self.nodes.get(high), right)
            low, high = low >> 1, high >> 1
        return self._join(left, right)

    def _merge(self, position: int, late: Any) -> None:
        leaf = self.leaves + position % self.capacity
        self.nodes.put(leaf, self.algebra.combine(self.nodes.get(leaf), late))
        self._renew(leaf)

    def _resize(self, capacity: int) -> None:
        partials = [
            self.nodes.get(self.leaves + p % self.capacity) for p in range(self.first, self.end)
        ]
        self.nodes.move({})
        self.capacity, self.leaves = capacity, 1 << (capacity - 1).bit_length()
        for position, partial in enumerate(partials, self.first):
            self._insert(position, partial)

    def _numbers(self) -> dict[str, int]:
        return {"leaves": self.leaves}

    def is_live(self, cells: str, low: int, high: int) -> bool:
        return any(self._node_is_live(node) for node in range(max(low, 1), high))

    def _node_is_live(self, node: int) -> bool:
        width = self.leaves >> (node.bit_length() - 1)  # leaves under the node
        leaf = node * width - self.leaves
        return width > 0 and self._ring_is_live(leaf, leaf + width)

    def _space(self) -> int:
        return 2 * self.leaves
