"""The edge rate of a set that is too entangled for the recursion's budget."""

from __future__ import annotations

from weft.plan.edges.digits import digits_of
from weft.plan.edges.elimination import WORK, Floats, find_order, run_order
from weft.plan.edges.progressions import Int64
from weft.plan.edges.rate import Rate
from weft.plan.edges.sampling import sampled_rate

_MANY = 20_000  # with more progressions, no elimination order can be found


def hard_rate(offset: Int64, step: Int64, *, work: int | None = None, seed: int = 0) -> Rate:
    """The edge rate of a cleaned set: exact by elimination if it can be, else sampled.

    `work` limits both methods, in cells written or instants sampled; a search with many calls
    may want less than the default, which takes up to a few seconds.

    >>> import numpy as np
    >>> rate = hard_rate(np.array([0, 0, 0]), np.array([6, 10, 15]))
    >>> rate.how, round(rate.value * 30)
    ('elimination', 8)
    """
    if len(step) <= _MANY:
        digits = digits_of(offset, step)
        order = find_order(digits)
        if order.fits(WORK if work is None else work):
            covered = float(run_order(digits, order, Floats()))
            return Rate(min(covered, 1.0), "elimination", order.work)
    if work is None:
        return sampled_rate(offset, step, seed=seed)
    return sampled_rate(offset, step, work=work, seed=seed)
