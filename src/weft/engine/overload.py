"""Limits that only a running stream can check: only the query that exceeds one is removed.

A worker that finds a query over its limits raises `TooMuch` before it allocates the memory. The
message names the query by number, so that the driver can remove that query and continue with the
others. Trusted queries have only the limits that their owner has set.
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
    """A query exceeds one of its limits."""


@dataclass(frozen=True)
class Bounds:
    """The limits of the driver, sent to workers because their environment may differ."""

    queries: frozenset[int] = frozenset()
    """The numbers of the untrusted queries, which `windows` and `groups` apply to."""
    windows: int = 0
    groups: int = 0
    own: Mapping[int, QueryLimits] = field(default_factory=dict)
    """By query, the limits that its owner set."""

    @classmethod
    def of(cls, queries: Mapping[int, Query], default: QueryLimits | None = None) -> Bounds:
        """The limits that apply to some queries, by number."""
        most = limits()
        own = {number: effective(query, default) for number, query in queries.items()}
        return cls(
            frozenset(number for number, query in queries.items() if not query.trusted),
            most.windows,
            most.groups,
            {number: limit for number, limit in own.items() if limit is not None},
        )

    def check_own(self, query: int, what: str, count: int) -> None:
        """Raise if a query has more `groups` in a window or `answers` than its owner allows.

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
        """Raise if a query has more `windows` or `groups` in a bucket than allowed.

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
    """The message that a query exceeds a limit that its owner set.

    >>> over("share", 0.514, 0.25)
    "it has 51% of the operator's time: its limit is 25%"
    """
    if what == "share":
        return f"it has {used:.0%} of the operator's time: its limit is {most:.0%}"
    of = {"groups": "groups in one window", "answers": "answers in one micro-batch"}
    return f"it has {used:,.0f} {of.get(what, 'bytes of state')}: its limit is {most:,.0f}"


@dataclass(frozen=True)
class Blame:
    """What the error of a failed micro-batch says about a query."""

    said: str
    pause: bool = False
    """Whether to pause it: it is over a limit for which its owner chose pausing."""


def blamed(message: str) -> dict[int, Blame]:
    """The queries named by the error of a failed micro-batch, and what it says about each.

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
    """The newest query (from `stores`, by tree) of a tree with more state than the limit."""
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
