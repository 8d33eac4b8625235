"""A stream's events as lines of JSON, for programs that collect logs.

Every line has `time`, `level`, `event` and `stream`; docs/operations.md lists the other fields of
each event. Fields are added in later releases, and none is renamed or removed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any, Literal

from weft.errors import EngineError
from weft.job.variables import redact
from weft.stream.events import Event

Log = Literal["text", "json"] | Callable[[str], None]
"""How a stream logs: not at all, as JSON to standard error, or as JSON to a function."""
_LEVELS = {"failed": "error", "error": "error", "paused": "warning"}


class JsonLog:
    """Writes a line for every event.

    >>> JsonLog(print, "/ck", timed=True).tell(Event("dropped", 1.5, {"query": "a"}))
    {"time":"1970-01-01T00:00:01.500Z","level":"info","event":"dropped","stream":"/ck","query":"a"}
    """

    def __init__(
        self,
        write: Callable[[str], None],
        stream: str,
        *,
        timed: bool,
        hide: Callable[[str], str] = redact,
    ) -> None:
        self._write, self._stream, self._timed, self._hide = write, stream, timed, hide

    @classmethod
    def of(
        cls, log: Log | None, stream: str, *, timed: bool, hide: Callable[[str], str] = redact
    ) -> JsonLog | None:
        """The log that the option `log` requests; None if it requests no JSON log."""
        if log is None or log == "text":
            return None
        if log == "json":
            return cls(to_standard_error, stream, timed=timed, hide=hide)
        if not callable(log):
            raise EngineError(
                f"log={log!r}: accepted are 'json' (lines of JSON to standard error), 'text' (no "
                f"such lines), or a function that takes a line"
            )
        return cls(log, stream, timed=timed, hide=hide)

    def tell(self, event: Event) -> None:
        """Write the line of an event."""
        facts = self._facts(event)
        level = "error" if event.name == "stopped" and facts["error"] else None
        line = {
            "time": _instant(event.at),
            "level": level or _LEVELS.get(event.name, "info"),
            "event": event.name,
            "stream": self._hide(self._stream),
            **facts,
        }
        self._write(json.dumps(line, separators=(",", ":"), default=str))

    def close(self) -> None:
        """Does nothing, because nothing is buffered."""

    def _facts(self, event: Event) -> dict[str, Any]:
        facts: dict[str, Any] = {
            name: self._hide(value) if isinstance(value, str) else value
            for name, value in event.facts.items()
        }
        if "complete_from" in facts:
            facts["complete_from"] = self._axis(facts["complete_from"])
        if event.name == "started":
            facts["queries"] = len(facts["queries"])
        done = event.batch
        if done is None:
            return facts
        lag = None if done.high is None or not self._timed else done.at - done.high / 1e6
        return {
            "batch": done.batch,
            "rows": done.rows,
            "seconds": round(done.seconds, 3),
            "rows_per_second": round(done.rows / done.seconds, 1) if done.seconds else 0.0,
            "watermark": self._axis(done.watermark),
            "max_event_time": self._axis(done.high),
            "lag_seconds": None if lag is None else round(lag, 3),
            "slices": done.slices,
            "state_bytes": done.state_bytes,
            "answers": done.answers,
        }

    def _axis(self, units: int | None) -> str | int | None:
        """A time of the stream as text, or as a number on an integer axis."""
        return units if units is None or not self._timed else _instant(units / 1e6)


def to_standard_error(line: str) -> None:
    """Write a line to standard error."""
    print(line, file=sys.stderr, flush=True)


def _instant(seconds: float) -> str:
    try:
        when = datetime.fromtimestamp(seconds, timezone.utc)
    except (ValueError, OverflowError, OSError):  # past the year 9999
        return f"{seconds:.0f} seconds since 1970"
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")
