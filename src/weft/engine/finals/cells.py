"""Where a structure stores its partials: numbered cells, in memory or in pieces of state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class Cells(Protocol):
    """Numbered cells; one that was never written reads as None."""

    def get(self, slot: int) -> Any: ...

    def put(self, slot: int, cell: Any) -> None: ...

    def move(self, moves: Mapping[int, int]) -> None:
        """Keep only the cells in `moves`, each under its new number."""


class Store(Protocol):
    """Provides a structure with its cells, by name."""

    def cells(self, name: str) -> Cells:
        """Cells that hold partials."""

    def pointers(self, name: str) -> Cells:
        """Cells that hold integers."""


class DictCells(dict[int, Any]):
    """Cells in memory.

    >>> cells = DictCells({0: "a", 1: "b"})
    >>> cells.move({1: 5}); cells
    {5: 'b'}
    """

    def get(self, slot: int) -> Any:  # type: ignore[override]
        return super().get(slot)

    def put(self, slot: int, cell: Any) -> None:
        self[slot] = cell

    def move(self, moves: Mapping[int, int]) -> None:
        kept = {new: self[old] for old, new in moves.items() if old in self}
        self.clear()
        self.update(kept)


class MemoryStore:
    """Every cell in this process's memory."""

    def __init__(self) -> None:
        self.named: dict[str, DictCells] = {}

    def cells(self, name: str) -> Cells:
        return self.named.setdefault(name, DictCells())

    def pointers(self, name: str) -> Cells:
        return self.named.setdefault(name, DictCells())
