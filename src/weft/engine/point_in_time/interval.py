"""Which rows count at an instant, and their positions among the sorted rows of a key.

rows of a key    x   x x      x  x     x
                     [--- range ---)<- delay ->at      exact
                 [--- range ---)    |          at      by slide: the window's end is an edge
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from numba import njit

Int64: TypeAlias = npt.NDArray[np.int64]

NEVER = int(np.iinfo(np.int64).min)
"""The instant before all times, at which no row counts; it represents null."""


@dataclass(frozen=True)
class Edge:
    """An end of an interval: `before` an instant, rounded down to a window's edge, minus `back`.

    An edge that several intervals share is looked up once.

    >>> Edge(before=2, slide=4, phase=1, back=10).of(np.array([NEVER, 22, 23])).tolist()[1:]
    [7, 11]
    """

    before: int
    slide: int | None = None
    """With a slide, the latest `phase + k * slide` not after it; else that instant itself."""
    phase: int = 0
    back: int = 0

    def of(self, at: Int64) -> Int64:
        """The edge for each instant; ascends if the instants do."""
        found = minus(at, self.before)
        if self.slide is not None:
            past = (found % self.slide - self.phase) % self.slide
            found = minus(minus(found, past), self.back)
        return found


@dataclass(frozen=True)
class Interval:
    """The rows that count at an instant: those in `[end - range, end)`.

    The end is `delay` before the instant or, with a `slide`, the latest `phase + k * slide` that is
    not after that: the end of the query's latest closed window.

    >>> at = np.array([20, 21, 22])
    >>> exact, by_slide = Interval(range=10), Interval(range=10, slide=4, phase=1)
    >>> [edge.of(at).tolist() for edge in (exact.start, exact.end)]
    [[10, 11, 12], [20, 21, 22]]
    >>> [edge.of(at).tolist() for edge in (by_slide.start, by_slide.end)]
    [[7, 11, 11], [17, 21, 21]]
    """

    range: int
    delay: int = 0
    slide: int | None = None
    phase: int = 0

    @property
    def start(self) -> Edge:
        """Where it starts."""
        if self.slide is None:
            return Edge(self.delay + self.range)
        return Edge(self.delay, self.slide, self.phase % self.slide, self.range)

    @property
    def end(self) -> Edge:
        """Where it ends."""
        if self.slide is None:
            return Edge(self.delay)
        return Edge(self.delay, self.slide, self.phase % self.slide)


def minus(instants: Int64, length: int | Int64) -> Int64:
    """The instants earlier by `length`; `NEVER` where that would be before all times.

    >>> minus(np.array([NEVER + 3, 3]), 5).tolist() == [NEVER, -2]
    True
    """
    if isinstance(length, int):
        length = min(length, -(NEVER + 1))  # as far as 64 bits reach
    return np.where(instants < NEVER + length, NEVER, instants - length)


@njit(cache=True)
def first_rows(
    position: Int64, row_bounds: Int64, spine_bounds: Int64, edge: Int64, out: Int64
) -> None:
    """For every row of the spine, the first of its key's rows that is not before its edge.

    Rows and spine are sorted by key, and positions and edges ascend within a key, so each search
    starts where the last one ended, in steps that double.
    """
    for key in range(len(row_bounds) - 1):
        row, end = row_bounds[key], row_bounds[key + 1]
        for at in range(spine_bounds[key], spine_bounds[key + 1]):
            target = edge[at]
            if row < end and position[row] < target:
                low, step = row, 1  # `low` is before the edge
                while low + step < end and position[low + step] < target:
                    low += step
                    step *= 2
                high = min(low + step, end)
                while high - low > 1:
                    middle = (low + high) // 2
                    if position[middle] < target:
                        low = middle
                    else:
                        high = middle
                row = high
            out[at] = row
