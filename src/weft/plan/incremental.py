"""Incremental WeaveShare: queries are added and dropped; the plan is rebuilt only when needed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from time import perf_counter
from typing import get_args

import numpy as np
import numpy.typing as npt

from weft.errors import PlanError
from weft.plan.cost import LinearCost
from weft.plan.request import ToleranceRule
from weft.plan.search.classes import collapse
from weft.plan.search.classes import tolerance as tie_of
from weft.plan.search.grouping import Grouping, SearchReport, number_by_first
from weft.plan.search.rates import Rates
from weft.plan.search.weave import search as weave
from weft.plan.search.weave.opening import trees_of, weave_open
from weft.query.table import WindowTable

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]

OPEN = 5_000
"""Changed trees that are woven into a plan one by one; with more, it is planned from scratch."""


@dataclass(frozen=True)
class ChangeReport:
    """What a change did to the plan, and why."""

    added: int
    dropped: int
    touched: int
    """Trees that the change made or took queries from."""
    merges: int
    """Merges of trees that the change led to."""
    evaluations: int
    cost: float
    """What the plan costs after the change."""
    expected: float
    """What a plan from scratch was expected to cost, by the tolerance rule."""
    rebuilt: bool
    reason: str
    seconds: float


@dataclass(frozen=True, eq=False)
class Incremental:
    """A plan under change (WeaveShare section 5.2).

    New queries become trees that are woven with the existing trees, and trees that lose queries
    are woven again; existing trees are not compared with one another. The plan is rebuilt when
    `cost / expected - 1` exceeds the tolerance: 0 rebuilds at every change, infinity never.
    `expected` is what a plan from scratch should cost now, by one of two rules:

    - "middle": halfway between the plan's own cost and `floor`, a lower bound of the cost of a
      plan from scratch. So the plan costs at most `(1 + tolerance) / (1 - tolerance)` times the
      floor, and on average exceeds a plan from scratch by less than the tolerance (decision 0032).
    - "slope": the paper's rule, the line through the last two points of `curve`, which are
      (queries, cost) of plans from scratch. It cannot keep small tolerances where the curve bends.

    >>> table = WindowTable(range=[16, 8], slide=[4, 4])
    >>> state = Incremental.of(table, LinearCost(1.2, 0.0, table.overlap))
    >>> more = WindowTable(range=[10], slide=[5])
    >>> grown = state.add(more, more.overlap)
    >>> grown.grouping.labels, round(grown.plan_cost, 9), grown.change.rebuilt
    (array([0, 0, 1]), 4.3, False)
    >>> grown.drop([0]).grouping.labels
    array([0, 0])
    """

    table: WindowTable
    cost: LinearCost
    grouping: Grouping
    tolerance: float
    curve: tuple[tuple[int, float], ...]
    floor: float
    """A lower bound of the cost of a plan from scratch."""
    rule: ToleranceRule = "middle"
    change: ChangeReport | None = None
    """What the last change did; None if there was none."""

    def __post_init__(self) -> None:
        if self.rule not in get_args(ToleranceRule):
            raise PlanError(
                f"rule={self.rule!r}: accepted are {', '.join(get_args(ToleranceRule))}"
            )
        if not self.tolerance >= 0.0:
            raise PlanError(f"tolerance={self.tolerance!r} must be 0 or more (0.2 is 20%)")
        if not len(self.table) == len(self.grouping.labels) == len(self.cost.weight):
            raise PlanError(
                f"{len(self.table)} windows, {len(self.grouping.labels)} labels and "
                f"{len(self.cost.weight)} weights: there must be as many of each"
            )

    @classmethod
    def of(
        cls,
        table: WindowTable,
        cost: LinearCost,
        grouping: Grouping | None = None,
        *,
        tolerance: float = 0.2,
        rule: ToleranceRule = "middle",
        curve: tuple[tuple[int, float], ...] = (),
        floor: float | None = None,
    ) -> Incremental:
        """A plan that can change: the given grouping, or the one that `weave` finds.

        The plan's own cost is the default for the floor and for the first point of the curve.
        """
        grouping = weave.search(table, cost) if grouping is None else grouping
        price = grouping.cost(cost)
        if not curve and len(table):
            curve = ((len(table), price),)
        return cls(table, cost, grouping, tolerance, curve, price if floor is None else floor, rule)

    @property
    def plan_cost(self) -> float:
        """What the plan costs per unit of time."""
        return self.grouping.cost(self.cost)

    def by_slope(self, queries: int) -> float:
        """What a plan from scratch for this many queries should cost, by the performance slope.

        The slope is that between the last two points of the curve; with a single point, the line
        goes through it and the origin.
        """
        if not self.curve:
            return 0.0
        known, cost = self.curve[-1]
        before = [point for point in self.curve[:-1] if point[0] != known]
        if before:
            slope = (cost - before[-1][1]) / (known - before[-1][0])
            if cost + slope * (queries - known) > 0.0:
                return cost + slope * (queries - known)
        return cost * queries / known if known else 0.0

    def add(self, table: WindowTable, weight: Float64) -> Incremental:
        """The plan with these queries appended; `weight` holds their weights in the cost."""
        if len(self.table) and table.axis != self.table.axis:
            raise PlanError(f"queries on the {table.axis} axis cannot join those on another")
        both = WindowTable(
            range=np.concatenate([self.table.range, table.range]),
            slide=np.concatenate([self.table.slide, table.slide]),
            offset=np.concatenate([self.table.offset, table.offset]),
            axis=table.axis,
        )
        weight = np.asarray(weight, dtype=np.float64)
        cost = replace(self.cost, weight=np.concatenate([self.cost.weight, weight]))
        # One tree for each new query; queries with equal edges share one.
        new, old = collapse(table, weight), len(self.grouping)
        labels = np.concatenate([self.grouping.labels, old + new.of_query])
        touched = np.arange(old + len(new)) >= old
        # Removing the new queries from the cheapest plan of all leaves a plan of the old ones. It
        # saves at least what each new query alone would pay for its own edges, because its tree
        # has no fewer edges than the query.
        floor = self.floor + float(new.rate @ new.weight) / new.unit
        return self._changed(both, cost, labels, touched, floor, len(table), 0)

    def drop(self, rows: npt.ArrayLike) -> Incremental:
        """The plan without the queries at these positions; the others keep their order."""
        gone = np.unique(np.asarray(rows, dtype=np.int64))
        if gone.size and (gone[0] < 0 or gone[-1] >= len(self.table)):
            wrong = gone[0] if gone[0] < 0 else gone[-1]
            raise PlanError(f"rows has {wrong}; this plan has queries 0 to {len(self.table) - 1}")
        keep = np.delete(np.arange(len(self.table)), gone)
        touched = np.zeros(len(self.grouping), dtype=np.bool_)
        touched[self.grouping.labels[gone]] = True
        return self._changed(
            self.table.take(keep),
            replace(self.cost, weight=self.cost.weight[keep]),
            self.grouping.labels[keep],
            touched,
            self.floor * (1.0 - self._share(gone)),
            0,
            len(gone),
        )

    def _share(self, rows: Int64) -> float:
        """The share of the plan's cost that these queries bear, by their weights in their trees."""
        labels, weight = self.grouping.labels, self.cost.weight
        trees = len(self.grouping)
        whole = np.bincount(labels, weights=weight, minlength=trees)
        mine = np.bincount(labels[rows], weights=weight[rows], minlength=trees)
        cost = self.cost.fixed + self.grouping.edge_rate * (self.cost.per_edge + whole)
        part = np.divide(mine, whole, out=np.zeros(trees), where=whole > 0.0)
        return float((cost * part).sum()) / max(float(cost.sum()), np.finfo(float).tiny)

    def _changed(
        self,
        table: WindowTable,
        cost: LinearCost,
        labels: Int64,
        touched: npt.NDArray[np.bool_],
        floor: float,
        added: int,
        dropped: int,
    ) -> Incremental:
        began = perf_counter()
        always, never, first = self.tolerance == 0.0, self.tolerance == inf, not self.curve
        many = int(touched.sum()) > OPEN
        if never and many:
            touched[np.flatnonzero(touched)[OPEN:]] = False
        scratch = None
        if len(table) and (always or first or (many and not never)):
            scratch = weave.search(table, cost)
        if many and scratch is not None:
            grouping = scratch
        else:
            grouping = _reweave(table, cost, self.grouping, labels, touched)
        price = grouping.cost(cost)
        # A plan from scratch may save as much by the drop as this plan does.
        floor = max(min(floor, price, self.floor + price - self.plan_cost), 0.0)
        slope = self.rule == "slope"
        expected = self.by_slope(len(table)) if slope else (floor + price) / 2.0
        off = price / expected - 1.0 if expected > 0.0 else inf
        if scratch is None and len(table) and not never and off > self.tolerance:
            scratch = weave.search(table, cost)
        reason = _reason(off, self.tolerance, len(table), many, first, scratch is not None)
        curve = self.curve
        if scratch is not None:
            curve = (*curve, (len(table), scratch.cost(cost)))
            floor = min(scratch.cost(cost), price)
            if scratch.cost(cost) <= price:
                grouping = scratch
            else:
                reason += "; the plan from scratch costs more, so the woven one stays"
        change = ChangeReport(
            added=added,
            dropped=dropped,
            touched=int(touched.sum()),
            merges=grouping.report.merges,
            evaluations=grouping.report.evaluations,
            cost=grouping.cost(cost),
            expected=expected,
            rebuilt=scratch is not None,
            reason=reason,
            seconds=perf_counter() - began,
        )
        return replace(
            self,
            table=table,
            cost=cost,
            grouping=grouping,
            curve=curve,
            floor=floor,
            change=change,
        )


