"""Windows by range, slide and offset; and session windows."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import accumulate
from operator import mul
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from weft.errors import WindowError
from weft.query.duration import Duration, format_duration, parse_duration
from weft.query.quoting import quoted
from weft.query.scale import UNITS, Scale

Axis = Literal["time", "integer"]
Int64: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, init=False)
class Window:
    """The windows `[start, start + range)` with `start = offset + k * slide`, k any integer.

    Aligned to the epoch in UTC, like Spark's `window()`. `range`, `slide` and `offset` are
    integers: microseconds on a time axis, units on an integer axis. Keyword-only, because range
    and slide are easily swapped. Without a slide the window is tumbling. A slide larger than the
    range leaves gaps. Windows with equal instances are equal, even if their offsets differ.

    >>> w = Window(range="12 minutes", slide="5 minutes")
    >>> w.range, w.slide, w.offset
    (720000000, 300000000, 0)
    >>> w.progressions()
    ((0, 300000000), (120000000, 300000000))
    >>> Window(range=4, slide=2, offset=-1) == Window(range=4, slide=2, offset=1)
    True
    """

    range: int
    slide: int
    offset: int = field(compare=False)
    axis: Axis
    phase: int = field(repr=False)
    """The offset modulo the slide: the earliest non-negative start."""

    def __init__(
        self, *, range: Duration, slide: Duration | None = None, offset: Duration = 0
    ) -> None:
        slide = range if slide is None else slide
        given: dict[str, Duration] = {"range": range, "slide": slide, "offset": offset}
        micros = {name: parse_duration(value, name) for name, value in given.items()}
        for name in ("range", "slide"):
            if micros[name] <= 0:
                raise WindowError(f"{name}={quoted(given[name])} must be longer than nothing")
        axes = {
            "integer" if isinstance(value, int) else "time"
            for name, value in given.items()
            if name != "offset" or micros["offset"] != 0
        }
        if len(axes) > 1:
            raise WindowError(
                f"range={quoted(range)}, slide={quoted(slide)}, offset={quoted(offset)} mix "
                f"integers with durations: integers are for an integer axis, interval strings or "
                f"timedeltas for time"
            )
        object.__setattr__(self, "range", micros["range"])
        object.__setattr__(self, "slide", micros["slide"])
        object.__setattr__(self, "offset", micros["offset"])
        object.__setattr__(self, "axis", axes.pop())
        object.__setattr__(self, "phase", micros["offset"] % micros["slide"])

    @classmethod
    def of_units(cls, range: int, slide: int, offset: int = 0, axis: Axis = "time") -> Window:
        """A window from integers on either axis (microseconds on the time axis).

        >>> Window.of_units(60_000_000, 60_000_000)
        Window(range='1 minute', slide='1 minute')
        """
        window = cls(range=range, slide=slide, offset=offset)
        object.__setattr__(window, "axis", axis)
        return window

    @property
    def overlap(self) -> float:
        """The average number of windows that contain an instant: range / slide."""
        return self.range / self.slide

    def progressions(self) -> tuple[tuple[int, int], ...]:
        """The window's edges as `(offset, step)`: its starts, and its ends if they differ."""
        end = (self.phase + self.range) % self.slide
        starts = (self.phase, self.slide)
        return (starts,) if end == self.phase else (starts, (end, self.slide))

    @property
    def scale(self) -> Scale:
        """The unit of its `steps`: that of the axis, except for calendar windows."""
        return UNITS

    @property
    def steps(self) -> tuple[int, int, int]:
        """Range, slide and phase on its scale."""
        return self.range, self.slide, self.phase

    @property
    def has_fixed_length(self) -> bool:
        """Whether every instance ends a range after its start, so that the start determines it."""
        return True

    def instances(self, low: int, high: int) -> tuple[Int64, Int64]:
        """Starts and ends of the windows that contain an instant of `[low, high)`, ascending.

        >>> Window(range=10, slide=5).instances(12, 16)
        (array([ 5, 10, 15]), array([15, 20, 25]))
        """
        scale, (length, slide, phase) = self.scale, self.steps
        first = scale.floor(low) - length + 1
        starts = np.arange(
            first + (phase - first) % slide, scale.floor(high - 1) + 1, slide, dtype=np.int64
        )
        return scale.times(starts), scale.times(starts + length)

    @property
    def cut(self) -> Window:
        """The window whose edges cut slices: this one, except for sessions and calendar windows.

        For a calendar window it has more edges, because its own form no progression.
        """
        return self

    def to_dict(self) -> dict[str, Any]:
        """The window as JSON values; `from_dict` reads it back."""
        return {
            "range": self.range,
            "slide": self.slide,
            "offset": self.offset,
            "axis": self.axis,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Window:
        """Read what `to_dict` wrote."""
        if "gap" in data:
            return Session.of_micros(**data)
        if "zone" in data:
            from weft.query.calendar import Calendar

            return Calendar(**data)
        return cls.of_units(data["range"], data["slide"], data["offset"], data["axis"])

    def __repr__(self) -> str:
        show = format_duration if self.axis == "time" else int
        terms = [f"range={show(self.range)!r}", f"slide={show(self.slide)!r}"]
        if self.offset:
            terms.append(f"offset={show(self.offset)!r}")
        return f"Window({', '.join(terms)})"


@dataclass(frozen=True, init=False, repr=False)
class Session(Window):
    """Sessions: rows of a group belong together while no two neighbours are more than `gap` apart.

    Like Spark's `session_window`: a session starts with its first row and ends `gap` after its
    last. Rows at most `gap` apart are always in one session, so all rows of a slice that is no
    longer than the gap are: sessions of every gap are computed from the same slices, each of which
    has its first and last time.

    With a `maximum`, as in Azure Stream Analytics, a session also ends at the first multiple of the
    maximum, counted from the epoch, that is at least a maximum after its start, so it lasts at most
    twice the maximum. If rows continue, the next session starts at that moment. Slices end at these
    multiples too.

    >>> s = Session(gap="7 minutes")
    >>> s, s.range, s.cut
    (Session(gap='7 minutes'), 420000000, Window(range='5 minutes', slide='5 minutes'))
    >>> s == Window(range="7 minutes")
    False
    >>> s = Session(gap="7 minutes", maximum="12 minutes")
    >>> s, s.cut
    (Session(gap='7 minutes', maximum='12 minutes'), Window(range='1 minute', slide='1 minute'))
    """

    maximum: int | None
    """The length after which a session ends at the next multiple of this, in microseconds."""

    def __init__(self, *, gap: Duration, maximum: Duration | None = None) -> None:
        if isinstance(gap, int):
            raise WindowError(
                f"gap={quoted(gap)}: sessions are over time, so a gap is a duration such as "
                f"'30 minutes'"
            )
        super().__init__(range=parse_gap(gap))
        object.__setattr__(self, "axis", "time")
        object.__setattr__(self, "maximum", _parse_maximum(maximum, gap, self.gap))

    @classmethod
    def of_micros(cls, gap: int, maximum: int | None = None) -> Session:
        """Sessions from microseconds.

        >>> Session.of_micros(60_000_000, 600_000_000)
        Session(gap='1 minute', maximum='10 minutes')
        """
        longest = None if maximum is None else format_duration(maximum)
        return cls(gap=format_duration(gap), maximum=longest)

    @property
    def gap(self) -> int:
        """The time without rows after which a group's session ends, in microseconds."""
        return self.range

    @property
    def cut(self) -> Window:
        """A tumbling window no longer than the gap; of any two such windows, one divides the other.

        It divides the maximum, so that sessions that end there end with a slice.
        """
        whole = self.maximum or 0
        step = max(step for step in _STEPS if step <= self.gap and whole % step == 0)
        return Window.of_units(step, step)

    def progressions(self) -> tuple[tuple[int, int], ...]:
        """The edges of its slices; the edges of sessions are not known in advance."""
        return self.cut.progressions()

    @property
    def has_fixed_length(self) -> bool:
        """Never, because the length of a session depends on its rows."""
        return False

    def to_dict(self) -> dict[str, Any]:
        """The session as JSON values; `Window.from_dict` reads it back."""
        return {"gap": self.gap} | ({"maximum": self.maximum} if self.maximum else {})

    def __repr__(self) -> str:
        given = (f"{name}={format_duration(at)!r}" for name, at in self.to_dict().items())
        return f"Session({', '.join(given)})"


def parse_gap(gap: Duration) -> int:
    """A gap in microseconds; it must be longer than nothing."""
    found = parse_duration(gap, "gap")
    if found <= 0:
        raise WindowError(f"gap={quoted(gap)} must be longer than nothing")
    return found


def _parse_maximum(maximum: Duration | None, gap: Duration, micros: int) -> int | None:
    """A session's maximum in microseconds; at least the gap, the length of a one-row session."""
    if maximum is None:
        return None
    given = f"maximum={quoted(maximum)}"
    if isinstance(maximum, int):
        raise WindowError(
            f"{given}: sessions are over time, so a maximum is a duration such as '1 hour'"
        )
    found = parse_duration(maximum, "maximum")
    if found <= 0:
        raise WindowError(f"{given} must be longer than nothing")
    if found < micros:
        raise WindowError(
            f"{given} is shorter than gap={quoted(gap)}: the session of a single row lasts a gap, "
            f"so a maximum is at least that long"
        )
    return found


def parse_lateness(lateness: Duration | None, window: Window) -> int:
    """How long windows stay open after the watermark has passed their end, in units of the axis.

    >>> parse_lateness("10 minutes", Window(range="1 hour")), parse_lateness(5, Window(range=10))
    (600000000, 5)
    """
    if lateness is None:
        return 0
    found, given = parse_duration(lateness, "lateness"), f"lateness={quoted(lateness)}"
    if found < 0:
        raise WindowError(f"{given} is negative: accepted is 0 or longer, such as '10 minutes'")
    axis = "integer" if isinstance(lateness, int) else "time"
    if found and axis != window.axis:
        other = "a whole number" if window.axis == "integer" else "a duration such as '10 minutes'"
        raise WindowError(f"{given} is of another axis than the windows: accepted is {other}")
    if axis == "time" and found % 1000:
        raise WindowError(
            f"{given} is finer than a millisecond, which Spark counts watermarks in: accepted are "
            f"whole milliseconds"
        )
    return found


_STEPS = tuple(accumulate([1, *[10] * 6, 5, 3, 4, 5, 3, 4, 6, 2, 2], mul))
"""Lengths of slices for sessions, each a multiple of the one before: a microsecond, ten, ..., 1, 5
and 15 seconds, 1, 5 and 15 minutes, 1, 6 and 12 hours, a day."""
