"""A window: where it starts, how long it is, how often it comes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from weft.errors import WindowError
from weft.query.duration import Duration, format_duration, parse_duration
from weft.query.quoting import quoted

Axis = Literal["time", "integer"]


@dataclass(frozen=True, init=False)
class Window:
    """The windows `[start, start + range)` with `start = offset + k * slide`, k any integer.

    Aligned to the epoch in UTC, as Spark's `window()`. `range`, `slide` and `offset` are
    integers: microseconds on a time axis, units on an integer axis. Keyword-only, because range
    and slide are easily swapped. Without a slide the window tumbles. A slide larger than the
    range leaves gaps. Windows with equal instances are equal, whatever their offset's period.

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
    """The offset modulo the slide: the earliest start that is not negative."""

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
        """How many windows an instant lies in on average: range / slide."""
        return self.range / self.slide

    def progressions(self) -> tuple[tuple[int, int], ...]:
        """The window's edges as `(offset, step)`: its starts, and its ends where they differ."""
        end = (self.phase + self.range) % self.slide
        starts = (self.phase, self.slide)
        return (starts,) if end == self.phase else (starts, (end, self.slide))

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
        return cls.of_units(data["range"], data["slide"], data["offset"], data["axis"])

    def __repr__(self) -> str:
        show = format_duration if self.axis == "time" else int
        terms = [f"range={show(self.range)!r}", f"slide={show(self.slide)!r}"]
        if self.offset:
            terms.append(f"offset={show(self.offset)!r}")
        return f"Window({', '.join(terms)})"
