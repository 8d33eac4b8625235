"""Locates windows in the sorted slices: every instance is a range of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from numba import njit

from weft.engine.finals.batch.scratch import Scratch
from weft.errors import FinalsError

Int64: TypeAlias = npt.NDArray[np.int64]

Int32: TypeAlias = npt.NDArray[np.int32]

UNBOUNDED = 2**62
STRETCHES = 4
"""Buckets of the index per row: with this many, a look-up rarely finds several rows in one."""
_NO_INDEX = np.empty(0, dtype=np.int32)


@dataclass(frozen=True, eq=False)
class Slices:
    """Slices of many keys: `key` ascends, and `position` does within each key.

    A position is a slice's start on the windows' axis (microseconds, or units of an integer axis).
    Slices without rows are absent. Several rows may have one position (shards of one slice).

    >>> slices = Slices(key=np.array([0, 0, 1]), position=np.array([-60, 0, 0]))
    >>> len(slices)
    3
    """

    key: Int64
    position: Int64

    def __post_init__(self) -> None:
        for name in ("key", "position"):
            array = np.ascontiguousarray(getattr(self, name), dtype=np.int64)
            object.__setattr__(self, name, array)
        if self.key.shape != self.position.shape or self.key.ndim != 1:
            raise FinalsError(
                f"key and position must be one-dimensional and of one length, not "
                f"{self.key.shape} and {self.position.shape}"
            )
        unsorted = _first_unsorted(self.key, self.position)
        if unsorted >= 0:
            raise FinalsError(
                f"row {unsorted} (key={self.key[unsorted]}, position={self.position[unsorted]}) is "
                f"out of order: slices must be sorted by key, then position"
            )

    def __len__(self) -> int:
        return len(self.key)

    @cached_property
    def bounds(self) -> Int64:
        """Where each key's rows begin, and finally where the rows end."""
        inner = np.flatnonzero(self.key[1:] != self.key[:-1]) + 1
        ends = [len(self)] if len(self) else []
        return np.concatenate([np.zeros(1, dtype=np.int64), inner, ends]).astype(np.int64)

    @cached_property
    def index(self) -> Int32:
        """The first row of each bucket; every key's positions are divided into equal buckets.

        Costs as much as scanning the rows for a few queries, and makes all further queries cheap.
        """
        index = np.empty(STRETCHES * len(self) + len(self.bounds) - 1, dtype=np.int32)
        _fill_index(self.bounds, self.position, index)
        return index

    def chunks(self, rows: int) -> Iterator[tuple[int, int]]:
        """Row ranges of about `rows` rows, none of which splits a key."""
        low = 0
        while low < len(self):
            high = min(low + rows, len(self))
            if high < len(self):
                key = self.key[high]
                # Back to where this key begins; if that is the chunk's start, on to the key's end.
                begin = int(np.searchsorted(self.key, key, side="left"))
                high = begin if begin > low else int(np.searchsorted(self.key, key, side="right"))
            yield low, high
            low = high


@dataclass(frozen=True, eq=False)
class Ranges:
    """Window instances that contain a slice: rows `[low, high)`, and the start of the instance.

    For one window `low` and `high` ascend, because keys do, and instances do within a key.
    """

    low: Int64
    high: Int64
    start: Int64

    def __len__(self) -> int:
        return len(self.low)


