"""Two stacks, lite: one contiguous queue, its front turned into suffix aggregates."""

from __future__ import annotations

from typing import Any

from weft.engine.finals.cells import Cells
from weft.engine.finals.contract import Card, Final

_BACK = 0


class TwoStacks(Final):
    """Slices before `middle` hold the combination from themselves to `middle`; later ones are raw.

    One register holds the combination of the raw ones, so an answer is one combine. When the front
    is used up, the raw slices become the new front, in one backward pass: once per window.

    >>> from weft.algebra.extremes import MAX
    >>> final = TwoStacks(MAX, capacity=3)
    >>> for value in (3, 9, 4, 1, 5):
    ...     final.evict(final.end - 2); _ = final.insert((value,)); print(*final.answer())
    3
    9
    9
    9
    5
    """

    card = Card(
        name="two_stacks",
        title="two stacks, lite",
        starts="oldest",
        needs=(),
        single="3",
        multi="one per range",
        worst="n - 1",
        space="n + 1",
        late="slices older than it and at the same side",
        paper="In-order sliding-window aggregation (VLDB Journal 2021)",
    )
    overwrites = True

    def _open(self) -> None:
        self.queue: Cells = self.store.cells("queue")
        self.registers: Cells = self.store.cells("registers")
        self.middle = self.first

    def _insert(self, position: int, partial: Any) -> None:
        self.queue.put(position % self.capacity, partial)
        back = self.registers.get(_BACK) if position > self.middle else None
        self.registers.put(_BACK, partial if back is None else self.algebra.combine(back, partial))

    def _answer(self, start: int, end: int) -> Any:
        if start >= self.middle:
            self._flip(start, end)
        front = self.queue.get(start % self.capacity)
        if end == self.middle:
            return front
        return self.algebra.combine(front, self.registers.get(_BACK))

    def _flip(self, start: int, end: int) -> None:
        self.middle = end
        self._suffixes(end - 2, start, self.queue)

    def _suffixes(self, newest: int, oldest: int, source: Cells) -> None:
        """Recompute the suffix aggregates of newest down to oldest, from the partials `source`."""
        if newest < oldest:
            return
        total = self.queue.get((newest + 1) % self.capacity)
        for position in range(newest, oldest - 1, -1):
            slot = position % self.capacity
            total = self.algebra.combine(source.get(slot), total)
            self.queue.put(slot, total)

    def _merge(self, position: int, late: Any) -> None:
        combine = self.algebra.combine
        if position >= self.middle:
            slot = position % self.capacity
            self.queue.put(slot, combine(self.queue.get(slot), late))
            if self.algebra.laws.commutative:
                self.registers.put(_BACK, combine(self.registers.get(_BACK), late))
            else:
                self._renew_back()
        elif self.originals is None:
            for older in range(position, self.first - 1, -1):
                slot = older % self.capacity
                self.queue.put(slot, combine(self.queue.get(slot), late))
        else:
            newest = position
            if position + 1 == self.middle:
                slot = position % self.capacity
                self.queue.put(slot, self.originals.get(slot))
                newest -= 1
            self._suffixes(newest, self.first, self.originals)

    def _renew_back(self) -> None:
        total = None
        for position in range(max(self.middle, self.first), self.end):
            partial = self.queue.get(position % self.capacity)
            total = partial if total is None else self.algebra.combine(total, partial)
        self.registers.put(_BACK, total)

    def _rings(self) -> tuple[Cells, ...]:
        return (self.queue,)

    def _numbers(self) -> dict[str, int]:
        return {"middle": self.middle}

    def _space(self) -> int:
        return self.capacity + 1
