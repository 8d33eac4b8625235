"""Cells of a structure in arrays: what a structure by itself, without state, is measured with."""

from __future__ import annotations

from weft.engine.finals.contract import Cells
from weft.engine.finals.lanes import ArrayCells, Lanes, PointerCells


class ArrayStore:
    """Cells of a structure as arrays. `pointers` stay a mapping until a loop asks for them."""

    def __init__(self, algebra: Lanes) -> None:
        self.algebra = algebra
        self.named: dict[str, ArrayCells] = {}
        self.numbered: dict[str, PointerCells] = {}

    def cells(self, name: str) -> Cells:
        return self.named.setdefault(name, ArrayCells(self.algebra))

    def pointers(self, name: str) -> Cells:
        return self.numbered.setdefault(name, PointerCells())

    def widen(self, lanes: int) -> None:
        """Make room for more lanes in every cell."""
        self.algebra.lanes = lanes
        for cells in self.named.values():
            cells.widen(lanes)