def _reason(
    off: float, tolerance: float, queries: int, many: bool, first: bool, rebuilt: bool
) -> str:
    """Why the plan was rebuilt, or why it was not."""
    if not queries:
        return "no queries are left"
    if first:
        return "the first queries are planned from scratch"
    if tolerance == 0.0:
        return "tolerance 0 rebuilds the plan at every change"
    if many and rebuilt:
        return f"more than {OPEN:,} trees changed: the plan was rebuilt"
    said = f"{off:+.1%} off the expected cost"
    if rebuilt:
        return f"{said}, more than the {tolerance:.1%} tolerated"
    return f"{said}, which is tolerated" + (f"; only {OPEN:,} trees were woven" if many else "")


def _reweave(
    table: WindowTable,
    cost: LinearCost,
    before: Grouping,
    labels: Int64,
    touched: npt.NDArray[np.bool_],
) -> Grouping:
    """Weave the trees that were changed with one another and with all other trees."""
    began = perf_counter()
    classes, rates = collapse(table, cost.weight), Rates()
    numbered, moved = number_by_first(labels)
    trees = int(numbered.max(initial=-1)) + 1
    opened = np.zeros(trees, dtype=np.bool_)
    known = np.full(trees, np.nan)
    old = np.flatnonzero(moved >= 0)
    opened[moved[old]] = touched[old]
    same = old[(old < len(before)) & ~touched[old]]
    known[moved[same]] = before.edge_rate[same] * classes.unit
    forest = trees_of(classes, cost, numbered, known, rates)
    tie = tie_of(classes, cost)
    woven = weave_open(forest, opened, rates, least=tie - cost.fixed * classes.unit, tie=tie)
    place = np.empty(trees, dtype=np.int64)
    place[woven.number] = np.arange(len(woven.number))
    report = SearchReport(
        strategy="incremental",
        edges="exact",
        evaluations=rates.evaluations,
        merges=trees - len(woven.number),
        iterations=trees - len(woven.number) + 1,
        seconds=perf_counter() - began,
        stop_reason="no merge of a changed tree saves anything",
        exact=before.report.exact and rates.sampled == 0,
        notes=rates.notes(),
    )
    return Grouping(place[woven.ended][numbered], woven.trees.rate / classes.unit, report)
