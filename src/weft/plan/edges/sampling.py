"""The edge rate estimated from random instants: the last resort, with a stated confidence.

Two estimators, both unbiased, both on progressions whose private digits have been summed out
(`digits` explains why that is exact), so that only entangled digits are sampled:

- blocks: runs of consecutive instants at random places. A run covers every residue of the small
  steps, so its mean varies far less than that of as many instants drawn one by one.
- members: draw a progression in proportion to its rate, and one of its edges; it counts unless an
  earlier progression has it too. Keeps its relative error where edges are rare.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from statistics import NormalDist, fmean, stdev

import numpy as np
import numpy.typing as npt
from numba import njit

from weft.plan.edges.digits import sum_out_private
from weft.plan.edges.progressions import Int64
from weft.plan.edges.rate import Rate

Float64 = npt.NDArray[np.float64]

CONFIDENCE = 0.99
WORK = 500_000_000
"""Default limit of instants sampled and progressions tested: about a second."""
_BLOCK = 1 << 16
_ROUND = 64  # draws between two checks of the interval; with fewer, it would be too optimistic
_PER_PROGRESSION = 200  # the cost of setting up one progression, in instants
_DENSE = 256  # edges that a block should contain
_SPAN = 2**512
_REDUCED = 20_000  # with more progressions, summing out private digits costs more than it gains
_CLOSE = 1e-6  # relative half width at which sampling stops


def sampled_rate(offset: Int64, step: Int64, *, work: int = WORK, seed: int = 0) -> Rate:
    """An estimate of the edge rate of a cleaned set; the same seed gives the same estimate.

    >>> rate = sampled_rate(np.array([0, 0, 0]), np.array([6, 10, 15]))
    >>> rate.exact, rate.interval[0] <= 8 / 30 <= rate.interval[1]
    (False, True)
    """
    always = 0.0
    cover = np.ones(len(step))
    if len(step) <= _REDUCED:
        weights, certain = sum_out_private(offset, step)
        always = float(certain)
        offset = np.array([a for a, _ in weights], np.int64)
        step = np.array([s for _, s in weights], np.int64)
        cover = np.array([float(w) for w in weights.values()])
    rates = cover / step
    upper = float(rates.sum())
    chance = random.Random(seed)
    if upper * _BLOCK >= _DENSE:
        length = max(int(_BLOCK / max(upper, 1.0)), _DENSE)
        draw = _blocks(offset, step, cover, length, chance)
        price, scale = int(length * (1 + upper)) + _PER_PROGRESSION * len(step), 1.0
    else:
        draw = _members(offset, step, cover, rates, chance)
        price, scale = _PER_PROGRESSION * len(step), upper
    seen: list[float] = []
    while True:
        seen += [draw() for _ in range(_ROUND)]
        value, half = _interval(seen)
        if half <= _CLOSE * value or (len(seen) + _ROUND) * price > work:
            break
    # The parts that no other progression shares cover instants independently of the rest.
    low = max(scale * (value - half), float(rates.max(initial=0.0)))
    high = min(scale * (value + half), upper, 1.0)
    value = min(max(scale * value, low), high)
    value, low, high = (always + (1.0 - always) * part for part in (value, low, high))
    return Rate(value, "sampled", len(seen) * price, False, (low, high), CONFIDENCE)


def _interval(seen: list[float]) -> tuple[float, float]:
    """The mean, and half the width of its interval.

    Approximates Student's quantile by the first correction to the normal quantile. The last term
    allows for events that are too rare to have been drawn at all.
    """
    n, z = len(seen), NormalDist().inv_cdf(0.5 + CONFIDENCE / 2)
    student = z * (1 + (z * z + 1) / (4 * (n - 1)))
    mean, spread = fmean(seen), stdev(seen)
    rare = -math.log(1 - CONFIDENCE) / n if spread == 0.0 else 0.0
    return mean, student * spread / math.sqrt(n) + rare


def _period(steps: list[int]) -> int:
    """The composite slide, or a span long enough for all residues to be practically uniform."""
    period = 1
    for step in steps:
        period = math.lcm(period, step)
        if period > _SPAN:
            return _SPAN
    return period


def _blocks(
    offset: Int64, step: Int64, cover: Float64, length: int, chance: random.Random
) -> Callable[[], float]:
    """Samples the share of a run of consecutive instants that is covered."""
    sizes, which = np.unique(step, return_inverse=True)
    moduli, free = sizes.tolist(), 1.0 - cover
    period = _period(moduli)

    def draw() -> float:
        start = chance.randrange(period)  # may exceed 64 bits, so it is reduced modulo each step
        places = np.array([start % s for s in moduli], np.int64)[which]
        return float(_covered_share((offset - places) % step, step, free, length))

    return draw


@njit(cache=True, error_model="numpy")
def _covered_share(first: Int64, step: Int64, free: Float64, length: int) -> float:
    left = np.ones(length)
    for i in range(len(step)):
        for x in range(first[i], length, step[i]):
            left[x] *= free[i]
    total = 0.0
    for x in range(length):
        total += 1.0 - left[x]
    return float(total / length)


def _members(
    offset: Int64, step: Int64, cover: Float64, rates: Float64, chance: random.Random
) -> Callable[[], float]:
    """Samples whether an edge of one progression is in no earlier progression."""
    offsets, steps, covers = offset.tolist(), step.tolist(), cover.tolist()
    numbers, upto = range(len(steps)), rates.cumsum().tolist()
    period = _period(steps)

    def draw() -> float:
        i = chance.choices(numbers, cum_weights=upto)[0]
        x = offsets[i] + steps[i] * chance.randrange(period // steps[i])
        free = 1.0
        for a, s, w in zip(offsets[:i], steps[:i], covers[:i], strict=True):
            if (x - a) % s == 0:
                free *= 1.0 - w
        return free

    return draw
