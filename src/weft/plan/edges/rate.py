"""An edge rate, and how it was computed."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

How = Literal[
    "closed form", "recursion", "elimination", "sampled", "bit set", "inclusion-exclusion"
]


@dataclass(frozen=True)
class Rate:
    """An edge rate: edges per unit of the axis (per microsecond on a time axis).

    `how` names the method that gave the answer, `work` counts its steps (nodes of a recursion,
    groups of F1, cells of an elimination, bits of a bit set, instants of a sample). A sampled
    rate is not `exact`: the true rate lies within `interval` with probability `confidence`.

    >>> float(Rate(0.25, "closed form", work=1))
    0.25
    """

    value: float | Fraction
    how: How
    work: int
    exact: bool = True
    interval: tuple[float, float] | None = None
    confidence: float | None = None

    def __float__(self) -> float:
        return float(self.value)

    def per(self, unit: int) -> Rate:
        """The same rate where the axis is counted in multiples of `unit`: divided by it."""
        if unit == 1:
            return self
        interval = self.interval and (self.interval[0] / unit, self.interval[1] / unit)
        return Rate(self.value / unit, self.how, self.work, self.exact, interval, self.confidence)
