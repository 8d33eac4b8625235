"""The guard: rows with a time far ahead of the clock are set aside before the watermark sees them.

A single such row would move the watermark far ahead, close every window and make all rows late.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from weft.errors import EngineError, QueryError
from weft.query.duration import format_duration, parse_duration

if TYPE_CHECKING:  # workers load this module, so its imports must be few
    from weft.plan.time_axis import TimeAxis

AHEAD = "1 day"
"""How far ahead a row may be by default: more than two time zones can differ."""
AUTO, OFF = "auto", "off"
OBSERVED = "weft_ahead"
"""The name of Spark's observed metric with which the rewrite engine counts rows set aside."""
_OLDEST = 1_704_067_200_000_000  # 2024-01-01: an earlier clock cannot be right


@dataclass(frozen=True)
class Guard:
    """Sets rows aside that are more than `limit` ahead of the clock; None accepts every row.

    The clock is the driver's at the start of a micro-batch, which Spark writes to the checkpoint,
    so that a repeated micro-batch sets the same rows aside. `floor` is the latest time that the
    stream is known to have reached; it replaces an earlier clock.

    >>> from weft.plan.time_axis import TimeAxis
    >>> Guard.of("1 hour", TimeAxis("ts")).condition("t")
    't > greatest(unix_micros(current_timestamp()), 0L) + 3600000000L'
    >>> Guard.of("off", TimeAxis("ts")).condition("t"), Guard.of("auto", TimeAxis("ts")).limit
    ('false', 86400000000)
    >>> Guard(limit=10, floor=7).latest(clock=5), Guard(limit=None).latest(clock=5)
    (17, None)
    """

    limit: int | None
    floor: int = 0

    @classmethod
    def of(cls, max_ahead: str | None, axis: TimeAxis) -> Guard:
        """From a duration, "off" (or None), or "auto": a day, and off on an integer axis."""
        if max_ahead is None or max_ahead == OFF or (max_ahead == AUTO and axis.kind == "integer"):
            return cls(None)
        if axis.kind == "integer":
            raise EngineError(
                f"max_ahead={max_ahead!r}: the time column {axis.column!r} is an integer, which "
                f"cannot be compared with the clock: accepted are 'off' and 'auto'"
            )
        try:
            limit = parse_duration(AHEAD if max_ahead == AUTO else max_ahead, "max_ahead")
        except QueryError as error:
            raise EngineError(f"{error}; also accepted are 'off' and 'auto' (1 day)") from None
        if limit < 0:
            raise EngineError(f"max_ahead={max_ahead!r}: must not be negative")
        return cls(limit)

    def since(self, *known: int | None) -> Guard:
        """The guard, with the latest of some times as its floor."""
        return replace(self, floor=max([self.floor, *(time for time in known if time is not None)]))

    def latest(self, clock: int) -> int | None:
        """The latest time of a row that is accepted, in microseconds; None for any."""
        return None if self.limit is None else max(clock, self.floor) + self.limit

    def condition(self, units: str, *, rounded: bool = False) -> str:
        """SQL that is true for rows to set aside; `units` is SQL of a row's time as a long.

        Spark puts the clock into its generated code, which it then compiles again for every
        micro-batch. So code that handles every row uses `latest`, or a `rounded` clock: up to a
        thousandth of the limit late, never early.
        """
        if self.limit is None:
            return "false"
        clock = f"greatest(unix_micros(current_timestamp()), {self.floor}L)"
        if rounded:
            step = max(1, self.limit // 1000)
            clock = f"({clock} + {step - 1}L) DIV {step}L * {step}L"
        return f"{units} > {clock} + {self.limit}L"

    def check_clock(self, now: int, latest: int | None) -> None:
        """Refuse a clock that cannot be right, because it would set good rows aside.

        >>> Guard(limit=10).check_clock(now=_OLDEST, latest=_OLDEST + 10)
        >>> Guard(limit=10).check_clock(now=_OLDEST, latest=_OLDEST + 11)
        Traceback (most recent call last):
        ...
        weft.errors.EngineError: the clock says 2024-01-01 00:00:00 UTC and has said ...
        """
        if self.limit is None:
            return
        remedy = (
            "set it and start the stream again on the same checkpoint, which goes on where it was; "
            "max_ahead='off' does without a clock"
        )
        if now < _OLDEST:
            raise EngineError(f"the clock says {_shown(now)}, so it is not set right: {remedy}")
        if latest is not None and now < latest - self.limit:
            raise EngineError(
                f"the clock says {_shown(now)} and has said {_shown(latest)} before: rows more "
                f"than {format_duration(self.limit)} ahead of it would be set aside wrongly: "
                f"{remedy}"
            )


def observed(reports: Iterable[Any], after: int) -> tuple[int, int]:
    """The rows set aside by micro-batches after `after`, from Spark's reports, and the last one.

    >>> observed([{"batchId": b, "observedMetrics": {OBSERVED: {"rows": b}}} for b in (1, 2)], 0)
    (3, 2)
    """
    rows = 0
    for report in reports:
        if report["batchId"] > after:
            after = report["batchId"]
            found = (report["observedMetrics"] or {}).get(OBSERVED)
            rows += int(found["rows"] or 0) if found else 0
    return rows, after


def _shown(micros: int) -> str:
    try:
        return f"{datetime.fromtimestamp(micros // 1_000_000, timezone.utc):%Y-%m-%d %H:%M:%S} UTC"
    except (ValueError, OverflowError, OSError):  # past the year 9999
        return f"{micros} microseconds since 1970"
