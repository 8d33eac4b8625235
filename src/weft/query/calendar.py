"""Calendar windows: days, weeks, months, quarters and years of a time zone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import gcd
from typing import Any

from weft.errors import WindowError
from weft.query.quoting import quoted
from weft.query.scale import CalendarScale, Unit
from weft.query.window import Window
from weft.query.zone import DAY, zone_of

SESSION = "session"
"""Placeholder for the Spark session's time zone, which is not known when SQL is parsed."""
_UNITS: dict[str, tuple[Unit, int]] = {
    "day": ("day", 1),
    "week": ("day", 7),
    "month": ("month", 1),
    "quarter": ("month", 3),
    "year": ("month", 12),
}
_LENGTH = re.compile(r"(?:interval\s+)?([+-]?\d{1,7})\s*([a-z]+?)s?", re.IGNORECASE)
_MEAN = {"day": DAY, "month": 2_629_746_000_000}
"""Their average lengths in microseconds: a Gregorian year has 365.2425 days."""
_MONDAY = -3
"""The Monday of the week of 1970-01-01."""
_ACCEPTED = "whole days, weeks, months, quarters or years, such as '3 months'"


@dataclass(frozen=True, init=False, repr=False)
class Calendar(Window):
    """Windows of whole days, weeks, months, quarters or years, by the calendar of a time zone.

    Windows are aligned with the calendar: months start on the first, weeks on Mondays, quarters
    and years as usual; `offset` shifts them by days or months (`Calendar(range="1 year",
    offset="3 months")` has years that start in April). A day begins at its first instant, and has
    23 or 25 hours when clocks change, as with Spark's `date_trunc`. Range and slide are both in
    days and weeks, or both in months, quarters and years. Without a slide the window tumbles.

    `range` and `slide` in microseconds are averages, for estimates; the instances are exact.
    **Slices are cut wherever a day of the zone may begin**: at one time of day for each UTC offset
    of the zone. These edges are progressions like those of other windows, so calendar windows can
    share slices with them.

    >>> c = Calendar(range="3 months", slide="1 month", zone="Europe/Berlin")
    >>> c
    Calendar(range='3 months', slide='1 month', zone='Europe/Berlin')
    >>> c.cut
    Window(range='1 day 1 hour', slide='1 day', offset='22 hours')
    >>> Calendar(range="1 quarter")
    Calendar(range='3 months', slide='3 months', zone='UTC')
    >>> Calendar(range="1 week").instances(0, 8 * 86_400 * 10**6)[0] // (86_400 * 10**6)
    array([-3,  4])
    """

    unit: Unit
    """The unit of range and slide; the fields below count these units."""
    count: int
    step: int
    start: int
    zone: str

    def __init__(
        self, *, range: str, slide: str | None = None, offset: str | None = None, zone: str = "UTC"
    ) -> None:
        slide = range if slide is None else slide
        count, unit, _ = _length("range", range)
        step, other, aligned = _length("slide", slide)
        if unit != other:
            raise WindowError(
                f"range={quoted(range)}, slide={quoted(slide)} mix days with months: accepted are "
                f"days and weeks, or months, quarters and years"
            )
        moved = 0
        if offset is not None:
            moved, of, _ = _length("offset", offset, signed=True)
            if of != unit and moved:
                raise WindowError(
                    f"offset={quoted(offset)}: windows of {unit}s take an offset in {unit}s"
                )
        if not isinstance(zone, str):
            raise WindowError(f"zone={quoted(zone)} is not a string such as 'Europe/Berlin'")
        name = SESSION if zone == SESSION else zone_of(zone).name
        phase = moved + (_MONDAY if aligned == "week" else 0)
        mean = _MEAN[unit]
        super().__init__(range=count * mean, slide=step * mean, offset=phase % step * mean)
        object.__setattr__(self, "axis", "time")
        object.__setattr__(self, "unit", unit)
        object.__setattr__(self, "count", count)
        object.__setattr__(self, "step", step)
        object.__setattr__(self, "start", phase % step)
        object.__setattr__(self, "zone", name)

    @property
    def steps(self) -> tuple[int, int, int]:
        """Range, slide and phase in days or months."""
        return self.count, self.step, self.start

    @property
    def scale(self) -> CalendarScale:
        """Days or months of its zone."""
        if self.zone == SESSION:
            raise WindowError("zone='session' is accepted in SQL only: name a time zone")
        return CalendarScale(self.unit, zone_of(self.zone))

    @property
    def cut(self) -> Window:
        """A window with an edge wherever a day of the zone may begin."""
        midnights = self.scale.zone.midnights
        first, last = midnights[0], midnights[-1]
        if len(midnights) == 1:
            return Window.of_units(DAY, DAY, first)
        if len(midnights) == 2:  # a range longer than the slide, so that there are no gaps
            return Window.of_units(DAY + last - first, DAY, first)
        step = gcd(DAY, *(midnight - first for midnight in midnights))
        return Window.of_units(step, step, first % step)

    def progressions(self) -> tuple[tuple[int, int], ...]:
        """The edges of its slices; more than the window's own edges, which form no progression."""
        return self.cut.progressions()

    def in_zone(self, zone: str) -> Calendar:
        """The same windows in another time zone."""
        return Calendar(**{**self.to_dict(), "zone": zone})

    @property
    def has_fixed_length(self) -> bool:
        """Never, because months differ in length, and days when clocks change."""
        return False

    def to_dict(self) -> dict[str, Any]:
        """The windows as JSON values, in words; `Window.from_dict` reads them back."""
        weekly = self.unit == "day" and self.step % 7 == 0 and (self.start - _MONDAY) % 7 == 0
        moved = (self.start - _MONDAY) % self.step if weekly else self.start
        lengths = {"range": self.count, "slide": self.step, "offset": moved}
        shown = {name: _words(length, self.unit, weekly) for name, length in lengths.items()}
        return {**shown, "zone": self.zone}

    def __repr__(self) -> str:
        given = self.to_dict()
        if given["offset"].startswith("0 "):
            del given["offset"]
        return f"Calendar({', '.join(f'{name}={value!r}' for name, value in given.items())})"


