"""Limits of untrusted queries: functions, sizes and counts, set by whoever operates the process.

They come from the environment of the process, never from a job file. The defaults protect a worker
with 1 GB of memory.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import TYPE_CHECKING

from weft.errors import ExpressionError, QueryError, WindowError, WorkloadError
from weft.query.quoting import quoted

if TYPE_CHECKING:
    from weft.query.query import Query

LIMITS, FUNCTIONS = "WEFT_LIMITS", "WEFT_ALLOW_FUNCTIONS"
"""The variables: `queries=500,text=20000`, and `my_udf,other_udf` or `*`."""


_NUMBER = re.compile(r"0*[1-9][0-9]{0,17}")


@dataclass(frozen=True)
class Limits:
    """How much may be requested at once; `WEFT_LIMITS` changes these limits.

    >>> Limits.read("queries=500, text=20000").queries
    500
    """

    queries: int = 100_000
    """Queries on one stream or DataFrame."""
    predicates: int = 10_000
    """Distinct predicates among them."""
    progressions: int = 100_000
    """Distinct progressions of edges among their windows."""
    windows_per_row: int = 50_000
    """Windows of one query that contain a row: range / slide. (30 days every minute are 43,200.)"""
    windows: int = 20_000_000
    """Windows of one query, over all groups, that a stream's bucket answers in a micro-batch."""
    groups: int = 2_000_000
    """Groups of one query that a bucket of a stream answers in one micro-batch."""
    state_bytes: int = 8_000_000_000
    """Bytes of state that a stream keeps for the queries of one tree."""
    value_bytes: int = 1_000_000
    """Bytes of a value that an untrusted expression may make from one row."""
    pattern: int = 1_000
    """Characters of an untrusted regular expression, and its largest repetition count."""
    text: int = 100_000
    """Characters of an expression or statement."""

    @classmethod
    def read(cls, text: str) -> Limits:
        """Parse the value of `WEFT_LIMITS`."""
        known = [field.name for field in fields(cls)]
        found: dict[str, int] = {}
        for entry in filter(str.strip, text.split(",")):
            name, _, value = (part.strip() for part in entry.partition("="))
            if name not in known or not _NUMBER.fullmatch(value):
                raise QueryError(
                    f"{LIMITS}: {quoted(entry.strip())} is not a limit: accepted are "
                    f"{', '.join(f'{one}=N' for one in known)}, separated by commas, N at least 1"
                )
            found[name] = int(value)
        return cls(**found)


_read = lru_cache(maxsize=8)(Limits.read)


def limits() -> Limits:
    """The limits that apply."""
    return _read(os.environ.get(LIMITS, ""))


def allows(function: str) -> bool:
    """Whether the operator allows a function that is not one of Spark's deterministic ones.

    >>> os.environ["WEFT_ALLOW_FUNCTIONS"] = "fair_price, Spread"
    >>> allows("spread"), allows("other")
    (True, False)
    >>> del os.environ["WEFT_ALLOW_FUNCTIONS"]
    """
    named = {name.strip().lower() for name in os.environ.get(FUNCTIONS, "").split(",")}
    return "*" in named or function.lower() in named


def check_text(sql: str, what: str) -> None:
    """Refuse a text that is too long to be parsed in reasonable time."""
    most = limits().text
    if len(sql) > most:
        raise ExpressionError(
            f"{what} has {len(sql):,} characters: at most {most:,} are accepted "
            f"(the limit text of {LIMITS})"
        )


def check_queries(queries: Sequence[Query]) -> None:
    """Refuse queries that together exceed a limit."""
    most = limits()
    for query in queries:
        window = query.window
        if window.range > most.windows_per_row * window.slide:
            raise WindowError(
                f"query {query.name!r}: a row lies in {-(-window.range // window.slide):,} windows "
                f"(range / slide): at most {most.windows_per_row:,} are accepted (the limit "
                f"windows_per_row of {LIMITS})"
            )
    edges = {edge for query in queries for edge in query.window.progressions()}
    counts = {
        "queries": len(queries),
        "predicates": len({query.predicate for query in queries}),
        "progressions": len(edges),
    }
    for name, count in counts.items():
        if count > getattr(most, name):
            raise WorkloadError(
                f"{count:,} {name} are asked for: at most {getattr(most, name):,} are accepted "
                f"(the limit {name} of {LIMITS})"
            )
