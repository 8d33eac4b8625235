"""The rows that a micro-batch lost, from its buckets' metrics: late rows, and rows set aside."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Lost:
    """The rows that a micro-batch lost."""

    frontier: int
    """Windows that ended at or before this had been answered before the micro-batch."""
    late: Mapping[int, int]
    """By query's number, its late rows."""
    ahead: int
    """Rows that the guard against future rows set aside."""

    @classmethod
    def of(cls, figures: Iterable[Mapping[str, Any]]) -> Lost | None:
        """The sum of all buckets' reports; None if nothing was lost.

        A bucket counts the late rows of its own groups only, but every row that was set aside.

        >>> here = {"lost": {"frontier": 60, "late": {"1": 2}, "ahead": 3}}
        >>> Lost.of([here, {}, {"lost": {"frontier": 60, "late": {"1": 1, "4": 1}, "ahead": 3}}])
        Lost(frontier=60, late={1: 3, 4: 1}, ahead=3)
        >>> Lost.of([{}, {}])
        """
        told = [one["lost"] for one in figures if one.get("lost")]
        if not told:
            return None
        late: dict[int, int] = {}
        for one in told:
            for number, count in one["late"].items():
                late[int(number)] = late.get(int(number), 0) + count
        frontier = max(one["frontier"] for one in told)
        return cls(frontier, late, max(one["ahead"] for one in told))


def lost_figures(
    frontier: int, before: Mapping[int, int], after: Mapping[int, int], ahead: int
) -> dict[str, Any]:
    """A bucket's report of a micro-batch's losses; empty if there are none.

    `before` and `after` are its counts of late rows over the life of the checkpoint.

    >>> lost_figures(60, {1: 5}, {1: 7, 2: 0}, ahead=0)
    {'lost': {'frontier': 60, 'late': {'1': 2}, 'ahead': 0}}
    >>> lost_figures(60, {1: 5}, {1: 5}, ahead=0)
    {}
    """
    late = {str(n): count - before.get(n, 0) for n, count in after.items()}
    late = {number: count for number, count in late.items() if count}
    if not late and not ahead:
        return {}
    return {"lost": {"frontier": frontier, "late": late, "ahead": ahead}}
