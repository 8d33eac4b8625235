"""When a stream's micro-batches run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from weft.query.duration import parse_duration


@dataclass(frozen=True)
class Trigger:
    """When micro-batches run."""

    options: tuple[tuple[str, Any], ...]
    text: str

    @property
    def waits(self) -> bool:
        """Whether it waits for more rows instead of ending when there are none."""
        return "processingTime" in dict(self.options)

    @classmethod
    def of(cls, trigger: str | None) -> Trigger:
        """`available_now`, `once`, an interval such as `10 seconds`, or None: as fast as possible.

        `once` is one micro-batch: an unfinished one, if there is one.

        >>> Trigger.of("available_now").options
        (('availableNow', True),)
        """
        if trigger is None:
            return cls((("processingTime", "0 seconds"),), "as fast as it goes")
        if trigger.replace("_", "").lower() == "availablenow":
            return cls((("availableNow", True),), "available_now")
        if trigger.lower() == "once":
            return cls((("once", True),), "once")
        parse_duration(trigger, "trigger")
        return cls((("processingTime", trigger),), trigger)