@dataclass(frozen=True)
class Instances:
    """The windows `[offset + k * slide, + range)` that end in `(ends_after, ends_until]`."""

    range: int
    slide: int
    offset: int = 0
    ends_after: int = -UNBOUNDED
    ends_until: int = UNBOUNDED

    def __post_init__(self) -> None:
        for name in ("range", "slide"):
            if getattr(self, name) <= 0:
                raise FinalsError(
                    f"{name}={getattr(self, name)!r} of a window must be longer than nothing"
                )

    @property
    def numbers(self) -> tuple[int, int, int, int, int]:
        """The arguments for compiled code: range, slide, phase, and the bounds of the ends."""
        phase = self.offset % self.slide
        return self.range, self.slide, phase, self.ends_after, self.ends_until

    def stretches(self, slices: Slices, room: int, most: int) -> Iterator[Instances]:
        """The same instances (at most `room`), divided by time into parts of about `most`."""
        after = max(self.ends_after, int(slices.position.min()))
        until = min(self.ends_until, int(slices.position.max()) + self.range)
        cuts = -(-room // most)
        edges = [after + (until - after) * cut // cuts for cut in range(cuts)] + [until]
        for low, high in pairwise(edges):
            if low < high:
                yield replace(self, ends_after=low, ends_until=high)


def rooms(windows: Sequence[Instances], slices: Slices) -> Int64:
    """An upper bound of the instances of each window that contain a slice."""
    found = np.empty(len(windows), dtype=np.int64)
    _rooms(slices.bounds, slices.position, _numbers(windows), found)
    return found


def ranges(
    windows: Sequence[Instances],
    slices: Slices,
    room: int,
    *,
    indexed: bool = False,
    scratch: Scratch | None = None,
) -> tuple[Ranges, Int64]:
    """The instances of every key that contain a slice, window after window, and how many each has.

    `room` is the sum of their rooms. `indexed` looks edges up instead of scanning the rows, which
    pays for many windows. `scratch` provides the memory: the ranges are valid until its next use.

    >>> slices = Slices(key=np.array([0, 0, 1]), position=np.array([-60, 0, 0]))
    >>> windows = [Instances(range=120, slide=60), Instances(range=60, slide=60)]
    >>> found, counts = ranges(windows, slices, sum(rooms(windows, slices)))
    >>> found.low.tolist(), found.high.tolist(), counts.tolist()
    ([0, 0, 1, 2, 2, 0, 1, 2], [1, 2, 2, 3, 3, 1, 2, 3], [5, 3])
    >>> found.start.tolist()
    [-120, -60, 0, -60, 0, -60, 0, 0]
    """
    lender, long = Scratch() if scratch is None else scratch, np.dtype(np.int64)
    low, high, start = (lender.take(name, room, long) for name in ("low", "high", "start"))
    index = slices.index if indexed else _NO_INDEX
    counts = np.empty(len(windows), dtype=np.int64)
    found = _all_instances(
        slices.bounds, slices.position, index, _numbers(windows), counts, low, high, start
    )
    return Ranges(low[:found], high[:found], start[:found]), counts


def _numbers(windows: Sequence[Instances]) -> Int64:
    return np.array([one.numbers for one in windows], dtype=np.int64).reshape(len(windows), 5)


@njit(cache=True)
def _first_unsorted(key: Int64, position: Int64) -> int:
    for row in range(1, len(key)):
        if key[row] < key[row - 1] or (
            key[row] == key[row - 1] and position[row] < position[row - 1]
        ):
            return row
    return -1


@njit(cache=True)
def _start_after(instant: int, slide: int, offset: int) -> int:
    """The first start of the progression that is later than an instant."""
    return (instant - offset) // slide * slide + slide + offset


@njit(cache=True)
def _extent(
    oldest: int, newest: int, span: int, slide: int, offset: int, after: int, until: int
) -> tuple[int, int]:
    """The first instance that may contain a slice of a key, and the count up to the last one."""
    first = _start_after(max(oldest, after) - span, slide, offset)
    last = _start_after(min(newest, until - span), slide, offset) - slide
    return first, max(0, (last - first) // slide + 1)


@njit(cache=True)
def _room(
    bounds: Int64,
    position: Int64,
    span: int,
    slide: int,
    offset: int,
    after: int,
    until: int,
) -> int:
    """An upper bound of the instances that contain a slice."""
    room = 0
    for key in range(len(bounds) - 1):
        begin, end = bounds[key], bounds[key + 1]
        _, count = _extent(position[begin], position[end - 1], span, slide, offset, after, until)
        room += min(count, (end - begin) * (span // slide + 1))
    return room


@njit(cache=True)
def _rooms(bounds: Int64, position: Int64, numbers: Int64, out: Int64) -> None:
    for at in range(len(numbers)):
        span, slide, offset, after, until = numbers[at]
        out[at] = _room(bounds, position, span, slide, offset, after, until)


@njit(cache=True)
def _all_instances(
    bounds: Int64,
    position: Int64,
    index: Int32,
    numbers: Int64,
    counts: Int64,
    low: Int64,
    high: Int64,
    start: Int64,
) -> int:
    """Write the instances of all windows, one window after the other, and how many each has."""
    found = 0
    for at in range(len(numbers)):
        span, slide, offset, after, until = numbers[at]
        counts[at] = _instances(
            bounds, position, index, span, slide, offset, after, until,
            low[found:], high[found:], start[found:],
        )  # fmt: skip
        found += counts[at]
    return found


@njit(cache=True)
def _fill_index(bounds: Int64, position: Int64, index: Int32) -> None:
    for key in range(len(bounds) - 1):
        begin, end = bounds[key], bounds[key + 1]
        oldest, stretches = position[begin], STRETCHES * (end - begin)
        scale = stretches / (float(position[end - 1]) - float(oldest) + 1.0)
        filled, base = 0, STRETCHES * begin + key
        for row in range(begin, end):
            stretch = min(int((position[row] - oldest) * scale), stretches - 1)
            while filled <= stretch:
                index[base + filled] = row
                filled += 1
        while filled <= stretches:
            index[base + filled] = end
            filled += 1


@njit(cache=True)
def _instances(
    bounds: Int64,
    position: Int64,
    index: Int32,
    span: int,
    slide: int,
    offset: int,
    after: int,
    until: int,
    low_out: Int64,
    high_out: Int64,
    start_out: Int64,
) -> int:
    """Write the instances that contain a slice; return how many."""
    found, overlap = 0, span // slide
    aligned = overlap * slide == span
    for key in range(len(bounds) - 1):
        begin, end = bounds[key], bounds[key + 1]
        start, count = _extent(
            position[begin], position[end - 1], span, slide, offset, after, until
        )
        rows, base = end - begin, STRETCHES * begin + key
        if len(index) == 0 or count > min(STRETCHES * rows, rows * (overlap + 1)):
            last = start + (count - 1) * slide
            found = _walk(
                position, begin, end, span, slide, start, last, low_out, high_out, start_out, found
            )
            continue
        shared = max(0, count - overlap) if aligned else 0  # ends that are also starts
        _look_up(position, index, begin, end, base, start, slide, count, low_out, found)
        for at in range(shared):
            high_out[found + at] = low_out[found + at + overlap]
        edge = start + shared * slide + span
        _look_up(
            position, index, begin, end, base, edge, slide, count - shared, high_out, found + shared
        )
        kept = found
        for at in range(found, found + count):
            low, high = low_out[at], high_out[at]
            low_out[kept], high_out[kept], start_out[kept] = low, high, start
            kept += 1 if low < high else 0
            start += slide
        found = kept
    return found


@njit(cache=True)
def _look_up(
    position: Int64,
    index: Int32,
    begin: int,
    end: int,
    base: int,
    edge: int,
    slide: int,
    count: int,
    out: Int64,
    at: int,
) -> None:
    """For each of `count` edges, `slide` apart, the first row of a key that is not before it."""
    oldest, newest, stretches = position[begin], position[end - 1], STRETCHES * (end - begin)
    scale = stretches / (float(newest) - float(oldest) + 1.0)
    for place in range(at, at + count):
        row = begin
        if edge > newest:
            row = end
        elif edge > oldest:
            stretch = base + min(int((edge - oldest) * scale), stretches - 1)
            row = index[stretch]
            until = index[stretch + 1]
            if until - row > 16:
                row = _halve(position, row, until, edge)
            while row < until and position[row] < edge:
                row += 1
        out[place] = row
        edge += slide


@njit(cache=True)
def _halve(position: Int64, low: int, high: int, edge: int) -> int:
    """The first of the rows in one bucket that is not before the edge, by binary search."""
    while low < high:
        middle = (low + high) // 2
        if position[middle] < edge:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True)
def _walk(
    position: Int64,
    begin: int,
    end: int,
    span: int,
    slide: int,
    start: int,
    last: int,
    low_out: Int64,
    high_out: Int64,
    start_out: Int64,
    found: int,
) -> int:
    """The instances of one key, found by scanning its rows; times without slices are skipped."""
    low = high = begin
    phase = start % slide
    while start <= last:
        while low < end and position[low] < start:
            low += 1
        if low == end:
            break
        if position[low] >= start + span:
            start = _start_after(position[low] - span, slide, phase)
            continue
        high = max(high, low)
        while high < end and position[high] < start + span:
            high += 1
        low_out[found], high_out[found], start_out[found] = low, high, start
        found += 1
        start += slide
    return found
