"""An idle stream: while no rows arrive, its event time advances with the clock.

    rows . . . . .                    . .
    ticks             ' ' ' ' '                 one for every `idle` period without rows
    event time    that of the latest row, plus the clock time since the last rows arrived

Spark itself does not do this: its watermark stays where the last rows have left it, and their
windows stay open until the next rows arrive.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from weft.engine.parcel import greatest
from weft.errors import CheckpointError, EngineError, QueryError
from weft.query.duration import parse_duration
from weft.stream.catalogue import Settings
from weft.stream.progress import Progress
from weft.stream.ticks import TickFile

OFF = "off"
_TIMED = ("timestamp", "timestamp_ntz")


def chosen_idle(given: str | None, settings: Settings, *, new: bool) -> str | None:
    """The setting of a checkpoint, given the `idle` of a start.

    None is a checkpoint without a source of ticks, which Spark cannot add later; "off" is one with
    a source that never ticks.

    >>> made = Settings("ts", "timestamp", "1 minute", (0,), 1, "append")
    >>> chosen_idle("5 seconds", made, new=True), chosen_idle("off", made, new=True)
    ('5 seconds', None)
    """
    if given is None or (given == OFF and settings.idle is None):
        return settings.idle
    if given == OFF:
        return OFF
    idle_micros(given)
    if settings.engine != "operator":
        raise EngineError(
            f"idle={given!r}: engine={settings.engine!r} has only Spark's watermark, which does "
            f"not advance with the clock: use engine='operator', or leave idle out"
        )
    if settings.kind not in _TIMED:
        raise EngineError(
            f"idle={given!r}: the time column {settings.time!r} is of type {settings.kind}, and "
            f"only a timestamp can advance with the clock: name a timestamp, or leave idle out"
        )
    if settings.idle is None and not new:
        raise CheckpointError(
            f"idle={given!r}: this checkpoint was made without idle, and Spark cannot add a source "
            f"to an existing checkpoint: start on a new checkpoint, or leave idle out"
        )
    return given


def idle_micros(given: str) -> int | None:
    """The time without rows before a tick, in microseconds; None if it is off.

    >>> idle_micros("2 seconds"), idle_micros("off")
    (2000000, None)
    """
    if given == OFF:
        return None
    try:
        found = parse_duration(given, "idle")
    except QueryError as error:
        raise EngineError(f"{error}; also accepted is 'off'") from None
    if found <= 0:
        raise EngineError(f"idle={given!r}: must be positive; 'off' switches it off")
    return found


class Ticker:
    """Writes ticks while no rows arrive, if the stream has a source of ticks.

    One tick at a time: the next is written after the last was delivered. After a restart, event
    time continues from the latest time seen before; the time in which the stream did not run is not
    added, because rows may have arrived meanwhile.
    """

    def __init__(
        self,
        checkpoint: str,
        idle: str | None,
        progress: Progress,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._has_source = idle is not None
        micros = None if idle is None else idle_micros(idle)
        self._idle = None if micros is None else micros / 1e6
        self._file, self._clock = TickFile(checkpoint), clock
        self._lock = threading.Lock()
        self._last = self._file.read() if self._has_source else None
        self._from = greatest([progress.max_event_time, self._last])
        self._since = self._quiet = clock()
        """`_since`: when event time was `_from`. `_quiet`: since when no rows or tick came."""
        self._pending = False

    def delivered(self, rows: int, latest: int | None, tick: int | None) -> None:
        """Note a delivered micro-batch: its rows, the latest time of the stream, and its tick."""
        with self._lock:
            if rows:
                self._from, self._since = latest, self._clock()
                self._quiet = self._since
            if tick is not None and self._last is not None and tick >= self._last:
                self._pending = False

    def look(self, is_waiting: Callable[[], bool]) -> bool:
        """Tick if one is due and Spark is waiting for rows; return whether it did."""
        due = self._due()
        if due is None or not is_waiting():
            return False
        self._tick(due)
        return True

    def _due(self) -> int | None:
        """The time of the next tick; None if it is not due, or would not be later than the last."""
        with self._lock:
            now = self._clock()
            if self._idle is None or self._from is None or self._pending:
                return None
            if now - self._quiet < self._idle:
                return None
            due = self._from + round((now - self._since) * 1e6)
            return due if self._last is None or due > self._last else None

    def _tick(self, at: int) -> None:
        with self._lock:
            self._file.write(at)
            self._last, self._pending = at, True
            self._quiet = self._clock()
