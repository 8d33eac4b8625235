"""A coverage plan priced in the engine's nanoseconds, to be compared with plans of trees."""

from __future__ import annotations

from weft.plan.cost import EngineCost
from weft.plan.coverage.link import Link
from weft.plan.coverage.plan import CoveragePlan
from weft.query.window import Window


def engine_price(plan: CoveragePlan, model: EngineCost) -> tuple[float, float]:
    """What a unit of time costs with the plan, and with every window from the rows.

    A window from rows takes each row once per instance that it is in; a window from windows takes
    its upstream's answers once per instance that they are in; either way what comes out is
    grouped and shuffled, in an aggregation of its own with its part of a job.

    >>> from weft.plan.cost import Constants
    >>> from weft.plan.coverage import weave_coverage
    >>> import numpy as np
    >>> tens = [Window(range=10), Window(range=20)]
    >>> plan = weave_coverage(tens, rate=1.0, semantics="partitioned", factors=False)
    >>> model = EngineCost.of(np.ones(2), np.array([10.0, 20.0]), rate=1.0, groups=1.0,
    ...                       fragments=1.0, constants=Constants())
    >>> shared, apart = engine_price(plan, model)
    >>> round(shared), round(apart)
    (704, 718)
    """
    constants = model.constants

    def from_rows(window: Window) -> float:
        grouped = model.alive(window.range) / window.slide * constants.partial
        return model.job + model.rate * window.overlap * constants.row + grouped

    def from_pieces(window: Window, upstream: Window, link: Link) -> float:
        pieces = link.count / window.slide * model.alive(upstream.range)
        return model.job + pieces * (constants.partial + constants.combine)

    written = float(model.answers.sum())
    shared = written
    for window, up, link in zip(plan.windows, plan.upstream, plan.links, strict=True):
        if up is None or link is None:
            shared += from_rows(window)
        else:
            shared += from_pieces(window, plan.windows[up], link)
    return shared, written + sum(from_rows(plan.windows[node]) for node in plan.index)
