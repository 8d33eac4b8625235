"""Shift: the combination from every start to the newest slice, kept for all starts at once."""

from __future__ import annotations

from typing import Any

from weft.engine.finals.cells import Cells
from weft.engine.finals.contract import Card, Final


class Shift(Final):
    """`S_t[r] = S_{t-1}[r - 1] combine x_t`: an insert updates every start, an answer only reads.

    One combine per slide and start, in order, and without a branch: over numbers it runs at memory
    speed. For all ranges from 1 to n no structure does less work; for few ranges it is wasteful.

    >>> from weft.algebra.extremes import MAX
    >>> final = Shift(MAX, capacity=3)
    >>> for value in (3, 9, 4):
    ...     _ = final.insert((value,))
    >>> [final.answer(start) for start in range(3)]
    [(9,), (9,), (4,)]
    """

    card = Card(
        name="shift",
        title="every suffix at once",
        starts="newest",
        needs=(),
        single="n - 1",
        multi="n - 1",
        worst="n - 1",
        space="n",
        late="slices older than it",
        paper="none: folklore",
    )
    overwrites = True

    def _open(self) -> None:
        self.suffixes: Cells = self.store.cells("suffixes")

    def _insert(self, position: int, partial: Any) -> None:
        for older in range(self.first, position):
            slot = older % self.capacity
            self.suffixes.put(slot, self.algebra.combine(self.suffixes.get(slot), partial))
        self.suffixes.put(position % self.capacity, partial)

    def _answer(self, start: int, end: int) -> Any:
        return self.suffixes.get(start % self.capacity)

    def _merge(self, position: int, late: Any) -> None:
        combine = self.algebra.combine
        if self.originals is None:
            for older in range(position, self.first - 1, -1):
                slot = older % self.capacity
                self.suffixes.put(slot, combine(self.suffixes.get(slot), late))
            return
        newer = (
            self.suffixes.get((position + 1) % self.capacity) if position + 1 < self.end else None
        )
        for older in range(position, self.first - 1, -1):
            slot = older % self.capacity
            partial = self.originals.get(slot)
            newer = partial if newer is None else combine(partial, newer)
            self.suffixes.put(slot, newer)

    def _rings(self) -> tuple[Cells, ...]:
        return (self.suffixes,)

    def _space(self) -> int:
        return self.capacity
