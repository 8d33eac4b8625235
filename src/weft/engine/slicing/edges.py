"""The edges of a tree: from a time to its slice, and from a slice to the windows it belongs to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import lcm
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from weft.engine.slicing.lookup import LookupTable
from weft.errors import WindowError
from weft.query.progressions import clean_arrays
from weft.query.window import Window

Int64: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]

FEW = 6
"""Up to this many progressions, arithmetic on every time is faster than a search among edges."""
_CHUNK = 1 << 22
_LIMITS = np.iinfo(np.int64)


@dataclass(frozen=True, eq=False, init=False)
class TreeEdges:
    """The instants at which a tree is cut: the union of progressions `offset + k * step`.

    Times and edges are int64 and may be negative. A slice is `[edge, next edge)`, identified by
    its start. If the tree's windows are given too, `needed` tells which slices are in no window,
    which exist if all windows leave gaps.

    >>> edges = TreeEdges([(0, 5), (2, 5)])
    >>> edges.slice_start(np.array([-1, 0, 6, 7]))
    array([-3,  0,  5,  7])
    >>> edges.edges_between(-5, 8)
    array([-5, -3,  0,  2,  5,  7])
    """

    offset: Int64
    step: Int64
    gaps: tuple[tuple[int, int, int], ...]
    """Range, slide and phase of every window if all leave gaps; otherwise empty."""

    def __init__(
        self, progressions: Iterable[tuple[int, int]], windows: Iterable[Window] = ()
    ) -> None:
        offset, step = _cleaned(list(progressions))
        listed = list(windows)
        gaps: tuple[tuple[int, int, int], ...] = ()
        if listed and all(w.has_fixed_length and w.slide > w.range for w in listed):
            gaps = tuple(dict.fromkeys((w.range, w.slide, w.phase) for w in listed))
        object.__setattr__(self, "offset", offset)
        object.__setattr__(self, "step", step)
        object.__setattr__(self, "gaps", gaps)

    @classmethod
    def of_windows(cls, windows: Iterable[Window]) -> TreeEdges:
        """The edges of a tree of these windows.

        >>> TreeEdges.of_windows([Window(range=3, slide=10)]).needed(np.array([0, 3, 10]))
        array([ True, False,  True])
        """
        listed = list(windows)
        return cls([p for window in listed for p in window.progressions()], listed)

    def progressions(self) -> list[tuple[int, int]]:
        """Offset and step of each progression."""
        return list(zip(self.offset.tolist(), self.step.tolist(), strict=True))

    def __len__(self) -> int:
        """The number of progressions, none of which contains another."""
        return len(self.step)

    @cached_property
    def granule(self) -> int:
        """The greatest common divisor of all distances between edges."""
        return int(np.gcd.reduce(np.concatenate((self.step, self.offset - self.offset[0]))))

    @property
    def base(self) -> int:
        """The phase of the edges: every edge is `base + k * granule`."""
        return int(self.offset[0]) % self.granule

    @cached_property
    def period(self) -> int | None:
        """The period of the edges and of the needed slices; None if it exceeds 64 bits."""
        found = lcm(*self.step.tolist(), *(slide for _, slide, _ in self.gaps))
        return found if found <= _LIMITS.max else None

    def slice_start(self, times: npt.ArrayLike) -> Int64:
        """The start of the slice that contains each time: the greatest edge not after it."""
        at = np.asarray(times, dtype=np.int64)
        if at.size == 0:
            return at
        low, high = int(at.min()), int(at.max())
        if low < _LIMITS.min + int(self.step.min()):
            raise WindowError(f"time {low} has no edge before it that fits in 64 bits")
        if len(self) > FEW and self._count(low, high) <= max(1 << 16, 4 * at.size):
            edges = self.edges_between(int(self._latest(np.array([low]))[0]), high + 1)
            found: Int64 = edges[np.searchsorted(edges, at, side="right") - 1]
            return found
        return self._latest(at)

    def slice_end(self, times: npt.ArrayLike) -> Int64:
        """The end of the slice that contains each time: the least edge after it.

        >>> TreeEdges([(0, 5), (2, 5)]).slice_end(np.array([-1, 0]))
        array([0, 2])
        """
        at = np.asarray(times, dtype=np.int64)
        if at.size and int(at.max()) > _LIMITS.max - int(self.step.min()):
            raise WindowError(f"time {int(at.max())} has no edge after it that fits in 64 bits")
        found = np.full(at.shape, _LIMITS.max)
        for offset, step in zip(self.offset.tolist(), self.step.tolist(), strict=True):
            ahead = step - (at % step - offset) % step
            fits = at <= _LIMITS.max - ahead
            np.minimum(found, at + np.where(fits, ahead, 0), out=found, where=fits)
        return found

    def edges_between(self, low: int, high: int) -> Int64:
        """The edges in `[low, high)`, in order: the slice manager's task (OnTheFlySharing 3.3).

        Needs no composite period; memory beyond the result is bounded.
        """
        pieces = [self._piece(start, end) for start, end in self._pieces(low, high)]
        return np.concatenate(pieces) if pieces else np.empty(0, dtype=np.int64)

    def needed(self, starts: npt.ArrayLike) -> Bools:
        """Which slices, given by their starts, are in some window."""
        at = np.asarray(starts, dtype=np.int64)
        if not self.gaps:
            return np.ones(at.shape, dtype=np.bool_)
        taken = np.zeros(at.shape, dtype=np.bool_)
        for range_, slide, phase in self.gaps:
            taken |= (at % slide - phase) % slide < range_
        return taken

    def lookup_table(self, most: int) -> LookupTable | None:
        """A table of one period, by granule; None if it needs more than `most` entries.

        >>> TreeEdges([(0, 4), (2, 6)]).lookup_table(64).back
        array([0, 0, 0, 1, 0, 1], dtype=int32)
        """
        if self.period is None or self.period // self.granule > most:
            return None
        return self._table(0, self.period // self.granule, repeats=True)

    def span_table(self, low: int, high: int, most: int) -> LookupTable | None:
        """A table for the times in `[low, high]` only, if the period is too long for a table."""
        first = (low - self.base) // self.granule
        count = (high - self.base) // self.granule - first + 1
        if not 0 < count <= most:
            return None
        return self._table(first, count, repeats=False)

    def _table(self, first: int, count: int, repeats: bool) -> LookupTable:
        at = self.base + self.granule * (first + np.arange(count, dtype=np.int64))
        starts = self.slice_start(at)
        back = np.where(self.needed(starts), (at - starts) // self.granule, -1)
        return LookupTable(self.granule, self.base, first, repeats, back.astype(np.int32))

    def _latest(self, at: Int64) -> Int64:
        found: Int64 | None = None
        for offset, step in zip(self.offset.tolist(), self.step.tolist(), strict=True):
            since = (at % step - offset) % step
            latest = np.where(at >= _LIMITS.min + since, at - since, _LIMITS.min)
            found = latest if found is None else np.maximum(found, latest, out=found)
        assert found is not None
        return found

    def _count(self, low: int, high: int) -> int:
        return sum((high - low) // step + 1 for step in self.step.tolist())

    def _pieces(self, low: int, high: int) -> Iterator[tuple[int, int]]:
        """Splits `[low, high)` into pieces of bounded work."""
        if low >= high:
            return
        by_granule = max(1, (high - low) // self.granule)
        work = min(self._count(low, high), by_granule)
        length = max((high - low) * _CHUNK // max(work, 1), self.granule)
        for start in range(low, high, length):
            yield start, min(start + length, high)

    def _piece(self, low: int, high: int) -> Int64:
        granules = (high - 1 - self.base) // self.granule - (low - 1 - self.base) // self.granule
        if granules <= 0:
            return np.empty(0, dtype=np.int64)
        first = self.base - (self.base - low) // self.granule * self.granule
        offsets, steps = self.offset.tolist(), self.step.tolist()
        if granules <= max(1 << 16, 32 * self._count(low, high)):
            cut = np.zeros(granules, dtype=np.bool_)
            for offset, step in zip(offsets, steps, strict=True):
                cut[(offset - first) % step // self.granule :: step // self.granule] = True
            return first + self.granule * np.flatnonzero(cut)
        terms = [
            np.arange(low + (offset - low) % step, high, step, dtype=np.int64)
            for offset, step in zip(offsets, steps, strict=True)
        ]
        return np.unique(np.concatenate(terms))


def windows_of(window: Window, start: npt.ArrayLike, end: npt.ArrayLike) -> tuple[Int64, Int64]:
    """For each slice `[start, end)`, the first window instance that contains it, and how many do.

    Instances are given by their starts; the others follow the first, one slide apart.

    >>> windows_of(Window(range=10, slide=4), np.array([8, 10]), np.array([10, 12]))
    (array([0, 4]), array([3, 2]))
    """
    starts, ends = np.asarray(start, dtype=np.int64), np.asarray(end, dtype=np.int64)
    earliest = ends - window.range
    first = earliest + (window.phase - earliest) % window.slide
    last = starts - (starts - window.phase) % window.slide
    return first, np.maximum((last - first) // window.slide + 1, 0)


def _cleaned(progressions: list[tuple[int, int]]) -> tuple[Int64, Int64]:
    """Sorted by step, without those that lie within another."""
    if not progressions:
        raise WindowError("progressions=[] has no edge: a tree has at least one window")
    for offset, step in progressions:
        if step <= 0:
            raise WindowError(f"step={step} of the progression at {offset} must be positive")
    # Offsets as Python integers: one may exceed 64 bits before it is reduced modulo its step.
    listed = sorted({(step, offset % step) for offset, step in progressions})
    steps = np.array([step for step, _ in listed], dtype=np.int64)
    return clean_arrays(np.array([offset for _, offset in listed], dtype=np.int64), steps)
