"""WeaveShare's workloads and the plans that its figures compare.

The paper does not say which slides it drew from. Ours are 1 to 1,000 half seconds, which reproduce
its figure 8 most closely (250 queries at 50 rows/s: 20% of Shared in the paper, 19% here).
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.support.harness import check
from benchmarks.support.workloads import Setting
from weft.errors import BudgetError
from weft.plan.cost import LinearCost
from weft.plan.search import SEARCHES
from weft.plan.search.classes import collapse
from weft.plan.search.grouping import Grouping
from weft.plan.search.rates import Rates
from weft.query.table import WindowTable

UNITS = 2
"""Units of slides per second."""
ALL = ("no_share", "share_all", "random", "insert_then_weave", "local_search", "weave")
LOW, MEDIUM, HIGH = 50, 300, 10_000
"""Rows per second (section 7.1)."""


@dataclass(frozen=True)
class Priced:
    """A plan's cost in operations per second, its trees, and how long it took to find."""

    cost: float
    trees: int
    seconds: float


def workload(
    queries: int,
    rate: float,
    *,
    seed: int = 0,
    overlap: float = 50,
    skew: float = 0.6,
    fragments: bool = False,
) -> tuple[WindowTable, LinearCost]:
    """A workload by the paper's generator at a rate in rows per second, and the cost model."""
    setting = Setting(queries, 1_000, rate / UNITS, skew, overlap, fragments=fragments)
    table = setting.table(seed)
    return table, LinearCost(setting.rate, 0.0, table.overlap)


def priced(strategy: str, table: WindowTable, cost: LinearCost, **options: Any) -> Priced | None:
    """A strategy's plan with its edge rates recounted; None if it ran past its budget."""
    began = perf_counter()
    try:
        grouping = SEARCHES[strategy](table, cost, **options)
    except BudgetError:
        return None
    seconds = perf_counter() - began
    check_rates(table, cost, grouping, strategy)
    return Priced(UNITS * grouping.cost(cost), len(grouping), seconds)


def check_rates(table: WindowTable, cost: LinearCost, grouping: Grouping, what: str) -> None:
    """Check that a plan's edge rates are those of its trees, counted from their queries."""
    classes = collapse(table, cost.weight)
    anew = Rates().of_trees(classes, grouping.labels, len(grouping)) / classes.unit
    exact = grouping.report.exact
    check(
        not exact or np.allclose(anew, grouping.edge_rate, rtol=1e-9, atol=0.0),
        f"{what}: edge rates are not those of its trees",
    )


def normalised(
    queries: int, rate: float, *, seeds: int = 1, **options: Any
) -> tuple[float, float, float, float]:
    """Means over seeds: the costs of weave and of Shared, their ratio, and weave's trees."""
    found = []
    for seed in range(seeds):
        table, cost = workload(queries, rate, seed=seed, **options)
        weave, shared = priced("weave", table, cost), priced("share_all", table, cost)
        assert weave is not None
        assert shared is not None
        check(weave.cost <= shared.cost * (1 + 1e-9), "weave costs more than one tree for all")
        found.append((weave.cost, shared.cost, weave.cost / shared.cost, weave.trees))
    means = np.mean(np.array(found), axis=0)
    return float(means[0]), float(means[1]), float(means[2]), float(means[3])
