"""Times to slice starts, in NumPy: by arithmetic for few progressions, by search for many."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Int64 = npt.NDArray[np.int64]
FEW = 6


def slice_starts(times: Int64, progressions: Sequence[tuple[int, int]]) -> Int64:
    """The latest edge at or before each time; edges are `offset + k * step`.

    >>> slice_starts(np.array([-1, 0, 7, 12]), [(0, 5), (2, 5)])
    array([-3,  0,  7, 12])
    """
    low, high = int(times.min()), int(times.max())
    count = sum((high - low) // step + 2 for _, step in progressions)
    if len(progressions) > FEW and count <= max(1 << 16, 4 * len(times)):
        edges = np.unique(np.concatenate([_edges(o, s, low, high) for o, s in progressions]))
        return edges[np.searchsorted(edges, times, side="right") - 1]
    starts: Int64 | None = None
    for offset, step in progressions:
        latest = times - (times - offset) % step
        starts = latest if starts is None else np.maximum(starts, latest)
    assert starts is not None
    return starts


def _edges(offset: int, step: int, low: int, high: int) -> Int64:
    return np.arange(low - (low - offset) % step, high + 1, step, dtype=np.int64)
