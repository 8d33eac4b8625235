"""Subtract on evict: one running total, for invertible aggregates."""

from __future__ import annotations

from typing import Any

from weft.engine.finals.cells import Cells
from weft.engine.finals.contract import Card, Final

_TOTAL = 0


class Subtract(Final):
    """Adds new slices and subtracts evicted ones: two operations per slide for any window.

    Only for aggregates that commute and invert exactly: counts and sums of integers and decimals.
    Subtraction cannot distinguish an empty total from a total of zero, so the non-empty slices are
    counted as well.

    >>> from weft.algebra.sums import SUM
    >>> final = Subtract(SUM, capacity=2)
    >>> for value in (3, 9, None, None):
    ...     final.evict(final.end - 1); _ = final.insert((value,)); print(*final.answer())
    3
    12
    9
    None
    """

    card = Card(
        name="subtract",
        title="subtract on evict",
        starts="oldest",
        needs=("commutative", "invertible"),
        single="2",
        multi="one per range",
        worst="2",
        space="n + 1",
        late="2",
        paper="General incremental sliding-window aggregation (VLDB 2015)",
    )

    def _open(self) -> None:
        self.partials: Cells = self.store.cells("partials")
        self.registers: Cells = self.store.cells("registers")
        self.present = 0
        """The number of slices held that are not the identity."""

    def _is_something(self, partial: Any) -> bool:
        empty = getattr(self.algebra, "is_identity", None)
        return not (empty(partial) if empty else partial == self.algebra.identity)

    def _insert(self, position: int, partial: Any) -> None:
        self.partials.put(position % self.capacity, partial)
        self.present += self._add(partial)

    def _add(self, partial: Any) -> bool:
        """Add the partial to the total unless it is the identity; return whether it was added."""
        if not self._is_something(partial):
            return False
        total = self.registers.get(_TOTAL)
        self.registers.put(
            _TOTAL, partial if total is None else self.algebra.combine(total, partial)
        )
        return True

    def _evict(self, previous: int) -> None:
        for position in range(previous, self.first):
            oldest = self.partials.get(position % self.capacity)
            if self._is_something(oldest):
                self.present -= 1
                total = self.registers.get(_TOTAL)
                left = self.algebra.subtract(total, oldest) if self.present else None
                self.registers.put(_TOTAL, left)

    def _answer(self, start: int, end: int) -> Any:
        return self.registers.get(_TOTAL) if self.present else self.algebra.identity

    def _merge(self, position: int, late: Any) -> None:
        slot = position % self.capacity
        partial = self.partials.get(slot)
        if self._add(late) and not self._is_something(partial):
            self.present += 1
        self.partials.put(slot, self.algebra.combine(partial, late))

    def _rings(self) -> tuple[Cells, ...]:
        return (self.partials,)

    def _numbers(self) -> dict[str, int]:
        return {"present": self.present}

    def _space(self) -> int:
        return self.capacity + 1
