"""Millions of windows as three NumPy arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from weft.errors import WindowError
from weft.query.window import Axis, Window

Int64: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, init=False)
class WindowTable:
    """Many windows as arrays of range, slide and offset, one entry per query.

    >>> table = WindowTable(range=[12, 10], slide=[9, 6])
    >>> len(table), table[1]
    (2, Window(range=10, slide=6))
    """

    range: Int64
    slide: Int64
    offset: Int64
    axis: Axis

    def __init__(
        self,
        *,
        range: npt.ArrayLike,
        slide: npt.ArrayLike | None = None,
        offset: npt.ArrayLike = 0,
        axis: Axis = "integer",
    ) -> None:
        ranges = _integers(range, "range")
        slides = ranges if slide is None else _integers(slide, "slide")
        offsets = np.broadcast_to(_integers(offset, "offset"), slides.shape)
        if ranges.ndim != 1 or ranges.shape != slides.shape:
            raise WindowError(
                f"range and slide must be one-dimensional and of one length, "
                f"not {ranges.shape} and {slides.shape}"
            )
        for name, values in (("range", ranges), ("slide", slides)):
            if values.size and values.min() <= 0:
                at = int(values.argmin())
                raise WindowError(f"{name}[{at}]={values[at]} must be longer than nothing")
        object.__setattr__(self, "range", ranges)
        object.__setattr__(self, "slide", slides)
        object.__setattr__(self, "offset", offsets)
        object.__setattr__(self, "axis", axis)

    @classmethod
    def of_windows(cls, windows: Iterable[Window]) -> WindowTable:
        """The table of windows on one axis, with the edges of the slices that they need."""
        listed = [window.cut for window in windows]
        axes = {window.axis for window in listed}
        if len(axes) > 1:
            raise WindowError("windows on a time axis and on an integer axis cannot be mixed")
        return cls(
            range=np.array([w.range for w in listed], dtype=np.int64),
            slide=np.array([w.slide for w in listed], dtype=np.int64),
            offset=np.array([w.offset for w in listed], dtype=np.int64),
            axis=axes.pop() if axes else "integer",
        )

    @property
    def start(self) -> Int64:
        """Each window's start progression, modulo its slide."""
        return self.offset % self.slide

    @property
    def end(self) -> Int64:
        """Each window's end progression, modulo its slide."""
        return (self.start + self.range) % self.slide

    @property
    def overlap(self) -> npt.NDArray[np.float64]:
        """The average number of windows of each query that contain an instant."""
        return np.asarray(self.range / self.slide, dtype=np.float64)

    def take(self, rows: npt.NDArray[np.intp]) -> WindowTable:
        """The table of the chosen rows."""
        return WindowTable(
            range=self.range[rows],
            slide=self.slide[rows],
            offset=self.offset[rows],
            axis=self.axis,
        )

    def __len__(self) -> int:
        return len(self.slide)

    def __getitem__(self, row: int) -> Window:
        return Window.of_units(
            int(self.range[row]), int(self.slide[row]), int(self.offset[row]), self.axis
        )

    def __iter__(self) -> Iterator[Window]:
        return (self[int(row)] for row in np.arange(len(self)))


def _integers(values: npt.ArrayLike, field: str) -> Int64:
    array = np.asarray(values)
    if array.size and array.dtype.kind not in "iu":
        raise WindowError(f"{field} must be integers, not {array.dtype}")
    return array.astype(np.int64)
