"""A structure's cells in pages: pieces of state, read on access, written when changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from weft.engine.finals.cells import Cells
from weft.engine.state.codec import bytes_to_table, damaged, table_to_bytes
from weft.engine.state.frames import Frames

POINTERS = 512
"""Pointers per page, eight bytes each: enough for a piece to be worth reading."""


class Pieces(Protocol):
    """Bytes by name: the part of the state store's interface that cells use."""

    def get_piece(self, name: str) -> bytes | None: ...

    def put_piece(self, name: str, data: bytes) -> None: ...

    def remove_piece(self, name: str) -> None: ...


class PagedCells:
    """Cells `[page * size, (page + 1) * size)` in the piece `name/page`."""

    def __init__(self, name: str, size: int, codec: Codec, pieces: Pieces) -> None:
        self.name, self.size, self.codec, self.pieces = name, size, codec, pieces
        self.pages: dict[int, list[Any]] = {}
        self.stored: set[int] = set()
        """The pages that are in the state store."""
        self.dirty: set[int] = set()

    def piece(self, page: int) -> str:
        """The name under which a page is stored."""
        return f"{self.name}/{page}"

    def _page(self, slot: int) -> list[Any]:
        number = slot // self.size
        if number not in self.pages:
            self.pages[number] = self._read(number) if number in self.stored else [None] * self.size
        return self.pages[number]

    def _read(self, number: int) -> list[Any]:
        what = f"piece {self.piece(number)}"
        data = self.pieces.get_piece(self.piece(number))
        if data is None:
            raise damaged(what, "it is not there")
        cells = self.codec.decode(bytes_to_table(data, what))
        if len(cells) != self.size:
            raise damaged(what, f"it has {len(cells)} cells and not {self.size}")
        return cells

    def get(self, slot: int) -> Any:
        return self._page(slot)[slot % self.size]

    def put(self, slot: int, cell: Any) -> None:
        if self.size == 1:
            self.pages[slot] = [cell]  # overwrites the page, so its old content need not be read
        else:
            self._page(slot)[slot % self.size] = cell
        self.dirty.add(slot // self.size)

    def move(self, moves: Mapping[int, int]) -> None:
        kept = {new: self.get(old) for old, new in moves.items()}
        self.pages.clear()
        self.dirty = set(self.stored)
        for page in self.stored:
            self.pages[page] = [None] * self.size
        for slot, cell in kept.items():
            self.put(slot, cell)

    def save(self, is_live: Callable[[int, int], bool]) -> None:
        """Write the changed pages; remove those without live cells."""
        for page in sorted(self.stored | self.dirty):
            low = page * self.size
            if not is_live(low, low + self.size):
                self.pages.pop(page, None)
                if page in self.stored:
                    self.pieces.remove_piece(self.piece(page))
                    self.stored.discard(page)
            elif page in self.dirty:
                cells = self.pages[page]
                for at in range(self.size):  # cells that nobody will read need not be written
                    if cells[at] is not None and not is_live(low + at, low + at + 1):
                        cells[at] = None
                self.pieces.put_piece(self.piece(page), table_to_bytes(self.codec.encode(cells)))
                self.stored.add(page)
        self.dirty.clear()


class Codec:
    """Converts a page of frames to a table and back."""

    def __init__(self, frames: Frames) -> None:
        self.frames = frames

    def encode(self, cells: list[Any]) -> pa.Table:
        return self.frames.pack(cells)

    def decode(self, table: pa.Table) -> list[Any]:
        return list(self.frames.unpack(table))


class IntegerCodec(Codec):
    """Converts a page of integers to a table and back."""

    def __init__(self) -> None:
        pass

    def encode(self, cells: list[Any]) -> pa.Table:
        return pa.table({"c0": pa.array(cells, pa.int64())})

    def decode(self, table: pa.Table) -> list[Any]:
        return [None if value is None else int(value) for value in table.column(0).to_pylist()]


class PagedStore:
    """A structure's cells in pages of `size` frames.

    Cells that are the slices themselves (`slices`, by the structure's name for them) have no pages:
    they are read from the stored slices.
    """

    def __init__(
        self, name: str, frames: Frames, size: int, pieces: Pieces, slices: Mapping[str, Cells]
    ) -> None:
        self.name, self.frames, self.size, self.pieces = name, frames, size, pieces
        self.slices = slices
        self.named: dict[str, PagedCells] = {}

    def cells(self, name: str) -> Cells:
        if name in self.slices:
            return self.slices[name]
        # Registers are few and change with nearly every slide: each is a separate piece.
        return self._open(name, 1 if name == "registers" else self.size, Codec(self.frames))

    def pointers(self, name: str) -> Cells:
        return self._open(name, POINTERS, IntegerCodec())

    def _open(self, name: str, size: int, codec: Codec) -> PagedCells:
        if name not in self.named:
            self.named[name] = PagedCells(f"{self.name}/{name}", size, codec, self.pieces)
        return self.named[name]

    def directory(self) -> dict[str, list[int]]:
        """The existing pages, by name of the cells."""
        return {name: _runs(cells.stored) for name, cells in self.named.items()}

    def restore(self, directory: Mapping[str, list[int]]) -> None:
        """Restore what `directory` returned."""
        for name, runs in directory.items():
            pairs = zip(runs[::2], runs[1::2], strict=True)
            self.named[name].stored = {page for low, high in pairs for page in range(low, high)}

    def save(self, is_live: Callable[[str, int, int], bool]) -> None:
        """Write the changed pages; `is_live(name, low, high)`: whether cells may be read again."""
        for name, cells in self.named.items():
            cells.save(partial(is_live, name))


def stored_pieces(name: str, directory: Mapping[str, list[int]]) -> list[str]:
    """The pieces that a directory names.

    >>> stored_pieces("f1", {"queue": [3, 5], "registers": [0, 1]})
    ['f1/queue/3', 'f1/queue/4', 'f1/registers/0']
    """
    return [
        f"{name}/{cells}/{page}"
        for cells, runs in directory.items()
        for low, high in zip(runs[::2], runs[1::2], strict=True)
        for page in range(low, high)
    ]


def _runs(pages: set[int]) -> list[int]:
    """The numbers as low, high, low, high, ...: ascending runs of consecutive numbers.

    >>> _runs({3, 4, 5, 9})
    [3, 6, 9, 10]
    """
    ordered = np.array(sorted(pages), dtype=np.int64)
    if not len(ordered):
        return []
    cuts = np.flatnonzero(np.diff(ordered) > 1) + 1
    lows = np.concatenate([ordered[:1], ordered[cuts]])
    highs = np.concatenate([ordered[cuts - 1], ordered[-1:]]) + 1
    return [int(value) for value in np.column_stack([lows, highs]).ravel()]
