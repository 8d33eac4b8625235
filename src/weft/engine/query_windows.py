"""The windows of a query in a tree, and the lanes of windows that a tree answers together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from weft.query.scale import UNITS, Scale
from weft.query.window import Session, Window
from weft.query.zone import FAR as FAR

Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True)
class QueryWindows:
    """The windows of one query that one store answers: those that start in `[since, until)`."""

    query: int
    """The query's number; numbers are never reused."""
    range: int
    slide: int
    phase: int
    """Range, slide and phase are in units of `scale`; all times are instants of the axis."""
    since: int
    until: int
    keys: tuple[int, ...]
    """The store's numbers of the query's keys, in the query's order."""
    predicate: int | None
    """The store's number of the query's predicate; None accepts every row."""
    parts: tuple[int, ...]
    """The store's numbers of the query's parts, in the query's order."""
    session: bool = False
    """Whether they are sessions; then `range` is the gap."""
    scale: Scale = UNITS
    lateness: int = 0
    """How long its windows stay open after the watermark has passed their end, in axis units."""
    maximum: int = 0
    """The maximum of sessions, at whose multiples they end; 0 if they have none."""

    @classmethod
    def of(
        cls,
        window: Window,
        *,
        query: int = 0,
        since: int = -FAR,
        until: int = FAR,
        keys: tuple[int, ...] = (),
        predicate: int | None = None,
        parts: tuple[int, ...] = (),
        lateness: int = 0,
    ) -> QueryWindows:
        """The windows of a query with this `window`."""
        return cls(
            query,
            *window.steps,
            since,
            until,
            keys,
            predicate,
            parts,
            session=isinstance(window, Session),
            scale=window.scale,
            lateness=lateness,
            maximum=(window.maximum or 0) if isinstance(window, Session) else 0,
        )

    def own_frontier(self, frontier: int) -> int:
        """The query's frontier, given the stream's: windows that end by it are closed.

        It is the stream's frontier minus the lateness, but starts at the epoch, like the watermark
        of a plain query with a longer delay.

        >>> tens = QueryWindows(1, 10, 5, 0, -FAR, FAR, (), None, (), lateness=8)
        >>> tens.own_frontier(30), tens.own_frontier(5)
        (22, 0)
        """
        return max(frontier - self.lateness, min(frontier, 0))

    def next_start(self, frontier: int) -> int | None:
        """The start of the first open window, or None if all are closed.

        >>> QueryWindows(1, 10, 5, 0, -FAR, FAR, (), None, ()).next_start(frontier=12)
        5
        """
        scale = self.scale  # the smallest start that is still open
        closed = scale.floor(self.own_frontier(frontier))
        bound = max(closed - self.range + 1, scale.ceil(self.since))
        start = scale.time(bound + (self.phase - bound) % self.slide)
        return start if start < self.until else None

    def starts(self, low: int, high: int, after: int, upto: int) -> Int64:
        """Starts of the windows with slices from `low` to `high` that end in `(after, upto]`.

        >>> QueryWindows(1, 10, 5, 0, -FAR, FAR, (), None, ()).starts(0, 7, after=5, upto=15)
        array([0, 5])
        """
        first, last = self._extent(low, high, after, upto)
        first += (self.phase - first) % self.slide
        return self.scale.times(np.arange(first, last + 1, self.slide, dtype=np.int64))

    def count(self, low: int, high: int, after: int, upto: int) -> int:
        """The number of `starts`, without computing them."""
        first, last = self._extent(low, high, after, upto)
        return max(0, (last - first) // self.slide + 1)

    def _extent(self, low: int, high: int, after: int, upto: int) -> tuple[int, int]:
        """The range of numbers (in units of the scale) of such windows' starts."""
        floor, ceil = self.scale.floor, self.scale.ceil
        first = max(floor(low) - self.range + 1, floor(after) - self.range + 1, ceil(self.since))
        return first, min(floor(high), floor(upto) - self.range, ceil(self.until) - 1)

    def ends(self, starts: Int64) -> Int64:
        """The ends of the windows with these starts."""
        return self.scale.times(self.scale.numbers(starts) + self.range)

    def latest_end(self, instant: int) -> int:
        """An upper bound of the end of the last window that starts at or before an instant."""
        return self.scale.time(self.scale.floor(instant) + self.range)

    @property
    def longest(self) -> int:
        """The greatest possible length of a window, in units of the axis."""
        return self.scale.longest(self.range)

    def is_late(self, slices: Int64, frontier: int) -> npt.NDArray[np.bool_]:
        """Which slices are in windows of this query, but only in closed ones."""
        numbers = self.scale.numbers(slices)
        latest = numbers - (numbers - self.phase) % self.slide
        starts, ends = self.scale.times(latest), self.scale.times(latest + self.range)
        served = (starts >= self.since) & (starts < self.until)
        closed = ends <= self.own_frontier(frontier)
        return served & (latest + self.range > numbers) & closed


@dataclass(frozen=True)
class Lane:
    """Windows with the same keys, predicate and lateness: they use the same rows and close in the
    order of their ends."""

    keys: tuple[int, ...]
    predicate: int | None
    windows: tuple[QueryWindows, ...]

    @property
    def lateness(self) -> int:
        """The lateness of its windows."""
        return self.windows[0].lateness

    @property
    def is_even(self) -> bool:
        """Whether its windows have fixed lengths; either all of them do, or none."""
        return self.windows[0].scale.is_even

    def own_frontier(self, frontier: int) -> int:
        """The lane's frontier, given the stream's: windows that end by it are closed."""
        return self.windows[0].own_frontier(frontier)

    @cached_property
    def parts(self) -> tuple[int, ...]:
        """The parts that any of its windows needs."""
        return tuple(sorted({part for window in self.windows for part in window.parts}))

    @cached_property
    def ranges(self) -> tuple[int, ...]:
        """The distinct ranges."""
        return tuple(sorted({window.range for window in self.windows}))

    @cached_property
    def alike(self) -> tuple[tuple[QueryWindows, tuple[int, ...]], ...]:
        """The distinct windows, each with the queries that have it with the same parts."""
        askers: dict[QueryWindows, list[QueryWindows]] = {}
        for window in self.windows:
            askers.setdefault(replace(window, query=0), []).append(window)
        return tuple((same[0], tuple(one.query for one in same)) for same in askers.values())

    @cached_property
    def _columns(self) -> tuple[Int64, ...]:
        """Range, slide, phase, since and until of the windows in `alike`."""
        rows = [(w.range, w.slide, w.phase, w.since, w.until) for w, _ in self.alike]
        return tuple(np.array(rows, dtype=np.int64).reshape(len(rows), 5).T.copy())

    def counts(self, stretches: Sequence[tuple[int, int]], after: int, upto: int) -> Int64:
        """For each of `alike`, the number of its `starts` in these spans of slices.

        Only for windows of fixed length.

        >>> fives = QueryWindows(1, 10, 5, 0, -FAR, FAR, (), None, ())
        >>> lanes([fives])[0].counts([(0, 7)], after=5, upto=15)
        array([2])
        """
        span, slide, phase, since, until = self._columns
        found = np.zeros(len(span), dtype=np.int64)
        for low, high in stretches:
            first = np.maximum(max(low, after) - span + 1, since)
            first += (phase - first) % slide
            last = np.minimum(np.minimum(high, upto - span), until - 1)
            found += np.maximum((last - first) // slide + 1, 0)
        return found

    def oldest_open(self, frontier: int) -> dict[int, int | None]:
        """By range, the start of its oldest open window."""
        found: dict[int, int | None] = dict.fromkeys(self.ranges)
        starts: Sequence[int | None]
        if self.is_even:
            span, slide, phase, since, until = self._columns
            bound = np.maximum(self.own_frontier(frontier) - span + 1, since)
            begin = bound + (phase - bound) % slide
            starts = [
                start if is_open else None
                for start, is_open in zip(begin.tolist(), (begin < until).tolist(), strict=True)
            ]
        else:
            starts = [window.next_start(frontier) for window, _ in self.alike]
        for (window, _), start in zip(self.alike, starts, strict=True):
            known = found[window.range]
            if start is not None:
                found[window.range] = start if known is None else min(start, known)
        return found


def lanes(windows: Sequence[QueryWindows]) -> tuple[Lane, ...]:
    """Groups windows into lanes by keys, predicate and lateness."""
    found: dict[tuple[tuple[int, ...], int | None, int], list[QueryWindows]] = {}
    for window in windows:
        found.setdefault((window.keys, window.predicate, window.lateness), []).append(window)
    return tuple(Lane(keys, predicate, tuple(some)) for (keys, predicate, _), some in found.items())
