"""Limits that only a running stream can measure: a query that exceeds one is removed, alone.

A worker that meets a query beyond its limits stops with `TooMuch`, before it has taken the memory.
Its message names the query by number, so that the driver can take that query out and go on with
the others. The owner's own queries have the limits that the owner gave them, and no others.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from weft.errors import EngineError
from weft.query.limits import LIMITS, limits
from weft.query.query import Query
from weft.query.query_limits import QueryLimits, effective

_MARK = re.compile(r"\[weft query (\d+)( over)?\] ([^\n]*)")


class TooMuch(EngineError):
    """A query asks for more than it may."""


@dataclass(frozen=True)
class Bounds:
    """The limits as the driver knows them, for workers that may have another environment."""

    queries: frozenset[int] = frozenset()
    """The numbers of the queries that have limits."""
    windows: int = 0
    groups: int = 0
    own: Mapping[int, QueryLimits] = field(default_factory=dict)
    """By query, what its owner set."""

    @classmethod
    def of(cls, queries: Mapping[int, Query], default: QueryLimits | None = None) -> Bounds:
        """The limits that are in force for some queries, by number."""
        most = limits()
        own = {number: effective(query, default) for number, query in queries.items()}
        return cls(
            frozenset(number for number, query in queries.items() if not query.trusted),
            most.windows,
            most.groups,
            {number: limit for number, limit in own.items() if limit is not None},
        )

    def check_own(self, query: int, what: str, count: int) -> None:
        """Stop if a query has more `groups` in a window or `answers` than its owner lets it.

        >>> Bounds(own={7: QueryLimits(answers=10)}).check_own(7, "answers", 12)
        Traceback (most recent call last):
        weft.engine.overload.TooMuch: [weft query 7] it has 12 answers in one micro-batch: its ...
        """
        limit = self.own.get(query)
        most = None if limit is None else getattr(limit, what)
        if limit is not None and most is not None and count > most:
            mark = f"[weft query {query}{' over' if limit.over == 'pause' else ''}]"
            raise TooMuch(f"{mark} {over(what, count, most)}")

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


def over(what: str, used: float, most: float) -> str:
    """That a query is over a limit of its own, in words.

    >>> over("share", 0.514, 0.25)
    "it has 51% of the operator's time: its limit is 25%"
    """
    if what == "share":
        return f"it has {used:.0%} of the operator's time: its limit is {most:.0%}"
    of = {"groups": "groups in one window", "answers": "answers in one micro-batch"}
    return f"it has {used:,.0f} {of.get(what, 'bytes of state')}: its limit is {most:,.0f}"


@dataclass(frozen=True)
class Blame:
    """What a failed micro-batch says of a query."""

    said: str
    pause: bool = False
    """Whether it is to be paused: it is over a limit, and so its owner chose."""


def blamed(message: str) -> dict[int, Blame]:
    """The queries that a failed micro-batch names, and what it says of them.

    >>> blamed("TooMuch: [weft query 7] it has 5 groups (the limit groups of WEFT_LIMITS)\\n at x")
    {7: Blame(said='it has 5 groups (the limit groups of WEFT_LIMITS)', pause=False)}
    """
    found: dict[int, Blame] = {}
    for number, over_limit, said in _MARK.findall(message):
        found.setdefault(int(number), Blame(said.strip(), bool(over_limit)))
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
