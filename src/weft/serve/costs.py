"""What each query of a plan costs: its share of its tree's cost, and its cost without sharing."""

from __future__ import annotations

from collections import Counter

import numpy as np
import numpy.typing as npt

from weft.plan.coverage import CoveragePlan
from weft.plan.coverage.cost import cost_rate
from weft.plan.plan import Plan, single_edge_rates

Float64 = npt.NDArray[np.float64]


def query_costs(plan: Plan) -> tuple[Float64, Float64]:
    """For each query, its share of its tree's cost, and its cost alone, in the plan's unit.

    The fixed cost of a tree is split evenly among its queries; the cost of a query's windows is
    its own. The shares in a tree add up to the tree's cost.

    >>> from weft import Window, optimize
    >>> windows = [Window(range=r, slide=s) for r, s in ((16, 4), (10, 5), (8, 4))]
    >>> plan = optimize(windows, rate=1.2, strategy="weave")
    >>> [np.round(costs, 9).tolist() for costs in query_costs(plan)]
    [[1.6, 1.6, 1.1], [2.2, 1.6, 1.7]]
    """
    part, alone = np.zeros(len(plan.labels)), np.zeros(len(plan.labels))
    single = single_edge_rates(plan.request.table)
    for rows in plan.groups:
        model = plan.request.model(rows)
        linear, labels = model.linear, plan.labels[rows]
        sizes = np.bincount(labels, minlength=len(plan.edge_rates))[labels]
        rate = np.nan_to_num(plan.edge_rates[labels])
        part[rows] = linear.fixed / sizes + rate * (linear.per_edge / sizes + linear.weight)
        alone[rows] = (model.apart(single[rows]) + model.answers) * plan.request.unit
    for number, coverage in plan.coverages.items():
        rows = plan.rows[number]
        part[rows], alone[rows] = covered_costs(coverage)
    for number, tree in enumerate(plan.trees):
        rows = plan.rows[number]
        part[rows] = scaled(part[rows], tree.cost)
        if number in plan.coverages:
            alone[rows] = scaled(alone[rows], tree.unshared_cost)
    return part, alone


def covered_costs(coverage: CoveragePlan) -> tuple[Float64, Float64]:
    """The same for a coverage plan: a window's cost is split among the queries that it feeds."""
    fed = [0] * len(coverage.windows)
    asked = Counter(coverage.index)
    order = coverage.topological_order()
    for node in reversed(order):
        fed[node] += asked[node]
        up = coverage.upstream[node]
        if up is not None:
            fed[up] += fed[node]
    share = [0.0] * len(coverage.windows)
    for node in order:
        up = coverage.upstream[node]
        own = coverage.rates[node] / max(1, fed[node])
        share[node] = own + (share[up] if up is not None else 0.0)
    given = [coverage.windows[node] for node in coverage.index]
    alone = [float(cost_rate(window, None, coverage.rate)) for window in given]
    return np.array([share[node] for node in coverage.index]), np.array(alone)


def scaled(parts: Float64, total: float) -> Float64:
    """The parts, scaled so that they add up to a total."""
    whole = float(parts.sum())
    return parts * (total / whole) if whole > 0.0 else np.full(len(parts), total / len(parts))
