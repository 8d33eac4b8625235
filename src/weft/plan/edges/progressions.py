"""A set of arithmetic progressions: the edges of some windows, without repetition."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from weft.errors import PlanError, WindowError
from weft.query.progressions import clean_arrays, sort_arrays
from weft.query.table import WindowTable
from weft.query.window import Window

Int64: TypeAlias = npt.NDArray[np.int64]
Pieces = Literal["pairs", "panes"]

LONGEST = 2**62
"""The longest slide: sums of two residues still fit in 64 bits."""


@dataclass(frozen=True, eq=False)
class Progressions:
    """The instants `origin + unit * x` with `x = offset[i] mod step[i]` for any i.

    Normalised: `0 <= offset < step`, sorted by step and offset, and no progression lies within
    another. `unit` is the common divisor of all steps and distances, which keeps numbers small
    when times are in microseconds.

    >>> minute = 60_000_000
    >>> edges = Progressions.of_windows([Window(range="12 minutes", slide="5 minutes")])
    >>> edges.offset, edges.step, edges.unit == minute
    (array([0, 2]), array([5, 5]), True)
    """

    offset: Int64
    step: Int64
    unit: int = 1
    origin: int = 0

    @classmethod
    def of_windows(cls, windows: Windows, pieces: Pieces = "pairs") -> Progressions:
        """The edges at which some windows cut the stream.

        `pairs` cuts at starts and ends; `panes` at every gcd(range, slide), as panes do.

        >>> Progressions.of_windows([Window(range=12, slide=9)], "panes").unit
        3
        """
        return cls.of_arrays(*window_edges(as_table(windows), pieces))

    @classmethod
    def of_arrays(cls, offset: npt.ArrayLike, step: npt.ArrayLike) -> Progressions:
        """Normalise offsets and steps that may repeat and come in any order."""
        return _compact(*clean_arrays(np.asarray(offset, np.int64), np.asarray(step, np.int64)))

    def __len__(self) -> int:
        return len(self.step)


Windows: TypeAlias = "WindowTable | Iterable[Any]"
"""A `WindowTable`, or windows, or queries that have a `window`."""


def as_table(windows: Windows) -> WindowTable:
    """The table of windows, or of queries that have a `window`.

    >>> len(as_table([Window(range=4, slide=2)]))
    1
    """
    if isinstance(windows, WindowTable):
        return windows
    if isinstance(windows, Window) or not isinstance(windows, Iterable):
        raise PlanError(
            f"windows={windows!r}: accepted are a WindowTable or several windows or queries"
        )
    found = []
    for item in windows:
        window = item if isinstance(item, Window) else getattr(item, "window", None)
        if not isinstance(window, Window):
            raise PlanError(f"windows contains {item!r}, which is neither a window nor has one")
        found.append(window)
    return WindowTable.of_windows(found)


def window_edges(table: WindowTable, pieces: Pieces = "pairs") -> tuple[Int64, Int64]:
    """The offsets and steps of every window's edges, not normalised.

    >>> window_edges(WindowTable(range=[12, 4], slide=[9, 4]))
    (array([0, 0, 3]), array([9, 4, 9]))
    """
    longest = max(table.slide, default=0)
    if longest > LONGEST:
        raise WindowError(f"slide={longest} is too long: at most 2**62")
    if pieces == "panes":
        pane = np.gcd(table.range, table.slide)
        return table.offset % pane, pane
    if pieces != "pairs":
        raise PlanError(f"pieces={pieces!r}: accepted are 'pairs' and 'panes'")
    slide, start = table.slide, table.offset % table.slide
    distance = table.range % slide
    # Ends half a slide after the starts form one progression with half the step.
    half = (slide % 2 == 0) & (distance == slide // 2)
    slide = np.where(half, slide // 2, slide)
    two = (distance != 0) & ~half
    end = (start[two] + distance[two]) % slide[two]
    return np.concatenate((start % slide, end)), np.concatenate((slide, slide[two]))


def _compact(offset: Int64, step: Int64) -> Progressions:
    """Divide by the common divisor of all steps and distances."""
    if len(step) == 0:
        return Progressions(offset, step)
    unit = int(np.gcd.reduce(np.concatenate((step, offset - offset[0]))))
    if unit == 1:
        return Progressions(offset, step)
    origin = int(offset[0]) % unit
    return Progressions(*sort_arrays((offset - origin) // unit, step // unit), unit, origin)
