"""DABA lite: two stacks whose flip is spread over the slides, so that no slide is slow."""

from __future__ import annotations

from typing import Any

from weft.engine.finals.cells import Cells
from weft.engine.finals.contract import Card, Final

_MIDDLE, _BACK = 0, 1


class DABA(Final):
    """De-amortised bankers' aggregator, lite: every insert, evict and answer is O(1).

    The queue is cut by `first <= left <= right <= accum <= back <= end`:

        [first, left)   combination from here up to back
        [left, right)   combination from here up to right
        [right, accum)  raw
        [accum, back)   combination from here up to back
        [back, end)     raw

    and two registers hold the combinations of `[right, back)` and `[back, end)`. Every insert and
    evict moves the cuts by one step, which combines at most twice; when `left` reaches `back`, the
    parts are renamed without changing any partial.

    >>> from weft.algebra.extremes import MAX
    >>> final = DABA(MAX, capacity=3)
    >>> for value in (3, 9, 4, 1, 5):
    ...     final.evict(final.end - 2); _ = final.insert((value,)); print(*final.answer())
    3
    9
    9
    9
    5
    """

    card = Card(
        name="daba",
        title="de-amortised bankers' aggregator, lite",
        starts="oldest",
        needs=(),
        single="4",
        multi="one per range",
        worst="6",
        space="n + 2",
        late="slices that reach over the slice",
        paper="In-order sliding-window aggregation (VLDB Journal 2021)",
    )
    overwrites = True

    def _open(self) -> None:
        self.queue: Cells = self.store.cells("queue")
        self.registers: Cells = self.store.cells("registers")
        self.left = self.right = self.accum = self.back = self.first

    def _join(self, older: Any, newer: Any) -> Any:
        """The combination of two partials, either of which may be of no slices (None)."""
        if older is None:
            return newer
        return older if newer is None else self.algebra.combine(older, newer)

    def _at(self, position: int, until: int) -> Any:
        """The queue's partial at a position, or None from `until` on."""
        return self.queue.get(position % self.capacity) if position < until else None

    def _insert(self, position: int, partial: Any) -> None:
        self.queue.put(position % self.capacity, partial)
        self.registers.put(_BACK, self._join(self.registers.get(_BACK), partial))
        self._step(position + 1)

    def _evict(self, previous: int) -> None:
        # Evict slices one by one, because each does one step of the next flip.
        for first in range(previous + 1, self.first + 1):
            self.first = first
            self._step(self.end)

    def _settle(self, end: int) -> None:
        """Make everything up to `end` the front; both registers become empty."""
        self.left = self.right = self.accum = self.back = end
        self.registers.put(_MIDDLE, None)
        self.registers.put(_BACK, None)

    def _step(self, end: int) -> None:
        """Move the cuts by one step; `end` is one past the newest slice."""
        if self.first == self.back:  # no front: at most a single slice is held
            self._settle(end)
            return
        if self.left == self.back:  # the next flip begins
            self.left, self.right = self.first, self.back
            self.accum = self.back = end
            self.registers.put(_MIDDLE, self.registers.get(_BACK))
            self.registers.put(_BACK, None)
        if self.left == self.right:
            self.left, self.right, self.accum = self.left + 1, self.right + 1, self.accum + 1
            return
        slot = self.left % self.capacity
        self.queue.put(slot, self._join(self.queue.get(slot), self.registers.get(_MIDDLE)))
        self.left += 1
        newer = self._at(self.accum, self.back)
        self.accum -= 1
        slot = self.accum % self.capacity
        self.queue.put(slot, self._join(self.queue.get(slot), newer))

    def _answer(self, start: int, end: int) -> Any:
        return self._join(self._at(start, self.back), self.registers.get(_BACK))

    def _reach(self, position: int) -> int:
        """One past the last slice that the queue's partial at a position includes."""
        if position < self.left or self.accum <= position < self.back:
            return self.back
        return self.right if position < self.right else position + 1

    def _merge(self, position: int, late: Any) -> None:
        if self.originals is None:
            self._merge_in_place(position, late)
            return
        originals = self.originals
        slot = position % self.capacity
        if self._reach(position) == position + 1:
            self.queue.put(slot, originals.get(slot))
        if self.right <= position < self.back:
            total = None
            for newer in range(self.back - 1, self.right - 1, -1):
                total = self._join(originals.get(newer % self.capacity), total)
            self.registers.put(_MIDDLE, total)
        elif position >= self.back:
            total = None
            for older in range(self.back, self.end):
                total = self._join(total, originals.get(older % self.capacity))
            self.registers.put(_BACK, total)
        for older in range(position, self.first - 1, -1):
            if self._reach(older) > position and self._reach(older) > older + 1:
                slot = older % self.capacity
                self.queue.put(slot, self._join(originals.get(slot), self._after(older)))

    def _after(self, position: int) -> Any:
        """The combination of the slices after a position, up to where its partial reaches."""
        following = self._at(position + 1, self._reach(position))
        if position + 1 == self.left < self.right:  # the next partial reaches only up to `right`
            return self._join(following, self.registers.get(_MIDDLE))
        return following

    def _merge_in_place(self, position: int, late: Any) -> None:
        combine = self.algebra.combine
        for older in range(position, self.first - 1, -1):
            if self._reach(older) > position:
                slot = older % self.capacity
                self.queue.put(slot, combine(self.queue.get(slot), late))
        if position >= self.right:
            register = _BACK if position >= self.back else _MIDDLE
            self.registers.put(register, self._join(self.registers.get(register), late))

    def _rings(self) -> tuple[Cells, ...]:
        return (self.queue,)

    def _numbers(self) -> dict[str, int]:
        return {
            "left": self.left,
            "right": self.right,
            "accum": self.accum,
            "back": self.back,
        }

    def _space(self) -> int:
        return self.capacity + 2
