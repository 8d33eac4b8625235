"""A table from a granule of time to how far back its slice starts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Int64 = npt.NDArray[np.int64]
NO_SLICE = int(np.iinfo(np.int64).min)
"""What `slice_start` answers for a time that no window takes, or that the table does not hold."""


@dataclass(frozen=True, eq=False)
class LookupTable:
    """Slices by granule: entry i is for the time from `base + (first + i) * granule` on.

    `back[i]` says how many granules before its own the slice of granule i starts; -1 where no
    window takes that slice. A table of one period repeats; one of a span holds only its times.

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
        """The start of the slice that each time lies in, or `NO_SLICE`."""
        granules = (np.asarray(times, dtype=np.int64) - self.base) // self.granule
        entry = granules - self.first
        if self.repeats:
            entry %= len(self)
        held = (entry >= 0) & (entry < len(self))
        back = np.where(held, self.back[np.where(held, entry, 0)], -1)
        return np.where(back < 0, NO_SLICE, self.base + (granules - back) * self.granule)
