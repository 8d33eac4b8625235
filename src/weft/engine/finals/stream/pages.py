"""Cells in pages: each a named piece, read when it is first looked at, written when it changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from weft.engine.finals.cells import Cells
from weft.engine.finals.stream.frame import Frames
from weft.engine.finals.stream.pieces import pack_table, unpack_table
from weft.errors import CheckpointError

Load = Callable[[str], bytes | None]
"""Gives a piece by its name, or None."""


@dataclass
class Touched:
    """The pieces read from and written to the state store."""

    read: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)
    dropped: set[str] = field(default_factory=set)
    read_bytes: int = 0
    written_bytes: int = 0


class PagedCells:
    """Cells `[page * size, (page + 1) * size)` in the piece `name/page`."""

    def __init__(self, name: str, size: int, codec: Codec, load: Load, touched: Touched) -> None:
        self.name, self.size = name, size
        self.codec, self.load, self.touched = codec, load, touched
        self.pages: dict[int, list[Any]] = {}
        self.stored: set[int] = set()
        """Pages that the state store holds."""
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
        name = self.piece(number)
        piece = self.load(name)
        if piece is None:
            raise CheckpointError(f"piece {name!r} is missing from the state")
        self.touched.read.add(name)
        self.touched.read_bytes += len(piece)
        cells = self.codec.decode(unpack_table(name, piece))
        if len(cells) != self.size:
            raise CheckpointError(f"piece {name!r} has {len(cells)} cells, not {self.size}")
        return cells

    def get(self, slot: int) -> Any:
        return self._page(slot)[slot % self.size]

    def put(self, slot: int, cell: Any) -> None:
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

    def save(self, is_live: Callable[[int, int], bool]) -> dict[str, bytes]:
        """The pages that have changed; those without live cells are dropped instead."""
        saved = {}
        for page in sorted(self.stored | self.dirty):
            low = page * self.size
            if not is_live(low, low + self.size):
                self.pages.pop(page, None)
                if page in self.stored:
                    self.touched.dropped.add(self.piece(page))
                    self.stored.discard(page)
            elif page in self.dirty:
                cells = self.pages[page]
                for at in range(self.size):  # what nobody will read need not be written
                    if cells[at] is not None and not is_live(low + at, low + at + 1):
                        cells[at] = None
                piece = pack_table(self.codec.encode(cells))
                saved[self.piece(page)] = piece
                self.touched.written.add(self.piece(page))
                self.touched.written_bytes += len(piece)
                self.stored.add(page)
        self.dirty.clear()
        return saved

    def forget(self) -> None:
        """Let go of pages in memory that the state store holds as they are."""
        for page in list(self.pages):
            if page in self.stored and page not in self.dirty:
                del self.pages[page]


class Codec:
    """How a page of cells becomes a record batch: frames."""

    def __init__(self, frames: Frames) -> None:
        self.frames = frames

    def encode(self, cells: list[Any]) -> pa.RecordBatch:
        return self.frames.pack(cells)

    def decode(self, batch: pa.RecordBatch) -> list[Any]:
        return list(self.frames.unpack(batch))


class IntegerCodec(Codec):
    """How a page of integers becomes a record batch."""

    def __init__(self) -> None:
        pass

    def encode(self, cells: list[Any]) -> pa.RecordBatch:
        return pa.RecordBatch.from_arrays([pa.array(cells, pa.int64())], ["c0"])

    def decode(self, batch: pa.RecordBatch) -> list[Any]:
        return [None if value is None else int(value) for value in batch.column(0).to_pylist()]


class PagedStore:
    """A structure's cells in pages of so many cells."""

    def __init__(self, frames: Frames, size: int, load: Load) -> None:
        self.frames, self.size, self.load = frames, size, load
        self.touched = Touched()
        self.named: dict[str, PagedCells] = {}

    def cells(self, name: str) -> Cells:
        # Registers are few and change with nearly every slide: each is a piece of its own.
        size = 1 if name == "registers" else self.size
        return self._open(name, size, Codec(self.frames))

    def pointers(self, name: str) -> Cells:
        # Eight bytes each: as many to a page as make a piece worth reading.
        return self._open(name, max(self.size, 512), IntegerCodec())

    def _open(self, name: str, size: int, codec: Codec) -> PagedCells:
        if name not in self.named:
            self.named[name] = PagedCells(name, size, codec, self.load, self.touched)
        return self.named[name]

    def directory(self) -> dict[str, list[int]]:
        """Which pages there are, by cells."""
        return {name: _runs(cells.stored) for name, cells in self.named.items()}

    def restore_directory(self, directory: Mapping[str, list[int]]) -> None:
        """Take back what `directory` gave."""
        for name, runs in directory.items():
            pairs = zip(runs[::2], runs[1::2], strict=True)
            self.named[name].stored = {page for low, high in pairs for page in range(low, high)}

    def save(self, is_live: Callable[[str, int, int], bool]) -> dict[str, bytes]:
        """The changed pieces; `is_live(name, low, high)` says which cells may still be read."""
        saved: dict[str, bytes] = {}
        for name, cells in self.named.items():
            saved.update(cells.save(partial(is_live, name)))
        return saved


def _runs(pages: set[int]) -> list[int]:
    """Ascending numbers as low, high, low, high: stretches of neighbours.

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
