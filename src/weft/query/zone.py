"""A time zone as a table: from instants to days of its calendar, and back.

instants (UTC)   ----|--------------|-----------|---->    changes of its clocks
offset              +1h     +2h          +1h
local days       | 0 |  1  |  2  |  3  |  4  |  5  |      23, 24 or 25 hours long
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from functools import cached_property
from typing import TypeAlias
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
import numpy.typing as npt

from weft.errors import WindowError
from weft.query.quoting import quoted

Int64: TypeAlias = npt.NDArray[np.int64]

SECOND = 1_000_000
DAY = 86_400 * SECOND
FAR = 2**62
"""Later than any time."""
FIRST, LAST = 1970, 2100
"""The range of years in the table; zones whose clocks never change have no limit."""
_UTC = ("UTC", "Etc/UTC", "GMT", "Etc/GMT", "Z", "Zulu", "UT", "GMT0")
_FIXED = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{2}))?(?::(\d{2}))?")
_ACCEPTED = "a name such as 'Europe/Berlin', an offset such as '+02:00', or 'UTC'"


@dataclass(frozen=True)
class Zone:
    """The clocks of a zone: from `changes[i]` on they show UTC plus `offsets[i + 1]`.

    Days begin at their first instant, which is midnight unless the clocks skip it. The name is its
    identity; the table is sent to Spark's workers too, whose time zone database may differ.

    >>> zone = zone_of("Europe/Berlin")
    >>> days = np.array([19812, 19813, 19814])  # 2024-03-30 and on; clocks change on the 31st
    >>> (np.diff(zone.midnight(days)) // (3_600 * SECOND)).tolist()
    [24, 23]
    >>> zone.day(zone.midnight(days)).tolist()
    [19812, 19813, 19814]
    """

    name: str
    changes: tuple[int, ...] = field(default=(), compare=False, repr=False)
    offsets: tuple[int, ...] = field(default=(0,), compare=False, repr=False)
    since: int = field(default=-FAR, compare=False)
    """From here on the table is valid, and no day occurs twice."""
    until: int = field(default=FAR, compare=False)

    def day(self, instants: npt.ArrayLike) -> Int64:
        """The local day of each instant, as a number from 1970-01-01 on."""
        at = np.asarray(instants, dtype=np.int64)
        if not self.changes:
            return (at + self.offsets[0]) // DAY
        offset = self._offsets[np.searchsorted(self._changes, at, side="right")]
        return np.asarray((at + offset) // DAY, dtype=np.int64)

    def midnight(self, days: npt.ArrayLike) -> Int64:
        """The first instant of each local day; for a day that was skipped, that of the next day."""
        local = np.asarray(days, dtype=np.int64) * DAY
        if not self.changes:
            return local - self.offsets[0]
        # The first period between changes in which the clocks show a later time.
        at = np.searchsorted(self._shown, local, side="right")
        found: Int64 = np.maximum(local - self._offsets[at], self._begin[at])
        return found

    @property
    def midnights(self) -> tuple[int, ...]:
        """The times of day, in UTC, at which its days may begin: one for each offset."""
        return tuple(sorted({-offset % DAY for offset in self.offsets}))

    @cached_property
    def _changes(self) -> Int64:
        return np.array(self.changes, dtype=np.int64)

    @cached_property
    def _offsets(self) -> Int64:
        return np.array(self.offsets, dtype=np.int64)

    @cached_property
    def _begin(self) -> Int64:
        """The start of each period between changes."""
        return np.concatenate([[-FAR], self._changes]).astype(np.int64)

    @cached_property
    def _shown(self) -> Int64:
        """The latest local time shown by the end of each period except the last."""
        return np.maximum.accumulate(self._changes + self._offsets[:-1])


_known: dict[str, Zone] = {}


def zone_of(name: str) -> Zone:
    """A zone by its name, or by its offset from UTC.

    >>> zone_of("+05:30").offsets, zone_of("UTC").midnights
    ((19800000000,), (0,))
    """
    if name not in _known:
        _known[name] = _read(name)
    return _known[name]


def serve_from(zone: Zone, since: int) -> None:
    """Make a zone valid only from a later time on, because Java's table differs before that."""
    _known[zone.name] = replace(zone, since=since)


def _read(name: str) -> Zone:
    if name in _UTC:
        return Zone("UTC")
    fixed = _FIXED.fullmatch(name)
    if fixed is not None:
        hours, minutes, seconds = (int(term or 0) for term in fixed.groups()[1:])
        length = hours * 3600 + minutes * 60 + seconds
        if length <= 18 * 3600 and minutes < 60 and seconds < 60:
            return Zone(name, (), ((-1 if fixed[1] == "-" else 1) * length * SECOND,))
    try:
        found = ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise WindowError(
            f"zone={quoted(name)} is not a time zone: accepted is {_ACCEPTED}"
        ) from error
    return _looked_up(name, found)


def _looked_up(name: str, found: ZoneInfo) -> Zone:
    """Build the table of a zone from its offsets on every day."""
    edges = [datetime(year, 1, 1, tzinfo=timezone.utc) for year in (FIRST, LAST)]
    first, last = (int(edge.timestamp()) for edge in edges)

    def offset(second: int) -> int:
        delta = datetime.fromtimestamp(second, found).utcoffset()
        assert delta is not None
        return delta.days * 86_400 + delta.seconds

    changes: list[int] = []
    offsets = [offset(first)]
    for second in range(first, last, 86_400):
        if offset(second + 86_400) == offsets[-1]:
            continue
        low, high = second, second + 86_400  # offset(low) is the old offset, offset(high) is not
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if offset(middle) == offsets[-1] else (low, middle)
        changes.append(high)
        offsets.append(offset(high))
    if not changes:
        return Zone(name, (), (offsets[0] * SECOND,), first * SECOND, last * SECOND)
    zone = Zone(
        name,
        tuple(change * SECOND for change in changes),
        tuple(each * SECOND for each in offsets),
        first * SECOND,
        last * SECOND,
    )
    return _from_last_repeat(zone)


def _from_last_repeat(zone: Zone) -> Zone:
    """The zone, valid from the time after which no local day recurs once the next has begun."""
    changes = np.array(zone.changes, dtype=np.int64)
    again = np.flatnonzero(zone.day(changes - 1) > zone.day(changes))
    if not len(again):
        return zone
    since = int(zone.midnight(zone.day(changes[again[-1]]) + 2))
    if since >= zone.until:
        raise WindowError(f"zone={quoted(zone.name)} has days that begin twice, every year")
    return replace(zone, since=since)
