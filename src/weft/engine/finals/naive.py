"""Naive: keep the partials, fold them again for every answer."""

from __future__ import annotations

from typing import Any

from weft.engine.finals.cells import Cells
from weft.engine.finals.contract import Card, Final


class Naive(Final):
    """A ring of partials; an answer folds its range from scratch. Tests compare all others with it.

    >>> from weft.algebra.extremes import MAX
    >>> final = Naive(MAX)
    >>> for value in (3, 9, 4):
    ...     _ = final.insert((value,))
    >>> final.answer(), final.answer(start=2), final.answer(start=0, end=1)
    ((9,), (4,), (3,))
    """

    card = Card(
        name="naive",
        title="recalculation",
        starts="any",
        needs=(),
        single="n - 1",
        multi="n(n - 1)/2",
        worst="n - 1",
        space="n",
        late="1",
        paper="Panes (SIGMOD Record 2005), OnTheFlySharing (SIGMOD 2006)",
    )

    def _open(self) -> None:
        self.partials: Cells = self.store.cells("partials")

    def _insert(self, position: int, partial: Any) -> None:
        self.partials.put(position % self.capacity, partial)

    def _answer(self, start: int, end: int) -> Any:
        total = self.partials.get(start % self.capacity)
        for position in range(start + 1, end):
            total = self.algebra.combine(total, self.partials.get(position % self.capacity))
        return total

    def _merge(self, position: int, late: Any) -> None:
        slot = position % self.capacity
        self.partials.put(slot, self.algebra.combine(self.partials.get(slot), late))

    def _rings(self) -> tuple[Cells, ...]:
        return (self.partials,)

    def _space(self) -> int:
        return self.capacity