def is_calendar(text: object) -> bool:
    """Whether a length needs a calendar window: one in months, quarters or years.

    >>> is_calendar("1 quarter"), is_calendar("1 day"), is_calendar("10 minutes")
    (True, False, False)
    """
    found = _LENGTH.fullmatch(text.strip()) if isinstance(text, str) else None
    return found is not None and _UNITS.get(found[2].lower(), ("day", 1))[0] == "month"


def _length(field: str, text: str, *, signed: bool = False) -> tuple[int, Unit, str]:
    """A length as a number of days or months, and the unit that it was given in."""
    found = _LENGTH.fullmatch(text.strip()) if isinstance(text, str) else None
    name = "" if found is None else found[2].lower()
    if found is None or name not in _UNITS:
        raise WindowError(
            f"{field}={quoted(text)} is not a calendar length: accepted are {_ACCEPTED}"
        )
    unit, size = _UNITS[name]
    number = int(found[1]) * size
    if number <= 0 and not signed:
        raise WindowError(f"{field}={quoted(text)} must be longer than nothing")
    return number, unit, name


def _words(number: int, unit: Unit, weekly: bool) -> str:
    """A number of days or months in the largest unit of which it is a multiple.

    >>> _words(24, "month", False), _words(1, "day", False), _words(14, "day", True)
    ('2 years', '1 day', '2 weeks')
    """
    names = {"month": ("year", "month"), "day": ("week", "day") if weekly else ("day",)}
    for name in names[unit]:
        size = _UNITS[name][1]
        if number % size == 0 and (number or size == 1):
            return f"{number // size} {name}{'' if number == size else 's'}"
    raise AssertionError(unit)  # the last unit is one
