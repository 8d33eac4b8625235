"""From windows to the cheapest coverage plan that weft finds."""

from __future__ import annotations

from collections.abc import Iterable
from time import perf_counter
from typing import Literal

from weft.errors import PlanError
from weft.plan.coverage.cost import check_rate
from weft.plan.coverage.factor import add_factors
from weft.plan.coverage.forest import Forest
from weft.plan.coverage.graph import CoverageGraph
from weft.plan.coverage.greedy import improve
from weft.plan.coverage.min_cost import RAW
from weft.plan.coverage.plan import CoveragePlan, CoverageReport
from weft.plan.coverage.relation import Instances, Semantics, check_semantics
from weft.query.table import WindowTable
from weft.query.window import Window

Search = Literal["greedy", "paper"]


def weave_coverage(
    windows: Iterable[Window],
    *,
    rate: float,
    semantics: Semantics,
    factors: bool,
    instances: Instances = "fewest",
    search: Search = "greedy",
) -> CoveragePlan:
    """The plan in which windows are computed from one another as cheaply as can be found.

    `rate` is in rows per unit of the windows' axis (per microsecond on a time axis).
    `semantics` is `covered` where every aggregate is idempotent, so that pieces may overlap, and
    `partitioned` otherwise. Without `factors` the plan is the cheapest there is (algorithm 1).
    With them, factor windows may be added: by algorithm 2 (`search="paper"`), and with `greedy`
    also wherever one saves a thousandth of the cost; the cheapest plan found is returned.
    `instances="all", search="paper"` is the paper's optimizer, for comparison.

    Law: with factors the cost is never above that without, and that is never above the cost
    without sharing. Windows may repeat; equal ones become one node.

    >>> tens = [Window(range=r) for r in (20, 30, 40)]
    >>> for factors in (False, True):
    ...     plan = weave_coverage(tens, rate=1.0, semantics="partitioned", factors=factors)
    ...     print(int(plan.per_period().unshared), int(plan.per_period().total))
    360 246
    360 150
    """
    began = perf_counter()
    rate = check_rate(rate)
    check_semantics(semantics, instances)
    if search not in ("greedy", "paper"):
        raise PlanError(f"search={search!r} is unknown: accepted are greedy, paper")
    given = list(windows)
    nodes = {window: node for node, window in enumerate(dict.fromkeys(given))}
    asked = tuple(nodes)
    table = WindowTable.of_windows(asked)

    def grow() -> Forest:
        return Forest(table, rate=rate, semantics=semantics, instances=instances)

    forest, strategy, stop = grow(), "coverage", "every window has its cheapest upstream"
    coverage_cost = forest.cost
    evaluations = rounds = 0
    if factors:
        expanded = grow()
        evaluations = add_factors(expanded, CoverageGraph.of(asked, semantics, instances))
        stop = "every window was given its best factor window"
        if expanded.cost < forest.cost:
            forest, strategy = expanded, "factor"
        if search == "greedy":
            before = forest.cost
            report = improve(forest)
            evaluations, rounds, stop = (
                evaluations + report.evaluations,
                report.rounds,
                report.stop,
            )
            strategy = "greedy" if forest.cost < before else strategy
    all_windows, upstream = _settled(forest, asked)
    return CoveragePlan.of(
        all_windows,
        upstream,
        [nodes[window] for window in given],
        rate=rate,
        semantics=semantics,
        instances=instances,
        report=CoverageReport(
            strategy=strategy,
            seconds=perf_counter() - began,
            coverage_cost=coverage_cost,
            evaluations=evaluations,
            rounds=rounds,
            stop=stop,
        ),
    )


def _settled(
    forest: Forest, asked: tuple[Window, ...]
) -> tuple[tuple[Window, ...], list[int | None]]:
    """The windows present, requested ones first and in their order, and the upstream of each."""
    nodes = forest.nodes().tolist()
    place = {node: at for at, node in enumerate(nodes)}
    upstream = [
        None if up == RAW else place[up] for up in forest.choices.best[forest.nodes()].tolist()
    ]
    return asked + forest.factors(), upstream
