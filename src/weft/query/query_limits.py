"""Limits on what one query of a stream may use; a query that exceeds one fails or is paused."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal

from weft.errors import QueryError
from weft.query.quoting import quoted

if TYPE_CHECKING:
    from weft.query.query import Query

Over = Literal["fail", "pause"]
_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?(k|M|G|T)?B?")
_UNITS = {None: 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


@dataclass(frozen=True)
class QueryLimits:
    """The most that a query may use of a stream; None means no limit.

    >>> QueryLimits.of({"groups": 10_000, "state_bytes": "1.5 GB", "over": "pause"})
    QueryLimits(state_bytes=1500000000, groups=10000, answers=None, share=None, over='pause')
    >>> print(QueryLimits(answers=500, share=0.5))
    answers=500, share=0.5, over=fail
    """

    state_bytes: int | None = None
    """Bytes of state: its share of the state of its trees."""
    groups: int | None = None
    """Groups in one window."""
    answers: int | None = None
    """Answers in one micro-batch."""
    share: float | None = None
    """Its share of the operator's time, between 0 and 1."""
    over: Over = "fail"
    """What happens to a query that exceeds a limit."""

    def __post_init__(self) -> None:
        for name, value in self.named():
            least, what = (0.0, "more than 0, at most 1") if name == "share" else (0, "at least 1")
            fits = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not fits or not isfinite(value) or value <= least or (name == "share" and value > 1):
                raise QueryError(f"limits: {name}={value!r} must be a number, {what}")
        if self.over not in ("fail", "pause"):
            raise QueryError(f"limits: over={quoted(self.over)}: accepted are fail, pause")

    def named(self) -> Iterator[tuple[str, float]]:
        """The limits that are set, by name."""
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name != "over" and value is not None:
                yield field.name, value

    @classmethod
    def of(cls, given: QueryLimits | Mapping[str, Any] | None) -> QueryLimits | None:
        """The given limits; sizes may have a unit. None if nothing is limited."""
        if given is None or isinstance(given, QueryLimits):
            return given
        if not isinstance(given, Mapping):
            raise QueryError(f"limits={quoted(given)} is not a mapping, such as {{'groups': 1000}}")
        known = [field.name for field in fields(cls)]
        found = dict(given)
        unknown = [name for name in found if name not in known]
        if unknown:
            raise QueryError(
                f"limits: {quoted(unknown[0])} is not a limit: accepted are {', '.join(known)}"
            )
        if isinstance(found.get("state_bytes"), str):
            found["state_bytes"] = _bytes(found["state_bytes"])
        made = cls(**found)
        return made if any(made.named()) else None

    def within(self, others: QueryLimits | None, *, trusted: bool) -> QueryLimits:
        """These limits, completed by those of `others`.

        If not `trusted`, the stricter ones of both apply, with the `over` of `others`.

        >>> print(QueryLimits(groups=9).within(QueryLimits(groups=5, share=0.5), trusted=False))
        groups=5, share=0.5, over=fail
        """
        if others is None:
            return self
        mine, theirs = dict(self.named()), dict(others.named())
        both = mine.keys() & theirs.keys() if not trusted else set()
        stricter = {name: min(mine[name], theirs[name]) for name in both}
        over = self.over if trusted else others.over
        return QueryLimits(**{**theirs, **mine, **stricter}, over=over)  # type: ignore[arg-type]

    @classmethod
    def read(cls, text: str) -> QueryLimits | None:
        """Parse `groups=10000, state_bytes=2 GB, over=pause`, the form of the command line.

        >>> print(QueryLimits.read("share=0.25"), QueryLimits.read("none"))
        share=0.25, over=fail None
        """
        if text.strip().lower() == "none":
            return None
        found: dict[str, Any] = {}
        for entry in filter(str.strip, text.split(",")):
            name, _, value = (part.strip() for part in entry.partition("="))
            found[name] = value if name in ("state_bytes", "over") else _number(name, value)
        return cls.of(found)

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {**dict(self.named()), "over": self.over}

    def __str__(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in self.to_dict().items())


def effective(query: Query, default: QueryLimits | None) -> QueryLimits | None:
    """The limits of a query, given the default for queries without limits of their own."""
    if query.limits is None:
        return default
    return query.limits.within(default, trusted=query.trusted)


def _number(name: str, text: str) -> float:
    try:
        return float(text) if name == "share" else int(text.replace("_", ""))
    except ValueError:
        raise QueryError(f"limits: {name}={quoted(text)} is not a number") from None


def _bytes(text: str) -> int:
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise QueryError(
            f"limits: state_bytes={quoted(text)} is not a size such as 500000 or '2 GB'"
        )
    return int(float(found[1]) * _UNITS[found[2]])
