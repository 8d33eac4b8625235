"""The unit of a window's range and slide: units of the axis, or days or months of a time zone.

A calendar window is an ordinary window over the numbers of days or months. Its instances are
computed by the same arithmetic as for other windows, on numbers instead of instants:

    instants   ...|-- Jan --|-- Feb --|-- Mar --|...     of the zone, so many microseconds long
    numbers         648       649       650              months since 1970-01

Numbers ascend with instants, so data sorted by one is sorted by the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from weft.errors import WindowError
from weft.query.zone import DAY, FAR, SECOND, Zone

Int64: TypeAlias = npt.NDArray[np.int64]
Unit = Literal["day", "month"]
_MOST = {"day": 10**8, "month": 3 * 10**6}
"""Numbers beyond these belong to instants that do not fit in 64 bits."""


@dataclass(frozen=True)
class Scale:
    """Units of the axis: the number of an instant is the instant itself.

    Laws: numbers ascend with instants; `times(n)` is the first instant whose number is `n` or more.
    """

    def numbers(self, instants: Int64) -> Int64:
        """The number of the unit that contains each instant."""
        return instants

    def times(self, numbers: Int64) -> Int64:
        """The start of the unit with each number."""
        return numbers

    def floor(self, instant: int) -> int:
        """The number of the unit that contains an instant."""
        return instant

    def ceil(self, instant: int) -> int:
        """The number of the first unit that begins at or after an instant."""
        return instant

    def time(self, number: int) -> int:
        """The start of the unit with a number."""
        return number

    def longest(self, count: int) -> int:
        """The greatest length of `count` consecutive units, in units of the axis."""
        return count

    def check(self, starts: Int64, ends: Int64) -> None:
        """Refuse windows whose bounds are unknown."""

    @property
    def is_even(self) -> bool:
        """Whether all units have the same length."""
        return True


UNITS = Scale()


@dataclass(frozen=True)
class CalendarScale(Scale):
    """Days or months of a zone, counted from 1970-01-01.

    >>> months = CalendarScale("month", Zone("UTC"))
    >>> march = int(np.datetime64("2024-03-17", "us").astype(np.int64))
    >>> months.floor(march), str(np.datetime64(months.time(650), "us"))
    (650, '2024-03-01T00:00:00.000000')
    >>> months.ceil(months.time(650)), months.ceil(months.time(650) + 1), months.floor(-1)
    (650, 651, -1)
    """

    unit: Unit
    zone: Zone

    def numbers(self, instants: Int64) -> Int64:
        """The number of the day or month that contains each instant."""
        days = self.zone.day(np.clip(instants, -FAR, FAR))
        if self.unit == "day":
            return days
        return days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)

    def times(self, numbers: Int64) -> Int64:
        """The start of each day or month; numbers beyond all instants give plus or minus `FAR`."""
        most = _MOST[self.unit]
        held = np.clip(numbers, -most, most)
        if self.unit == "month":
            held = held.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
        found = self.zone.midnight(held)
        found = np.where(numbers >= most, FAR, found)
        return np.where(numbers <= -most, -FAR, found)

    def floor(self, instant: int) -> int:
        """The number of the day or month that contains an instant."""
        if abs(instant) >= FAR:
            return instant
        return int(self.numbers(np.array([instant], dtype=np.int64))[0])

    def ceil(self, instant: int) -> int:
        """The first day or month that begins at or after an instant."""
        return instant if abs(instant) >= FAR else self.floor(instant - 1) + 1

    def time(self, number: int) -> int:
        """The start of a day or month."""
        held = max(-FAR, min(FAR, number))
        return int(self.times(np.array([held], dtype=np.int64))[0])

    def longest(self, count: int) -> int:
        """`count` days, or `count` months of 31 days, plus a day for clocks that are set back."""
        return (count * (1 if self.unit == "day" else 31) + 1) * DAY

    def check(self, starts: Int64, ends: Int64) -> None:
        """Refuse windows outside of the years for which the zone's UTC offsets are known."""
        if not len(starts):
            return
        low, high = int(starts.min()), int(ends.max())
        zone = self.zone
        if low >= zone.since and high <= zone.until:
            return
        outside = f"starts at {_shown(low)}" if low < zone.since else f"ends at {_shown(high)}"
        raise WindowError(
            f"zone={zone.name!r}: a window of some rows {outside}, and the clocks of the zone are "
            f"known from {_shown(zone.since)} until {_shown(zone.until)}: leave such rows out with "
            f"where=, or use zone='UTC'"
        )

    @property
    def is_even(self) -> bool:
        """Never, because months differ in length, and days when clocks change."""
        return False


def _shown(instant: int) -> str:
    """An instant as text, or its microseconds if it is beyond the calendar.

    >>> _shown(0)
    '1970-01-01 00:00:00 UTC'
    """
    try:
        at = datetime.fromtimestamp(instant // SECOND, timezone.utc)
    except (OverflowError, ValueError, OSError):
        return f"{instant} microseconds"
    return f"{at.replace(tzinfo=None).isoformat(sep=' ')} UTC"
