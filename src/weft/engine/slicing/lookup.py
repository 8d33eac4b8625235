"""A table that gives, for each granule of time, how far back its slice starts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Int64 = npt.NDArray[np.int64]
NO_SLICE = int(np.iinfo(np.int64).min)
"""Returned by `slice_start` for a time that is in no window, or not in the table."""


@dataclass(frozen=True, eq=False)
class LookupTable:
    """Slices by granule: entry i is for the granule from `base + (first + i) * granule` on.

    `back[i]` is how many granules earlier the slice of granule i starts; -1 if that slice is in no
    window. A table of one period repeats; a table of a span holds only the times in that span.

    >>> table = LookupTable(10, 0, 0, True, np.array([0, 1, 0], dtype=np.int32))
    >>> table.slice_start(np.array([25, 30, 45, -1]))
    array([ 20,  30,  30, -10])
    """

    granule: int
    base: int
    first: int
    repeats: bool
    back: npt.NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.back)

    def slice_start(self, times: npt.ArrayLike) -> Int64:
        """The start of the slice that contains each time, or `NO_SLICE`."""
        granules = (np.asarray(times, dtype=np.int64) - self.base) // self.granule
        entry = granules - self.first
        if self.repeats:
            entry %= len(self)
        held = (entry >= 0) & (entry < len(self))
        back = np.where(held, self.back[np.where(held, entry, 0)], -1)
        return np.where(back < 0, NO_SLICE, self.base + (granules - back) * self.granule)
