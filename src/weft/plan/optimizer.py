"""From queries to a plan: read, group, search, assemble."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from weft.errors import PlanError
from weft.plan.cost import CostModel, Model, Statistics
from weft.plan.edges import measure
from weft.plan.named_options import meant
from weft.plan.plan import Plan, PlanReport
from weft.plan.request import Engine, Options, Request, ToleranceRule
from weft.query.table import WindowTable
from weft.query.window import Window

if TYPE_CHECKING:
    from weft.plan.coverage import CoveragePlan
    from weft.plan.search.grouping import Grouping
    from weft.query.query import Query

Progress = Callable[[int, int, str], None]
COVERAGE = ("coverage", "factor")
FACTOR_LIMIT = 2_000
"""`auto` does not try a coverage graph over more windows than this, because it is quadratic."""
POLISH_LIMIT = 400
"""`auto` polishes a weave plan of at most this many queries."""
POLISH_HARD = 32
"""The local search that polishes a plan stops after this many hard edge rates, about a second."""


def strategies() -> tuple[str, ...]:
    """The names that `optimize(strategy=...)` accepts."""
    from weft.plan.search import SEARCHES

    return (*SEARCHES, *COVERAGE, "auto")


def optimize(
    queries: Iterable[Query | Window] | WindowTable,
    *,
    rate: float = 1000.0,
    strategy: str = "auto",
    edges: str = "exact",
    seed: int = 0,
    cost: Model = "paper",
    statistics: Statistics | None = None,
    keys: str = "auto",
    parts: str = "compatible",
    polish: bool = False,
    tolerance: float = 0.2,
    tolerance_rule: ToleranceRule = "middle",
    engine: Engine | None = None,
    finals: str = "auto",
    progress: Progress | None = None,
    **search: Any,
) -> Plan:
    """Plan how to share `queries` on a stream of `rate` rows per second (or per integer unit).

    `queries` are `Query` objects, bare `Window` objects, or a `WindowTable` of arrays.
    `keys="union"` lets queries with different group-by keys share a tree over all their keys,
    `"separate"` does not, `"auto"` takes the cheaper one if the cost model can compare them
    (`cost="engine"`). `engine` limits `auto` to plans that this engine can run; `finals` is the
    structure that combines slices into answers, which `cost="engine"` prices. `polish` runs a
    local search after the strategy. `add` and `drop` plan from scratch when the changed plan is
    estimated to cost more than that by over `tolerance`; `tolerance_rule` is how this is estimated
    (see `weft.plan.incremental`). Further options go to the strategy.

    >>> windows = [Window(range=16, slide=4), Window(range=10, slide=5), Window(range=8, slide=4)]
    >>> plan = optimize(windows, rate=1.2, strategy="weave")
    >>> round(plan.cost, 6), [tree.queries for tree in plan.trees]
    (4.3, [('q1', 'q3'), ('q2',)])
    """
    if strategy not in strategies():
        raise PlanError(f"strategy={strategy!r}: accepted are {', '.join(strategies())}")
    if keys not in ("separate", "union", "auto"):
        raise PlanError(f"keys={keys!r}: accepted are 'separate', 'union', 'auto'")
    options = Options(
        rate=rate,
        strategy=strategy,
        edges=edges,
        seed=seed,
        cost=cost,
        statistics=statistics or Statistics(),
        keys="union" if keys == "union" else "separate",
        parts=parts,  # type: ignore[arg-type]  # Options checks it
        polish=polish,
        tolerance=tolerance,
        tolerance_rule=tolerance_rule,
        engine=engine,
        finals=finals,
        search=search,
    )
    _check_search_options(strategy, search)
    request = Request.of(queries, options)
    plan = plan_request(request, progress)
    keysets = {frozenset(key.expression for key in query.keys) for query in request.queries or ()}
    if keys == "auto" and cost == "engine" and len(keysets) > 1 and strategy not in COVERAGE:
        union = plan_request(replace(request, options=replace(options, keys="union")), progress)
        plan = min(plan, union, key=lambda candidate: candidate.cost)
    return plan


def _check_search_options(strategy: str, given: dict[str, Any]) -> None:
    """Refuse options that the strategy does not have: a misspelt one must not be ignored."""
    from inspect import signature

    from weft.plan.search import SEARCHES

    common = ("table", "cost", "edges", "seed", "progress")
    known = signature(SEARCHES[strategy]).parameters if strategy in SEARCHES else {}
    accepted = [name for name in known if name not in common]
    general = [name for name in signature(optimize).parameters if name not in ("queries", "search")]
    for name, value in given.items():
        if name not in accepted:
            raise PlanError(
                f"{name}={value!r}: strategy {strategy} has no such option; "
                f"{meant(name, [*accepted, *general])}"
            )


def plan_request(request: Request, progress: Progress | None = None) -> Plan:
    """Plan the request with its strategy; `auto` takes the cheapest of several plans."""
    strategy = request.options.strategy
    if strategy != "auto":
        return _plan_by(request, strategy, progress)
    candidates = ["weave"]
    if request.options.engine != "operator" and len(request.table) <= FACTOR_LIMIT:
        candidates.append("factor")
    start = perf_counter()
    plans = [_plan_by(request, name, progress) for name in candidates]
    best = min(plans, key=lambda plan: plan.cost)
    note = "auto chose " + ", ".join(
        f"{plan.strategy} (cost {plan.cost:,.6g})"
        if plan is best
        else f"not {plan.strategy} ({plan.cost:,.6g})"
        for plan in sorted(plans, key=lambda plan: plan.cost)
    )
    report = replace(best.report, seconds=perf_counter() - start, notes=(note, *best.report.notes))
    return replace(best, report=report)


def _plan_by(request: Request, strategy: str, progress: Progress | None) -> Plan:
    options = request.options
    small = len(request.table) <= POLISH_LIMIT
    polish = options.polish or (options.strategy == "auto" and small)
    request = replace(request, options=replace(options, strategy=strategy, polish=polish))
    start = perf_counter()
    plan = _cover(request) if strategy in COVERAGE else _search(request, progress)
    report = replace(plan.report, seconds=perf_counter() - start)
    return replace(plan, report=report)


def _search(request: Request, progress: Progress | None) -> Plan:
    """One search per group of queries that may share; trees are numbered by first query."""
    from weft.plan.search import SEARCHES

    options = request.options
    found: list[tuple[npt.NDArray[np.intp], Grouping]] = []
    arguments: dict[str, Any] = {
        "edges": options.edges,
        "seed": options.seed,
        "progress": progress,
    }
    for rows in request.groups():
        table, models = request.table.take(rows), request.models(rows)
        if options.strategy in ("no_share", "share_all"):
            models = models[:1]  # these strategies ignore costs
        candidates: list[Grouping] = []
        for cost in (model.linear for model in models):
            grouping = SEARCHES[options.strategy](table, cost, **arguments, **options.search)
            if options.polish:
                grouping = SEARCHES["local_search"](
                    table, cost, **arguments, start=grouping, most_hard=POLISH_HARD
                )
            candidates.append(grouping)
        found.append((rows, min(candidates, key=partial(_price, models[0]))))
    return assemble(request, found)


def _price(model: CostModel, grouping: Grouping) -> float:
    weight = np.bincount(grouping.labels, model.linear.weight, len(grouping.edge_rate))
    return float(model.price(grouping.edge_rate, weight.astype(np.float64)).sum())


def assemble(request: Request, found: list[tuple[npt.NDArray[np.intp], Any]]) -> Plan:
    """Put the groupings of all sharing groups together into one plan."""
    from weft.plan.search.grouping import number_by_first

    labels = np.zeros(len(request.table), dtype=np.int64)
    rates: list[npt.NDArray[np.float64]] = []
    trees = 0
    for rows, grouping in found:
        labels[rows] = grouping.labels + trees
        rates.append(grouping.edge_rate)
        trees += len(grouping.edge_rate)
    labels, moved = number_by_first(labels)
    rate = np.zeros(trees)
    rate[moved] = np.concatenate(rates) if rates else rate
    reports = [grouping.report for _, grouping in found]
    curves = tuple(
        ((len(rows), grouping.cost(request.model(rows).linear)),) for rows, grouping in found
    )
    return Plan(
        request,
        labels,
        rate,
        {},
        PlanReport(
            strategy=request.options.strategy,
            edges=request.options.edges,
            seconds=sum(report.seconds for report in reports),
            evaluations=sum(report.evaluations for report in reports),
            stop_reason="; ".join(dict.fromkeys(report.stop_reason for report in reports)),
            exact=all(report.exact for report in reports),
            notes=tuple(dict.fromkeys(note for report in reports for note in report.notes)),
        ),
        curves,
    )


def _cover(request: Request) -> Plan:
    """One coverage graph per group of queries with equal keys and predicates."""
    from weft.plan.coverage import weave_coverage

    labels = np.zeros(len(request.table), dtype=np.int64)
    coverages: dict[int, CoveragePlan] = {}
    groups = request.groups()
    rates = np.full(len(groups), np.nan)
    for tree, rows in enumerate(groups):
        labels[rows] = tree
        if request.queries is not None and not request.queries[rows[0]].window.has_fixed_length:
            # Sessions and calendar windows are never computed from other windows.
            rates[tree] = measure(request.table.take(rows)).value
            continue
        coverages[tree] = weave_coverage(
            list(request.table.take(rows)),
            rate=request.options.rate / request.unit,
            semantics=_semantics(request, rows),
            factors=request.options.strategy == "factor",
        )
    return Plan(
        request,
        labels,
        rates,
        coverages,
        PlanReport(
            strategy=request.options.strategy,
            edges="none",
            seconds=0.0,
            evaluations=sum(len(coverage.windows) for coverage in coverages.values()),
            stop_reason="every window has its cheapest upstream",
            exact=True,
        ),
    )


def _semantics(request: Request, rows: npt.NDArray[np.intp]) -> Any:
    """Upstream windows may overlap only if every aggregate may count a row twice."""
    if request.queries is None:
        return "partitioned"
    from weft.algebra.registry import monoid_of

    parts = {part for row in rows for part in request.queries[row].parts}
    idempotent = all(monoid_of(part).laws.idempotent for part in parts)
    return "covered" if idempotent else "partitioned"
