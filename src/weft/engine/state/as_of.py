"""The value of a window as of a micro-batch, open windows included, from the slices in the state.

    index (frontier, latest time) --which window?--> its slices --combine--> answers of its groups

An open window contains every row of it that has arrived, because rows are late only for closed
windows. So its answers are those of the plain query over all rows up to the micro-batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from weft.engine.answer import Combined, DueWindows
from weft.engine.program import Program, TreeProgram
from weft.engine.query_windows import FAR, QueryWindows
from weft.engine.state.bucket import Bucket
from weft.engine.state.due import gathered_answers
from weft.engine.state.session_answers import opened
from weft.engine.state.sessions import session_lanes


@dataclass(frozen=True)
class Moment:
    """The progress of a stream after a micro-batch."""

    frontier: int
    """Windows that end at or before it are closed, if their query has no lateness."""
    max_event_time: int | None
    """The greatest time seen; None if no row has arrived."""


@dataclass(frozen=True)
class WindowAt:
    """A requested window; it is open if `end` is later than its query's frontier."""

    start: int
    end: int

    def is_open(self, windows: QueryWindows, moment: Moment) -> bool:
        """Whether rows may still be added to it."""
        return self.end > windows.own_frontier(moment.frontier)


def window_ended_by(windows: QueryWindows, at: int) -> WindowAt:
    """The last window that ends at or before a time.

    >>> window_ended_by(QueryWindows(1, 10, 5, 0, -FAR, FAR, (), None, ()), 19)
    WindowAt(start=5, end=15)
    """
    last = windows.scale.floor(at) - windows.range
    return _window(windows, last - (last - windows.phase) % windows.slide)


def window_under_way(windows: QueryWindows, moment: int) -> WindowAt:
    """The window that ends first after a time.

    >>> window_under_way(QueryWindows(1, 10, 5, 0, -FAR, FAR, (), None, ()), 19)
    WindowAt(start=10, end=20)
    """
    first = windows.scale.floor(moment) + 1 - windows.range
    return _window(windows, first + (windows.phase - first) % windows.slide)


def _window(windows: QueryWindows, number: int) -> WindowAt:
    return WindowAt(windows.scale.time(number), windows.scale.time(number + windows.range))


def asked_window(
    windows: QueryWindows, at: int | None, complete_from: int | None, moment: Moment
) -> WindowAt | None:
    """The window that ends by `at`, by default the current one; None if no row has arrived yet.

    A query that was added to a running stream has no complete window before `complete_from`; until
    then, the current window is its first complete one.
    """
    if at is not None:
        return window_ended_by(windows, at)
    if moment.max_event_time is None:
        return None
    found = window_under_way(windows, moment.max_event_time)
    if complete_from is None or found.start >= complete_from:
        return found
    return _window(windows, windows.scale.ceil(complete_from))


@dataclass
class ReadOnly:
    """The pieces of a bucket after a micro-batch; removals affect only this object."""

    pieces: Mapping[str, bytes]
    gone: set[str] = field(default_factory=set)

    def get(self, name: str) -> bytes | None:
        """A piece by its name."""
        return None if name in self.gone else self.pieces.get(name)

    def put(self, name: str, value: bytes) -> None:
        """Always fails: a reader must not write."""
        raise AssertionError(f"{name} was to be written to a state that is only read")

    def remove(self, name: str) -> None:
        """Hide a piece from this reader."""
        self.gone.add(name)


def reading_program(program: Program, queries: tuple[int, ...]) -> Program:
    """The program restricted to reading the windows of some queries from the state."""
    trees = tuple(
        replace(tree, services=mine, fragments=None, columns=None)
        for tree in program.stores
        if (mine := tuple(service for service in tree.services if service.query in queries))
    )
    return replace(program, stores=trees, silent=frozenset())


def answers_at(bucket: Bucket, window: WindowAt) -> Iterator[Combined]:
    """The answers of every query of the program to one window, for the groups of a bucket."""
    for tree in bucket.program.stores:
        stretches, bounds = bucket.stretches(tree), bucket.program.bounds
        dues = [
            (due, due.starts(stretches, bounds))
            for lane in (*tree.lanes, *tree.uneven)
            for due in DueWindows.of(lane, window.end - 1, window.end)
        ]
        # Renewing totals pays only for later micro-batches, not for reading a single window.
        yield from gathered_answers(bucket, tree, dues, renew_totals=False)


def open_sessions(bucket: Bucket) -> Iterator[Combined]:
    """Every open session, as it would be answered if no more rows arrived."""
    for tree in bucket.program.stores:
        for lane in session_lanes(tree):
            yield from opened(bucket, tree, lane).close(FAR)


def pieces_of(program: Program) -> tuple[str, ...]:
    """The name prefixes of the pieces that a program answers from."""
    return ("index", *(f"{_kind(tree)}{tree.number}/" for tree in program.stores))


def _kind(tree: TreeProgram) -> str:
    return "w" if tree.is_session else "s"
