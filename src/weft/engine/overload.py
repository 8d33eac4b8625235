"""Limits that only a running stream can see: a query that passes one is taken out, alone.

A worker that meets a query beyond its limits stops with `TooMuch`, before it has taken the memory.
Its message names the query by number, so that the driver can take that query out and go on with
the others. The owner's own queries have no limits.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weft.errors import EngineError
from weft.query.limits import LIMITS, limits

_MARK = re.compile(r"\[weft query (\d+)\] ([^\n]*)")


class TooMuch(EngineError):
    """A query asks for more than it may."""


@dataclass(frozen=True)
class Bounds:
    """The limits as the driver knows them, for workers that may have another environment."""

    queries: frozenset[int] = frozenset()
    """The numbers of the queries that have limits."""
    windows: int = 0
    groups: int = 0

    @classmethod
    def of(cls, untrusted: Sequence[int]) -> Bounds:
        """The limits that are in force, for some queries."""
        most = limits()
        return cls(frozenset(untrusted), most.windows, most.groups)

    def check(self, query: int, what: str, count: float) -> None:
        """Stop if a query has more `windows` or `groups` in a bucket than it may.

        >>> Bounds(frozenset({7}), windows=10).check(7, "windows", 12)
        Traceback (most recent call last):
        weft.engine.overload.TooMuch: [weft query 7] it has 12 windows to answer in ...
        """
        most = getattr(self, what)
        if query in self.queries and count > most:
            raise TooMuch(
                f"[weft query {query}] it has {count:,.0f} {what} to answer in one micro-batch and "
                f"bucket: at most {most:,} are accepted (the limit {what} of {LIMITS})"
            )


def blamed(message: str) -> dict[int, str]:
    """The queries that a failed micro-batch names, and what it says of them.

    >>> blamed("TooMuch: [weft query 7] it has 5 groups (the limit groups of WEFT_LIMITS)\\n at x")
    {7: 'it has 5 groups (the limit groups of WEFT_LIMITS)'}
    """
    found: dict[int, str] = {}
    for number, said in _MARK.findall(message):
        found.setdefault(int(number), said.strip())
    return found


def too_much_state(
    figures: Sequence[Mapping[str, Any]], stores: Mapping[int, int]
) -> tuple[int, str] | None:
    """The query whose tree holds more state than it may; `stores` has the youngest of each tree."""
    most = limits().state_bytes
    held: dict[int, int] = {}
    for one in figures:
        for number, store in one["stores"].items():
            held[int(number)] = held.get(int(number), 0) + int(store["bytes"])
    for number, size in held.items():
        if size > most and number in stores:
            return stores[number], (
                f"its tree holds {size:,} bytes of state: at most {most:,} are accepted (the limit "
                f"state_bytes of {LIMITS})"
            )
    return None
