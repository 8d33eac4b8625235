"""What a window costs: per unit of time, and per period, as in the paper."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from weft.errors import PlanError
from weft.query.table import WindowTable
from weft.query.window import Window

Float64 = npt.NDArray[np.float64]


def check_rate(rate: float) -> float:
    """The rate as a float; a `PlanError` unless it is a finite number above zero."""
    if isinstance(rate, bool) or not isinstance(
        rate, (int, float, Fraction, np.integer, np.floating)
    ):
        raise PlanError(f"rate={rate!r} is not a number of rows per unit of time")
    if not math.isfinite(rate) or rate <= 0:
        raise PlanError(f"rate={rate!r} must be finite and above zero")
    return float(rate)


def cost_rate(window: Window, pieces: int | None, rate: float) -> Fraction:
    """What `window` costs per unit of time, exactly.

    A window has 1 / slide instances per unit of time. The cost of one is its number of inputs:
    `rate * range` rows from the raw stream (`pieces` None), or `pieces` upstream instances.
    Without a period there are no divisibility conditions: the cost is also exact if the range is
    not a multiple of the slide, which FactorWindows leaves open (footnote 4).

    >>> cost_rate(Window(range=12, slide=5), None, rate=2.0)
    Fraction(24, 5)
    >>> cost_rate(Window(range=12, slide=5), 3, rate=2.0)
    Fraction(3, 5)
    """
    taken = Fraction(rate) * window.range if pieces is None else Fraction(pieces)
    return taken / window.slide


def raw_instance_cost(windows: WindowTable, rate: float) -> Float64:
    """The rows in one instance of each window, which is its cost from the raw stream.

    >>> raw_instance_cost(WindowTable(range=[10, 30]), rate=0.5)
    array([ 5., 15.])
    """
    return np.asarray(windows.range * rate, dtype=np.float64)


def common_period(windows: Iterable[Window]) -> int:
    """R, the least common multiple of the ranges (FactorWindows section 3.2.1).

    >>> common_period(Window(range=r) for r in (10, 20, 30, 40))
    120
    """
    return math.lcm(*(window.range for window in windows))


def recurrence_count(window: Window, period: int) -> Fraction:
    """n, the instances that lie wholly in a period: `1 + (period - range) / slide` (equation 1).

    >>> recurrence_count(Window(range=10, slide=2), 20)
    Fraction(6, 1)
    >>> recurrence_count(Window(range=12, slide=5), 24)
    Fraction(17, 5)
    """
    return 1 + Fraction(period - window.range, window.slide)


@dataclass(frozen=True)
class PeriodCost:
    """The paper's numbers: instances and inputs in one period, window by window.

    They equal `period` times the rates if all windows are tumbling. Hopping windows cost less
    here, because instances that cross the end of the period are not counted; and their number
    need not be an integer.
    """

    period: int
    recurrence: tuple[Fraction, ...]
    costs: tuple[Fraction, ...]
    unshared: Fraction

    @property
    def total(self) -> Fraction:
        """The cost of all windows in the period."""
        return sum(self.costs, Fraction(0))


def period_cost(
    windows: Sequence[Window], pieces: Sequence[int | None], asked: Sequence[int], rate: float
) -> PeriodCost:
    """The paper's numbers for windows, given the pieces of each (None: computed from the rows).

    `asked` are the indexes of the windows that queries requested (the others are factor windows):
    the period is that of their ranges, and their cost from the raw stream is the cost without
    sharing.

    >>> tens = [Window(range=10), Window(range=20)]
    >>> cost = period_cost(tens, [None, 2], [0, 1], rate=1.0)
    >>> cost.period, int(cost.total), int(cost.unshared)
    (20, 22, 40)
    """
    period = common_period(windows[node] for node in asked)
    recurrence = tuple(recurrence_count(window, period) for window in windows)
    raw = [Fraction(rate) * window.range for window in windows]
    costs = tuple(
        n * (rows if count is None else count)
        for n, rows, count in zip(recurrence, raw, pieces, strict=True)
    )
    unshared = sum((recurrence[node] * raw[node] for node in asked), Fraction(0))
    return PeriodCost(period, recurrence, costs, unshared)
