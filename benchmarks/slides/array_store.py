"""Cells of a structure in arrays, to measure the structure by itself, without a state store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from weft.algebra.ops.base import Columns
from weft.engine.finals.cells import Cells
from weft.engine.finals.lanes import Lanes
from weft.errors import FinalsError


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
        """Add lanes to every cell."""
        self.algebra.lanes = lanes
        for cells in self.named.values():
            cells.widen(lanes)


class ArrayCells:
    """Rows of lanes in two-dimensional NumPy arrays, which compiled loops take."""

    def __init__(self, algebra: Lanes, room: int = 0) -> None:
        self.algebra = algebra
        self.columns: Columns = self._blank(room)

    def _blank(self, room: int) -> Columns:
        lanes = self.algebra.lanes
        flat = self.algebra.op.blank(room * lanes)
        if not all(isinstance(column, np.ndarray) for column in flat):
            raise FinalsError(
                f"{self.algebra.kind} over {', '.join(map(str, self.algebra.op.types))} is not of "
                f"numbers: it has no array form; use a store in memory or in pieces"
            )
        return tuple(np.array(column).reshape(room, lanes) for column in flat)

    def reserve(self, room: int) -> Columns:
        """The columns, with room for at least this many rows."""
        held = len(self.columns[0])
        if held < room:
            grown = self._blank(room)
            for old, new in zip(self.columns, grown, strict=True):
                new[:held] = old
            self.columns = grown
        return self.columns

    def get(self, slot: int) -> Any:
        return tuple(column[slot] for column in self.reserve(slot + 1))

    def put(self, slot: int, cell: Any) -> None:
        row = self.algebra.identity if cell is None else cell
        for column, value in zip(self.reserve(slot + 1), row, strict=True):
            column[slot] = value

    def move(self, moves: Mapping[int, int]) -> None:
        old, self.columns = self.columns, self._blank(max(moves.values(), default=-1) + 1)
        here, there = list(moves), list(moves.values())
        for source, target in zip(old, self.columns, strict=True):
            target[there] = source[here]

    def widen(self, lanes: int) -> None:
        """Add blank lanes; the algebra has them already."""
        held = self.columns[0].shape[1]
        grown = self._blank(len(self.columns[0]))
        for old, new in zip(self.columns, grown, strict=True):
            new[:, :held] = old[:, :held]
        assert grown[0].shape[1] == lanes
        self.columns = grown


class PointerCells:
    """Integers in one NumPy array.

    >>> cells = PointerCells()
    >>> cells.put(2, 7); cells.get(2)
    7
    """

    def __init__(self) -> None:
        self.array = np.zeros(0, dtype=np.int64)

    def reserve(self, room: int) -> Any:
        """The array, with room for at least this many."""
        if len(self.array) < room:
            self.array = np.concatenate([self.array, np.zeros(room - len(self.array), np.int64)])
        return self.array

    def get(self, slot: int) -> int:
        return int(self.array[slot])

    def put(self, slot: int, cell: int) -> None:
        self.reserve(slot + 1)[slot] = cell

    def move(self, moves: Mapping[int, int]) -> None:
        kept = {new: self.get(old) for old, new in moves.items()}
        self.array = np.zeros(0, dtype=np.int64)
        for slot, value in kept.items():
            self.put(slot, value)
