"""Windows over windows: which answers go into an outer window, and when it is complete.

    answers of ten minutes   12:10  12:20  12:30  12:40  12:50  13:00
    an hour of them          |-------------- held ------------------|  --SQL--> its rows

An answer goes into the outer window that contains a moment of its own window: its last one (Spark's
`window_time`), its start, its end, or a millisecond before its end. Each is a fixed time before the
end (its lag), so the ends of all windows in an outer window lie in an interval of the outer
window's size. When the watermark has passed that interval, all their answers have been delivered.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from weft.stream.plan_tree import Node

_CONVERSIONS = frozenset(("KnownNullable", "KnownNotNull", "PreciseTimestampConversion"))


MINUTE, DAY = 60_000_000, 86_400_000_000
_TRUNCATED = {
    "minute": (MINUTE, 0),
    "hour": (60 * MINUTE, 0),
    "day": (DAY, 0),
    "dd": (DAY, 0),
    "week": (7 * DAY, 4 * DAY),  # from Monday; the epoch was a Thursday
}
_UTC = frozenset(("UTC", "Etc/UTC", "Z", "GMT", "+00:00"))


@dataclass(frozen=True)
class Outer:
    """Adjacent intervals of one size, in microseconds; window ends in one belong together.

    >>> hours = Outer(60, 0)
    >>> [hours.edge(end) for end in (-60, -59, 0, 1, 59, 60, 61)]
    [-60, 0, 0, 60, 60, 60, 120]
    >>> hours.edge_sql("e")
    '((e) - 1 - pmod((e) - 1 - 0L, 60L) + 60L)'
    """

    size: int
    offset: int

    def lagging(self, lag: int) -> Outer:
        """The intervals of the ends of windows whose moments, `lag` before the end, lie in these.

        >>> Outer(60, 0).lagging(1)
        Outer(size=60, offset=0)
        >>> tens = Outer(60, 0).lagging(10)  # by their starts
        >>> [tens.edge(end) for end in (9, 10, 69, 70)]
        [9, 69, 69, 129]
        """
        return Outer(self.size, (self.offset + lag - 1) % self.size)

    def edge(self, end: int) -> int:
        """The last end of the windows that belong together with one that ends at `end`."""
        return end - 1 - (end - 1 - self.offset) % self.size + self.size

    def edge_sql(self, end: str) -> str:
        """The same in SQL; `end` is SQL of a long."""
        last = f"({end}) - 1"
        return f"({last} - pmod({last} - {self.offset}L, {self.size}L) + {self.size}L)"


@dataclass(frozen=True, eq=False)
class OuterEdge:
    """An expression for the start or end of the outer window that contains `moment`."""

    outer: Outer
    which: Literal["start", "end"]
    moment: Node


def outer_edge(node: Node) -> OuterEdge | None:
    """Recognise an edge as Spark's `window` computes it, with `r` for `(x - offset) % size`.

    start: x - CASE WHEN r < 0 THEN r + size ELSE r END - 0
    end:   start + size
    """
    while node.kind in _CONVERSIONS:
        node = node.children[0]
    if node.kind in ("TruncTimestamp", "Cast"):
        return _truncated(node)
    if node.kind == "Add":
        found = _start(node.children[0])
        if found is None or node.children[1].literal != found.outer.size:
            return None
        return OuterEdge(found.outer, "end", found.moment)
    return _start(node)


def _truncated(node: Node) -> OuterEdge | None:
    """Recognise `date_trunc` and casts to a date, if in UTC, where all days have equal length."""
    if node.said.get("timeZoneId") not in _UTC:
        return None
    *unit, moment = node.children
    word = str(unit[0].said.get("value")).lower() if unit else "day"
    if moment.kind == "Cast" and moment.said.get("timeZoneId") in _UTC:
        moment = moment.children[0]  # a cast of a TIMESTAMP_NTZ
    if (not unit and node.said.get("dataType") != "date") or word not in _TRUNCATED:
        return None
    return OuterEdge(Outer(*_TRUNCATED[word]), "start", moment)


def _start(node: Node) -> OuterEdge | None:
    if node.kind == "Subtract" and node.children[1].literal == 0:
        node = node.children[0]
    if node.kind != "Subtract" or node.children[1].kind != "CaseWhen":
        return None
    moment, cases = node.children
    if len(cases.children) != 3:
        return None
    condition, below, rest = cases.children
    if (condition.kind, below.kind, rest.kind) != ("LessThan", "Add", "Remainder"):
        return None
    since, size = rest.children[0], rest.children[1].literal
    offset = since.children[1].literal if since.kind == "Subtract" else None
    is_floor = (
        since.children[:1] != ()
        and since.children[0].is_same(moment)
        and condition.children[0].is_same(rest)
        and condition.children[1].literal == 0
        and below.children[0].is_same(rest)
        and below.children[1].literal == size
    )
    if not is_floor or offset is None or size is None or size <= 0:
        return None
    return OuterEdge(Outer(size, offset), "start", moment)
