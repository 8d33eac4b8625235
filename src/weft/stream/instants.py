"""Instants as text for people."""

from __future__ import annotations

from datetime import datetime, timezone


def shown_instant(units: int, kind: str) -> str:
    """A time of the axis as text; on an integer axis a number.

    >>> shown_instant(0, "timestamp"), shown_instant(1000, "integer")
    ('1970-01-01 00:00:00 UTC', '1,000')
    """
    if kind == "integer":
        return f"{units:,}"
    try:
        at = datetime.fromtimestamp(units // 1_000_000, timezone.utc).replace(tzinfo=None)
    except (OverflowError, ValueError, OSError):
        return f"{units} microseconds"
    shown = at.replace(microsecond=units % 1_000_000).isoformat(sep=" ")
    return shown if kind == "timestamp_ntz" else f"{shown} UTC"
