"""Many ranges with structures that answer only one: a separate structure for each range."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.engine.finals.contract import Final


class PerRange:
    """One structure per range over the same slices; each evicts the slices behind its range.

    >>> from weft.engine.finals.registry import make
    >>> from weft.algebra.extremes import MAX
    >>> both = PerRange([make("daba", MAX) for _ in range(2)])
    >>> for value in (3, 9, 4):
    ...     _ = both.insert((value,))
    >>> both.answer(0, start=0), both.answer(1, start=2)
    ((9,), (4,))
    """

    def __init__(self, finals: Sequence[Final]) -> None:
        self.finals = tuple(finals)

    def insert(self, partial: Any) -> int:
        """Append the next slice's partial to all structures; return its position."""
        positions = [final.insert(partial) for final in self.finals]
        return positions[0]

    def answer(self, query: int, start: int) -> Any:
        """The combination for one range, from `start`, which must never decrease, to the newest."""
        final = self.finals[query]
        final.evict(max(final.first, start))
        return final.answer()

    def merge(self, position: int, late: Any) -> None:
        """Combine a late partial into the slice at `position` in structures that still hold it."""
        for final in self.finals:
            if position >= final.first:
                final.merge(position, late)

    def space(self) -> int:
        """The number of partials for which space is allocated."""
        return sum(final.space() for final in self.finals)
