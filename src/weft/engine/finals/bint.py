"""B-Int: base intervals, which are dyadic runs of slices at every level."""

from __future__ import annotations

from typing import Any

from weft.engine.finals.cells import Cells
from weft.engine.finals.contract import Card, Final


class BInt(Final):
    """Level l holds the combinations of 2^l slices that begin at multiples of 2^l.

    An insert completes only the intervals that end with it, so it costs one combine on average; an
    answer covers its range by the longest complete intervals, at most 2 log n of them.
    Level l is a ring of `leaves / 2^l` cells, after those of the levels below it.

    >>> from weft.algebra.extremes import MAX
    >>> final = BInt(MAX, capacity=4)
    >>> for value in (3, 9, 4, 1, 5):
    ...     final.evict(final.end - 3); _ = final.insert((value,))
    >>> final.answer(), final.answer(start=3), final.answer(start=2, end=4)
    ((9,), (5,), (4,))
    """

    card = Card(
        name="bint",
        title="base intervals",
        starts="any",
        needs=(),
        single="2 log n",
        multi="n log n",
        worst="3 log n",
        space="2^(ceil(log n) + 1)",
        late="log n",
        paper="Resource sharing in continuous sliding-window aggregates (VLDB 2004)",
    )

    def _open(self) -> None:
        self.intervals: Cells = self.store.cells("intervals")
        self.leaves = 1 << (self.capacity - 1).bit_length()

    def _cell(self, level: int, position: int) -> int:
        ring = self.leaves >> level
        return 2 * (self.leaves - ring) + (position >> level) % ring

    def _insert(self, position: int, partial: Any) -> None:
        self.intervals.put(self._cell(0, position), partial)
        self._complete(position, position)

    def _complete(self, position: int, newest: int) -> None:
        """Recompute the intervals that contain `position` and end at or before `newest`."""
        level = 1
        while self.leaves >> level:
            half = 1 << (level - 1)
            start = position >> level << level
            if start + 2 * half - 1 > newest:
                return  # longer ones are not complete either
            if start >= self.first:  # otherwise no answer reads it
                left = self.intervals.get(self._cell(level - 1, start))
                right = self.intervals.get(self._cell(level - 1, start + half))
                self.intervals.put(self._cell(level, start), self.algebra.combine(left, right))
            level += 1

    def _answer(self, start: int, end: int) -> Any:
        total = None
        while start < end:
            level = (start & -start).bit_length() - 1 if start else self.leaves.bit_length() - 1
            level = min(level, (end - start).bit_length() - 1, self.leaves.bit_length() - 1)
            interval = self.intervals.get(self._cell(level, start))
            total = interval if total is None else self.algebra.combine(total, interval)
            start += 1 << level
        return total

    def _merge(self, position: int, late: Any) -> None:
        cell = self._cell(0, position)
        self.intervals.put(cell, self.algebra.combine(self.intervals.get(cell), late))
        self._complete(position, self.end - 1)

    def _resize(self, capacity: int) -> None:
        partials = [self.intervals.get(self._cell(0, p)) for p in range(self.first, self.end)]
        self.intervals.move({})
        self.capacity, self.leaves = capacity, 1 << (capacity - 1).bit_length()
        for position, partial in enumerate(partials, self.first):
            self._insert(position, partial)

    def _numbers(self) -> dict[str, int]:
        return {"leaves": self.leaves}

    def is_live(self, cells: str, low: int, high: int) -> bool:
        level = 0
        while self.leaves >> level:
            ring = self.leaves >> level
            begin = 2 * (self.leaves - ring)
            live = range(self.first >> level, ((self.end - 1) >> level) + 1)
            cuts = range(max(low, begin), min(high, begin + ring))
            if cuts and live and self._meets(cuts[0] - begin, len(cuts), live, ring):
                return True
            level += 1
        return False

    @staticmethod
    def _meets(low: int, count: int, live: range, ring: int) -> bool:
        """Whether any of `count` slots of the ring, from `low` on, holds a live interval."""
        gone = (low - live.start) % ring
        return gone < len(live) or ring - gone < count

    def _space(self) -> int:
        return 2 * self.leaves
