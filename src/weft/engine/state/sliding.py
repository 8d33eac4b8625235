"""A final structure over the slices of a bucket, its state in pieces.

    slices of the bucket --insert, in order--> structure --answer--> windows, as they close
                     late rows --merge--^            ^--evict-- slices that no open window needs

The slices are the source of truth, and the structure is derived from them. It is rebuilt when the
queries or the structure change, or when a late row falls into a slice that was empty. A micro-batch
that closes a few slides of a long window reads and writes only the pages that the structure uses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from weft.engine.finals.contract import Final
from weft.engine.finals.registry import make, structure
from weft.engine.state.cells import PagedStore, Pieces, stored_pieces
from weft.engine.state.frames import Frame, Frames

Int64: TypeAlias = npt.NDArray[np.int64]
PAGE = 24 * 1024
"""The target size of a page of frames in bytes; a larger frame has its own page."""


class SliceSource(Protocol):
    """The slices of one lane of a bucket, as frames."""

    def frames_between(self, low: int, high: int) -> list[tuple[int, Frame]]:
        """Every slice that holds rows and starts in `[low, high)`, ascending."""


@dataclass(frozen=True)
class Closing:
    """A due window `[start, end)`; `asker` is the index of the request that it belongs to."""

    end: int
    start: int
    asker: int


class Sliding:
    """The slices of one lane in a structure: one for all ranges, or one for each.

    A structure that can answer only from its oldest slice (`starts == "oldest"`) serves one range.
    """

    def __init__(
        self,
        name: str,
        structure_name: str,
        frames: Frames,
        ranges: Sequence[int],
        source: SliceSource,
        pieces: Pieces,
    ) -> None:
        self.name, self.structure = name, structure_name
        self.frames, self.source, self.pieces = frames, source, pieces
        self.ranges = tuple(sorted(set(ranges)))
        self.single = structure(structure_name).card.starts == "oldest"
        self.page = 1
        self.upto: int | None = None
        """Slices that start before this are in the structure; None before it is built."""
        self.finals: list[Final] = []
        self.stores: list[PagedStore] = []

    @property
    def signature(self) -> str:
        """Equal for two structures that are built from the same slices in the same way."""
        ops = "; ".join(map(repr, self.frames.ops))
        return f"{self.structure} over {ops} for {','.join(map(str, self.ranges))}"

    # Built from the slices, or restored as the last micro-batch saved it.

    def _open(self, capacity: int, first: Sequence[int]) -> None:
        self.finals, self.stores = [], []
        for at, begin in enumerate(first):
            slices = _SliceCells(self, at)
            # Partials that a structure stores unchanged are read from the slices instead.
            own = {"originals": slices, **({} if self._overwrites else {"partials": slices})}
            store = PagedStore(f"{self.name}/{at}", self.frames, self.page, self.pieces, own)
            self.finals.append(
                make(self.structure, self.frames, capacity=capacity, first=begin, store=store)
            )
            self.stores.append(store)
        self.starts = self.stores[0].pointers("starts")

    @property
    def _overwrites(self) -> bool:
        return structure(self.structure).overwrites

    @property
    def _count(self) -> int:
        return len(self.ranges) if self.single else 1

    def begin(self, oldest: Mapping[int, int | None], upto: int, capacity: int) -> None:
        """Build the structure from the slices of open windows, up to the instant `upto`.

        `oldest` is, by range, the start of its oldest open window.
        """
        starts = [start for start in oldest.values() if start is not None]
        found = self.source.frames_between(min(starts, default=upto), upto)
        self.page = _page_size([frame for _, frame in found])
        since = [oldest[range_] for range_ in self.ranges] if self.single else [None]
        first = [sum(start < (begin or start) for start, _ in found) for begin in since]
        self._open(max(8, min(capacity, 2 * len(found))), first)
        self.upto = upto
        for position, (start, frame) in enumerate(found):
            self.starts.put(position, start)
            for final in self.finals:
                if position >= final.end:
                    final.insert(frame)

    def restore(self, meta: Mapping[str, Any]) -> bool:
        """Restore what `save` returned; False, with no effect, if the signature differs."""
        if meta["signature"] != self.signature:
            return False
        self.page, self.upto = meta["page"], meta["upto"]
        self._open(8, [0] * self._count)
        for final, store, (numbers, pages) in zip(
            self.finals, self.stores, meta["finals"], strict=True
        ):
            final.restore_numbers(numbers)
            store.restore(pages)
        return True

    def save(self) -> dict[str, Any]:
        """Write the changed pieces; return the metadata for the index."""
        for final, store in zip(self.finals, self.stores, strict=True):
            store.save(self._liveness(final))
        return {
            "structure": self.structure,
            "signature": self.signature,
            "page": self.page,
            "upto": self.upto,
            "finals": [
                [final.numbers(), store.directory()]
                for final, store in zip(self.finals, self.stores, strict=True)
            ],
        }

    def _liveness(self, final: Final) -> Callable[[str, int, int], bool]:
        first, end = min(final.first for final in self.finals), self.finals[0].end

        def is_live(cells: str, low: int, high: int) -> bool:
            if cells == "starts":
                return low < end and high > first
            return final.is_live(cells, low, high)

        return is_live

    # What a micro-batch does.

    def late(self, found: Sequence[tuple[int, Frame]]) -> bool:
        """Merge late frames, which the stored slices contain already, into the structure.

        False if one belongs to a slice that was empty: then the structure must be rebuilt.
        """
        for start, frame in found:
            first = min(final.first for final in self.finals)
            end = self.finals[0].end
            position = self._position(start, first, end)
            if position == end or self._start(position) != start:
                return False
            for final in self.finals:
                if position >= final.first:
                    final.merge(position, frame)
        return True

    def close(self, windows: Sequence[Closing]) -> Iterator[tuple[Closing, Frame]]:
        """The answer of each window that is not empty, in the order of their ends."""
        assert self.upto is not None
        ordered = sorted(windows, key=lambda window: (window.end, window.start))
        until = max(self.upto, max((window.end for window in ordered), default=self.upto))
        fresh = iter(self.source.frames_between(self.upto, until))
        following = next(fresh, None)
        for window in ordered:
            while following is not None and following[0] < window.end:
                self._insert(*following)
                following = next(fresh, None)
            answer = self._answer(window)
            if len(answer):
                yield window, answer
        while following is not None:
            self._insert(*following)
            following = next(fresh, None)
        self.upto = until

    def _insert(self, start: int, frame: Frame) -> None:
        position = self.finals[0].end
        for final in self.finals:
            final.insert(frame)
        self.starts.put(position, start)

    def _answer(self, window: Closing) -> Frame:
        at = self.ranges.index(window.end - window.start) if self.single else 0
        final = self.finals[at]
        first = self._position(window.start, final.first, final.end)
        if self.single:
            final.evict(first)
            answer: Frame = final.answer()
        else:
            answer = final.answer(first)
        return answer

    def evict(self, before: Mapping[int, int | None]) -> None:
        """Evict slices that no open window needs; `before` is the start of the oldest by range."""
        ends = self.finals[0].end
        open_starts = [start for start in before.values() if start is not None]
        for at, final in enumerate(self.finals):
            start = before[self.ranges[at]] if self.single else min(open_starts, default=None)
            first = ends if start is None else self._position(start, final.first, final.end)
            final.evict(max(first, final.first))

    # Positions: non-empty slices, numbered in the order in which they were inserted.

    def _start(self, position: int) -> int:
        start: int = self.starts.get(position)
        return start

    def _position(self, instant: int, low: int, high: int) -> int:
        """The position in `[low, high]` of the first slice that does not start before an instant.

        Searches backwards from the newest in doubling steps, then by bisection: most positions
        are near either end, so that few pages are read.
        """
        if low == high or self._start(low) >= instant:
            return low
        step = 1
        while high - step > low and self._start(high - step) >= instant:
            high, step = high - step, 2 * step
        low = max(low, high - step)
        while low < high:
            middle = (low + high) // 2
            if self._start(middle) < instant:
                low = middle + 1
            else:
                high = middle
        return low


class _SliceCells:
    """The ring of a structure's partials, read from the bucket's slices; writes are ignored."""

    def __init__(self, sliding: Sliding, at: int) -> None:
        self.sliding, self.at = sliding, at

    def get(self, slot: int) -> Frame:
        final = self.sliding.finals[self.at]
        # During an eviction, `first` is already past the evicted slices.
        oldest = max(0, final.end - final.capacity)
        start = self.sliding._start(oldest + (slot - oldest) % final.capacity)
        found = self.sliding.source.frames_between(start, start + 1)
        return found[0][1] if found else self.sliding.frames.identity

    def put(self, slot: int, cell: Any) -> None:
        pass

    def move(self, moves: Mapping[int, int]) -> None:
        pass


def discard(name: str, meta: Mapping[str, Any], pieces: Pieces) -> None:
    """Remove all pieces of a structure."""
    for at, (_, pages) in enumerate(meta.get("finals", ())):
        for piece in stored_pieces(f"{name}/{at}", pages):
            pieces.remove_piece(piece)


def _page_size(frames: Sequence[Frame]) -> int:
    """The number of frames per page."""
    rows = sum(map(len, frames)) / max(1, len(frames))
    columns = max((sum(map(len, frame.parts)) for frame in frames[:1]), default=1)
    return int(min(16, max(1, PAGE // max(1, rows * 8 * (columns + 2)))))
