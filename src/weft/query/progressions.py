"""Edges as arithmetic progressions, and the removal of those that lie within another.

Uses only NumPy, because Spark's workers run it too. The planner's recursion has a compiled version
with weights (`plan/edges/exact.py`, `tidy`); a test compares the two.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Int64: TypeAlias = npt.NDArray[np.int64]


def cleaned(progressions: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Pairs of offset and step, sorted by step, none of which lies within another.

    >>> cleaned([(7, 6), (0, 4), (2, 4), (1, 3)])
    ((1, 3), (0, 4), (2, 4))
    """
    listed = list(progressions)
    offset, step = clean_arrays(
        np.array([offset for offset, _ in listed], dtype=np.int64),
        np.array([step for _, step in listed], dtype=np.int64),
    )
    return tuple(zip(offset.tolist(), step.tolist(), strict=True))


def clean_arrays(offset: Int64, step: Int64) -> tuple[Int64, Int64]:
    """Progressions sorted by step and offset, without those that lie within another.

    Compares each step only with steps that divide it, so that a million windows with a few
    thousand distinct slides take no longer than sorting them.

    >>> clean_arrays(np.array([7, 0, 2, 1]), np.array([6, 4, 4, 3]))
    (array([1, 0, 2]), array([3, 4, 4]))
    """
    if len(step) == 0:
        return offset, step
    offset, step = sort_arrays(offset % step, step)
    fresh = np.ones(len(step), bool)
    fresh[1:] = (step[1:] != step[:-1]) | (offset[1:] != offset[:-1])
    offset, step = offset[fresh], step[fresh]
    sizes, first = np.unique(step, return_index=True)
    groups = np.split(offset, first[1:])
    kept_size = np.empty(len(sizes), np.int64)
    kept: list[Int64] = []
    for size, group in zip(sizes, groups, strict=True):
        for divisor in np.flatnonzero(size % kept_size[: len(kept)] == 0):
            group = group[~np.isin(group % kept_size[divisor], kept[divisor])]
        if len(group):
            kept_size[len(kept)] = size
            kept.append(group)
    counts = [len(group) for group in kept]
    return np.concatenate(kept), np.repeat(kept_size[: len(kept)], counts)


def sort_arrays(offset: Int64, step: Int64) -> tuple[Int64, Int64]:
    """Sort by step, then offset; if both fit in one word, a plain sort is ten times faster."""
    if step.max() < 2**31:
        packed = np.sort(step << 31 | offset)
        return packed & (2**31 - 1), packed >> 31
    order = np.lexsort((offset, step))
    return offset[order], step[order]
