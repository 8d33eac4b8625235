"""A finished plan: which queries share which tree, what that costs, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from weft.errors import PlanError
from weft.plan.cost import EngineCost
from weft.plan.edges import measure
from weft.plan.request import Options, Request, RowNames
from weft.plan.tree import Tree
from weft.query.table import WindowTable
from weft.query.window import Window

if TYPE_CHECKING:
    from weft.plan.coverage import CoveragePlan
    from weft.plan.time_axis import Kind
    from weft.query.query import Query

VERSION = 1


@dataclass(frozen=True)
class PlanReport:
    """How the plan came about."""

    strategy: str
    """The strategy that made the plan; with `auto`, the one that it chose."""
    edges: str
    seconds: float
    evaluations: int
    stop_reason: str
    exact: bool
    """False where an edge rate had to be sampled."""
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON values."""
        return {**self.__dict__, "notes": list(self.notes)}


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """Which queries share which tree. A value: `add` and `drop` return new plans."""

    request: Request
    labels: npt.NDArray[np.int64]
    """The tree of each query, numbered by first query."""
    edge_rates: npt.NDArray[np.float64]
    """Per tree and axis unit; NaN for a coverage tree."""
    coverages: dict[int, CoveragePlan]
    """The coverage plan of each tree that has one."""
    report: PlanReport
    curves: tuple[tuple[tuple[int, float], ...], ...] = ()
    """Per sharing group, (queries, cost) of its plans from scratch, to judge changed plans by."""
    floors: tuple[float, ...] = ()
    """Per sharing group, a lower bound of the cost of a plan from scratch; empty until a change."""

    def __post_init__(self) -> None:
        if len(self.labels) != len(self.request.table):
            raise PlanError(f"{len(self.labels)} labels for {len(self.request.table)} queries")

    @property
    def strategy(self) -> str:
        """The strategy that made the plan; with `auto`, the one that it chose."""
        return self.report.strategy

    @property
    def rate(self) -> float:
        """Rows per second (per unit on an integer axis) that the plan was made for."""
        return self.request.options.rate

    @property
    def queries(self) -> tuple[Query, ...]:
        """The queries; empty if the plan was made of bare windows."""
        return self.request.queries or ()

    @cached_property
    def rows(self) -> list[npt.NDArray[np.intp]]:
        """The positions of each tree's queries."""
        order = np.argsort(self.labels, kind="stable")
        cuts = np.searchsorted(self.labels[order], np.arange(1, len(self.edge_rates)))
        return list(np.split(order, cuts)) if len(order) else []

    @cached_property
    def groups(self) -> list[npt.NDArray[np.intp]]:
        """The positions of the queries of each sharing group."""
        return self.request.groups()

    @cached_property
    def _priced(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Per tree: its cost, and the summed cost of its queries without sharing."""
        cost = np.zeros(len(self.edge_rates))
        alone = np.zeros(len(self.edge_rates))
        single = single_edge_rates(self.request.table)
        for rows in self.groups:
            model = self.request.model(rows)
            labels = self.labels[rows]
            trees = np.unique(labels)
            weight = np.bincount(labels, weights=model.linear.weight, minlength=len(cost))
            cost[trees] = model.price(self.edge_rates[trees], weight[trees].astype(np.float64))
            apart = np.bincount(labels, weights=model.apart(single[rows]), minlength=len(cost))
            lonely = np.bincount(labels, minlength=len(cost)) == 1
            cost[lonely] = apart[lonely]
            alone += apart
            written = np.bincount(labels, weights=model.answers, minlength=len(cost))
            cost, alone = cost + written, alone + written
        for tree, coverage in self.coverages.items():
            cost[tree], alone[tree] = self._price_covered(tree, coverage)
        return cost * self.request.unit, alone * self.request.unit

    def _price_covered(self, tree: int, coverage: CoveragePlan) -> tuple[float, float]:
        from weft.plan.coverage.pricing import engine_price

        model = self.request.model(self.rows[tree])
        if isinstance(model, EngineCost):
            return engine_price(coverage, model)
        return coverage.cost, coverage.cost_without_sharing

    @cached_property
    def cost(self) -> float:
        """The plan's cost per second (per unit on an integer axis)."""
        return float(self._priced[0].sum())

    @cached_property
    def costs(self) -> dict[str, float]:
        """The cost of the plan, of not sharing at all, and of sharing everything that may share."""
        share_all = 0.0
        for rows in self.groups:
            model = self.request.model(rows)
            rate = measure(self.request.table.take(rows)).value
            weight = np.array([model.linear.weight.sum()])
            share_all += float(model.price(np.array([rate]), weight)[0] + model.answers.sum())
        no_share = float(self._priced[1].sum())
        return {
            "plan": self.cost,
            "no_share": no_share,
            "share_all": share_all * self.request.unit,
        }

    @cached_property
    def trees(self) -> Sequence[Tree]:
        """The trees; each `Tree` is created on access, so a million of them cost nothing."""
        return _Trees(self)

    def tree_of(self, name: str) -> Tree:
        """The tree that serves this query."""
        return self.trees[int(self.labels[self.position(name)])]

    def position(self, name: str) -> int:
        """The position of the query with this name, without regard to case."""
        names = self.request.names
        if isinstance(names, RowNames):
            digits = name[1:] if name[:1].lower() == "q" else ""
            if digits.isdecimal() and len(digits) < 20 and 1 <= int(digits) <= len(names):
                return int(digits) - 1
        elif name.casefold() in self._positions:
            return self._positions[name.casefold()]
        raise PlanError(f"no query {name!r} in this plan; it has {_listed(names)}")

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {name.casefold(): at for at, name in enumerate(self.request.names)}

    def why(self, a: str, b: str) -> str:
        """One sentence on why two queries share a tree, or why they do not."""
        here, there = self.position(a), self.position(b)
        if self.labels[here] == self.labels[there]:
            return f"{a} and {b} share tree {int(self.labels[here]) + 1}"
        if self.request.queries is not None:
            obstacle = self.request.compatibility.obstacle(
                self.request.queries[here], self.request.queries[there]
            )
            if obstacle:
                return f"{a} and {b} cannot share: {obstacle}"
        x, y = int(self.labels[here]), int(self.labels[there])
        if x in self.coverages:
            return f"{a} and {b} do not share: neither window covers the other"
        rows = np.concatenate([self.rows[x], self.rows[y]])
        model = self.request.model(rows)
        rate = measure(self.request.table.take(rows)).value
        merged = model.price(np.array([rate]), np.array([model.linear.weight.sum()]))[0]
        both = float(merged + model.answers.sum())
        more = both * self.request.unit - self._priced[0][x] - self._priced[0][y]
        apart = f"{a} (tree {x + 1}) and {b} (tree {y + 1}) do not share: one tree of both "
        if more > 0:
            return apart + f"would cost {more:,.6g} more"
        return apart + f"would cost {-more:,.6g} less, but strategy {self.strategy} kept them apart"

    def explain(self, *, limit: int = 20) -> str:
        """The plan as a readable tree, its `limit` costliest trees in full.

        >>> from weft.plan.optimizer import optimize
        >>> sizes = (16, 4), (10, 5), (8, 4)
        >>> windows = [Window(range=r, slide=s) for r, s in sizes]
        >>> print(optimize(windows, rate=1.2, strategy="weave").explain())
        weave: 3 queries at 1.2 rows per unit -> 2 trees, cost 4.3 per unit
          no sharing costs 5.5 (1.28x), sharing all costs 4.4 (1.02x)
        tree 1: 2 queries, 0.25 edges per unit, overlap 6, cost 2.7, saves 1.2
        ├─ q1: 16 every 4
        └─ q3: 8 every 4
        tree 2: 1 query, 0.2 edges per unit, overlap 2, cost 1.6
        └─ q2: 10 every 5
        """
        from weft.plan.explain import explain

        return explain(self, limit)

    def __repr__(self) -> str:
        from weft.plan.explain import summary

        return f"<Plan {summary(self)}>"

    def _repr_html_(self) -> str:
        from weft.plan.explain import as_html

        return as_html(self)

    def add(self, queries: Iterable[Query | Window] | WindowTable) -> Plan:
        """A plan with these queries woven in (Incremental WeaveShare)."""
        from weft.plan.change import add

        return add(self, queries)

    def drop(self, names: str | Iterable[str]) -> Plan:
        """A plan without these queries (Incremental WeaveShare)."""
        from weft.plan.change import drop

        return drop(self, [names] if isinstance(names, str) else names)

    def to_sql(
        self, *, table: str = "t", time: str = "ts", kind: Kind | None = None,
        types: Mapping[str, str] | None = None,
    ) -> str:  # fmt: skip
        """The plan as a script of Spark SQL that answers every query from `table`.

        The script creates a view of each query's answers, with the query's name. `kind` is the
        type of the `time` column ("timestamp", "timestamp_ntz", "date", "integer"); `types` (from
        `loom.types()`) are the types of the aggregates' arguments, needed for decimals.
        """
        from weft.plan.sql import to_sql

        return to_sql(self, table=table, time=time, kind=kind, types=types)

    def to_dict(self) -> dict[str, Any]:
        """The plan as JSON values; `from_dict` reads it back."""
        table = self.request.table
        return {
            "weft": "plan",
            "version": VERSION,
            "axis": table.axis,
            "options": self.request.options.to_dict(),
            "queries": [query.to_dict() for query in self.queries] or None,
            "windows": None
            if self.queries
            else {
                "names": None
                if isinstance(self.request.names, RowNames)
                else list(self.request.names),
                "range": table.range.tolist(),
                "slide": table.slide.tolist(),
                "offset": table.offset.tolist(),
            },
            "cost": self.cost,
            "costs": self.costs,
            "trees": [tree.to_dict() for tree in self.trees],
            "labels": self.labels.tolist(),
            "report": self.report.to_dict(),
            "curves": [[list(point) for point in curve] for curve in self.curves],
            "floors": list(self.floors),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Plan:
        """Read what `to_dict` wrote; an unknown version is refused."""
        from weft.plan.coverage import CoveragePlan
        from weft.query.query import Query

        if data.get("weft") != "plan" or data.get("version") != VERSION:
            raise PlanError(
                f"not a plan of version {VERSION}: found "
                f"{data.get('weft')!r} version {data.get('version')!r}"
            )
        options = Options.from_dict(data["options"])
        if data["queries"]:
            request = Request.of([Query.from_dict(entry) for entry in data["queries"]], options)
        else:
            windows = dict(data["windows"])
            names = windows.pop("names")
            request = Request.of(WindowTable(**windows, axis=data["axis"]), options)
            request = request if names is None else replace(request, names=names)
        trees = data["trees"]
        unit = request.unit
        rates = [np.nan if t["edge_rate"] is None else t["edge_rate"] / unit for t in trees]
        return cls(
            request,
            np.array(data["labels"], dtype=np.int64),
            np.array(rates, dtype=np.float64),
            {
                number: CoveragePlan.from_dict(tree["coverage"])
                for number, tree in enumerate(trees)
                if tree["coverage"]
            },
            PlanReport(**(data["report"] | {"notes": tuple(data["report"]["notes"])})),
            tuple(tuple((int(n), float(c)) for n, c in curve) for curve in data["curves"]),
            tuple(data.get("floors", ())),  # plans of weft 0.2 have none
        )


class _Trees(Sequence[Tree]):
    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def __len__(self) -> int:
        return len(self._plan.edge_rates)

    @overload
    def __getitem__(self, at: int) -> Tree: ...
    @overload
    def __getitem__(self, at: slice) -> list[Tree]: ...
    def __getitem__(self, at: int | slice) -> Tree | list[Tree]:
        if isinstance(at, slice):
            return [self[number] for number in range(*at.indices(len(self)))]
        number = range(len(self))[at]
        plan = self._plan
        rows, table, cost = plan.rows[number], plan.request.table, plan._priced
        rate = float(plan.edge_rates[number])
        return Tree(
            number=number + 1,
            rows=rows,
            queries=tuple(plan.request.names[int(row)] for row in rows),
            table=table.take(rows),
            edge_rate=None if np.isnan(rate) else rate * plan.request.unit,
            overlap=float(table.overlap[rows].sum()),
            cost=float(cost[0][number]),
            unshared_cost=float(cost[1][number]),
            coverage=plan.coverages.get(number),
        )


def single_edge_rates(table: WindowTable) -> npt.NDArray[np.float64]:
    """The edge rate of each query on its own: one or two edges a slide."""
    return np.where(table.range % table.slide == 0, 1.0, 2.0) / table.slide


def _listed(names: Sequence[str], most: int = 8) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")
