"""A coverage plan priced in the engine's nanoseconds, to be compared with plans of trees."""

from __future__ import annotations

from weft.plan.cost import EngineCost
from weft.plan.coverage.plan import CoveragePlan
from weft.query.window import Window


def engine_price(plan: CoveragePlan, model: EngineCost) -> tuple[float, float]:
    """The cost per unit of time of the plan, and of computing every window from the rows.

    A window from rows is a separate aggregation, which copies each row to every instance that it
    is in. Below that, all windows at one depth are computed in one step, which aggregates their
    pieces and passes finished answers on.

    >>> from weft.plan.cost import Constants
    >>> from weft.plan.coverage import weave_coverage
    >>> import numpy as np
    >>> tens = [Window(range=10), Window(range=20)]
    >>> plan = weave_coverage(tens, rate=1.0, semantics="partitioned", factors=False)
    >>> model = EngineCost.of(np.ones(2), np.array([10.0, 20.0]), rate=1.0, groups=1.0,
    ...                       fragments=1.0, constants=Constants())
    >>> shared, apart = engine_price(plan, model)
    >>> round(shared), round(apart)
    (595, 780)
    """
    constants = model.constants
    levels = plan.by_depth()

    def made(window: Window) -> float:
        return model.alive(window.range) / window.slide

    def from_rows(window: Window) -> float:
        taken = model.rate * window.overlap * constants.row
        return model.jobs * constants.alone + taken + made(window) * constants.partial

    written = float(model.answers.sum())
    shared = written + model.jobs * constants.level * (len(levels) - 1)
    for level, nodes in enumerate(levels):
        for node in nodes:
            window, up, link = plan.windows[node], plan.upstream[node], plan.links[node]
            if up is None or link is None:
                shared += from_rows(window)
            else:
                pieces = link.count / window.slide * model.alive(plan.windows[up].range)
                shared += pieces * constants.piece
            if node in plan.index:
                shared += made(window) * (len(levels) - 1 - level) * constants.piece
    return shared, written + sum(from_rows(plan.windows[node]) for node in plan.index)
