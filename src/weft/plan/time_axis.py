"""Converts the time column to integers and back, in SQL, as Spark's `window()` does by type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from weft.query.window import Axis, Window

Kind = Literal["timestamp", "timestamp_ntz", "date", "integer"]


@dataclass(frozen=True)
class TimeAxis:
    """The time column that windows are defined on, and its type.

    Law: `instant(units())` is the time as `window()` sees it. Dates are timestamps at midnight in
    the session's time zone, as `window()` makes them. On an integer axis instants are longs.

    >>> TimeAxis("ts").units(), TimeAxis("ts").instant("w")
    ('unix_micros(`ts`)', 'timestamp_micros(w)')
    """

    column: str
    kind: Kind = "timestamp"

    @property
    def axis(self) -> Axis:
        """The axis that windows must be on: time, or integers."""
        return "integer" if self.kind == "integer" else "time"

    @property
    def quoted(self) -> str:
        """The column as SQL."""
        return quote(self.column)

    def units(self) -> str:
        """SQL of the time as a long: microseconds since the epoch, or the integer itself."""
        if self.kind == "timestamp":
            return f"unix_micros({self.quoted})"
        if self.kind == "date":
            return f"unix_micros(CAST({self.quoted} AS TIMESTAMP))"
        if self.kind == "integer":
            return f"CAST({self.quoted} AS BIGINT)"
        # Spark has no unix_micros of a TIMESTAMP_NTZ, and a cast to TIMESTAMP would move the times
        # that the session's time zone skips. The difference of two TIMESTAMP_NTZ is exact.
        since = f"({self.quoted} - TIMESTAMP_NTZ'1970-01-01 00:00:00')"
        return (
            f"(extract(DAY FROM {since}) * 86400000000L + extract(HOUR FROM {since}) * 3600000000L"
            f" + extract(MINUTE FROM {since}) * 60000000L"
            f" + CAST(extract(SECOND FROM {since}) * 1000000L AS BIGINT))"
        )

    def edge_units(self, edge: str) -> str:
        """SQL of a long for `edge`, SQL of the start or end (a typed instant) of a window."""
        kind: Kind = "timestamp" if self.kind == "date" else self.kind  # as `window()` makes it
        return TimeAxis("", kind).units().replace("``", edge)

    def instant(self, units: str) -> str:
        """SQL of the typed instant for `units`, SQL of a long."""
        if self.kind == "integer":
            return f"CAST({units} AS BIGINT)"
        if self.kind == "timestamp_ntz":
            # Adding an interval to a TIMESTAMP_NTZ does not depend on a time zone.
            parts = f"{units} DIV 86400000000, 0, 0, ({units} % 86400000000) / 1000000.0BD"
            return f"(TIMESTAMP_NTZ'1970-01-01 00:00:00' + make_dt_interval({parts}))"
        return f"timestamp_micros({units})"

    def window(self, start: str, range: int) -> str:
        """SQL of the window struct that starts at `start`, SQL of a long."""
        return self.session(start, f"({start} + {range}L)")

    def session(self, start: str, end: str) -> str:
        """SQL of the window struct from `start` to `end`, SQL of longs."""
        return f"named_struct('start', {self.instant(start)}, 'end', {self.instant(end)})"

    def of_query(self, window: Window) -> str:
        """SQL of the window struct of a row of combined partials, from `start` and maybe `end`."""
        if window.has_fixed_length:
            return self.window("start", window.range)
        return self.session("start", "end")


def quote(name: str) -> str:
    """A name as an SQL identifier.

    >>> quote("a`b")
    '`a``b`'
    """
    return "`" + name.replace("`", "``") + "`"
