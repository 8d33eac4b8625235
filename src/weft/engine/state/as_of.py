"""The value of a window as of a micro-batch, open windows included, from the slices in the state.

    index (frontier, latest time) --which window?--> its slices --combine--> answers of its groups

A window that is open has taken every row of it that ever came: rows are late only for windows that
are closed. So its answers are those of the plain query over all rows up to the micro-batch.
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
    """How far a stream had come after a micro-batch."""

    frontier: int
    """Windows that end at or before it are closed, if their query has no lateness."""
    max_event_time: int | None
    """The greatest time seen; None if no row has come."""


@dataclass(frozen=True)
class WindowAt:
    """A window that was asked for; `end` is later than its query's frontier if it is open."""

    start: int
    end: int

    def is_open(self, windows: QueryWindows, moment: Moment) -> bool:
        """Whether more rows may come into it."""
        return self.end > windows.own_frontier(moment.frontier)


def window_ended_by(windows: QueryWindows, at: int) -> WindowAt:
    """The last window that ends at or before a time.

    >>> window_ended_by(QueryWindows(1, 10, 5, 0, -FAR, FAR, (), None, ()), 19)
    WindowAt(start=5, end=15)
    """
    last = windows.scale.floor(at) - windows.range
    return _window(windows, last - (last - windows.phase) % windows.slide)


def window_under_way(windows: QueryWindows, moment: int) -> WindowAt:
    """The window that ends first after a moment.

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
    """The window that ends by `at`; without it the one under way; None if no row has come yet.

    A query that came late has no whole window before `complete_from`: of such a one, the first
    whole window is the one under way.
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
    """The pieces of a bucket as a micro-batch left them: what is removed or written stays here."""

    pieces: Mapping[str, bytes]
    gone: set[str] = field(default_factory=set)

    def get(self, name: str) -> bytes | None:
        """A piece by its name."""
        return None if name in self.gone else self.pieces.get(name)

    def put(self, name: str, value: bytes) -> None:
        """Refused: whoever reads must not write."""
        raise AssertionError(f"{name} was to be written to a state that is only read")

    def remove(self, name: str) -> None:
        """Forget a piece, for this reader."""
        self.gone.add(name)


def reading_program(program: Program, queries: tuple[int, ...]) -> Program:
    """The program for reading some queries' windows from the state, and nothing else."""
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
        # Totals are of use to later micro-batches; a single window is combined without them.
        yield from gathered_answers(bucket, tree, dues, renew_totals=False)


def open_sessions(bucket: Bucket) -> Iterator[Combined]:
    """Every session that is open, as it would be answered if no more rows came."""
    for tree in bucket.program.stores:
        for lane in session_lanes(tree):
            yield from opened(bucket, tree, lane).close(FAR)


def pieces_of(program: Program) -> tuple[str, ...]:
    """How the names of the pieces begin from which a program answers."""
    return ("index", *(f"{_kind(tree)}{tree.number}/" for tree in program.stores))


def _kind(tree: TreeProgram) -> str:
    return "w" if tree.is_session else "s"
