"""FlatFIT: a ring of partials, and pointers that skip slices that were combined before."""

from __future__ import annotations

from typing import Any

from weft.engine.finals.cells import Cells
from weft.engine.finals.contract import Card, Final


class FlatFIT(Final):
    """Slot s holds the combination of the slices from its own up to the one it points to.

    An answer follows the pointers from its start to the newest slice, then makes every slot on
    the way, except the start, point past the newest (FlatFIT Algorithm 1; operands in order,
    older first, which the paper's listing reverses). With one range there are at most three slots
    on the way, except once per window, when no slot skips anything: this wReset runs backwards
    over the ring without a stack (section 3.3).

    >>> from weft.algebra.extremes import MAX
    >>> final = FlatFIT(MAX, capacity=5)
    >>> for value in (3, 9, 4, 1, 5):
    ...     _ = final.insert((value,))
    >>> final.answer(), final.answer(start=3)
    ((9,), (5,))
    """

    card = Card(
        name="flatfit",
        title="flat and fast index traverser",
        starts="newest",
        needs=(),
        single="3",
        multi="n - 1",
        worst="n - 1",
        space="2n to 2.5n",
        late="slots that reach over the slice",
        paper="FlatFIT (SSDBM 2017)",
    )
    overwrites = True

    def _open(self) -> None:
        self.partials: Cells = self.store.cells("partials")
        self.pointers: Cells = self.store.pointers("pointers")
        self.skips_until = self.first - 1
        """The newest position whose slot skips others."""
        self.deepest = 0
        """The greatest number of positions ever on the stack, as the paper counts them."""

    def _insert(self, position: int, partial: Any) -> None:
        slot = position % self.capacity
        self.partials.put(slot, partial)
        self.pointers.put(slot, (position + 1) % self.capacity)

    def _answer(self, start: int, end: int) -> Any:
        if start > self.skips_until:
            return self._reset(start, end)
        combine, stack, position = self.algebra.combine, [], start
        while position < end:
            stack.append(position)
            position = self._reach(position)
        self.deepest = max(self.deepest, len(stack) - 1)
        total = self.partials.get(stack.pop() % self.capacity)
        if len(stack) > 1:
            self.skips_until = max(self.skips_until, stack[-1])
        while len(stack) > 1:
            slot = stack.pop() % self.capacity
            total = combine(self.partials.get(slot), total)
            self.partials.put(slot, total)
            self.pointers.put(slot, end % self.capacity)
        return combine(self.partials.get(stack[0] % self.capacity), total) if stack else total

    def _reset(self, start: int, end: int) -> Any:
        """wReset: no slot after the start skips anything, so go backwards over all of them."""
        newest = end % self.capacity
        total = self.partials.get((end - 1) % self.capacity)
        for position in range(end - 2, start, -1):
            slot = position % self.capacity
            total = self.algebra.combine(self.partials.get(slot), total)
            self.partials.put(slot, total)
            self.pointers.put(slot, newest)
        if end - start == 1:
            return total
        if end - start > 2:
            self.skips_until = end - 2
        return self.algebra.combine(self.partials.get(start % self.capacity), total)

    def _reach(self, position: int) -> int:
        """One past the last slice that the slot's partial includes."""
        slot = position % self.capacity
        pointer: int = self.pointers.get(slot)
        return position + (pointer - slot - 1) % self.capacity + 1

    def _merge(self, position: int, late: Any) -> None:
        for older in range(position, self.first - 1, -1):
            if self._reach(older) <= position:
                continue
            slot = older % self.capacity
            if self.originals is None:
                self.partials.put(slot, self.algebra.combine(self.partials.get(slot), late))
            else:  # restart with the slice alone; the next answer over it adds skips again
                self.partials.put(slot, self.originals.get(slot))
                self.pointers.put(slot, (older + 1) % self.capacity)

    def _resize(self, capacity: int) -> None:
        reach = {p: self._reach(p) for p in range(self.first, self.end)}
        super()._resize(capacity)
        self.pointers.move({})
        for position, end in reach.items():
            self.pointers.put(position % capacity, end % capacity)

    def _rings(self) -> tuple[Cells, ...]:
        return (self.partials,)

    def _numbers(self) -> dict[str, int]:
        return {"skips_until": self.skips_until, "deepest": self.deepest}

    def _space(self) -> int:
        return 2 * self.capacity + self.deepest
