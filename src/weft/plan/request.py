"""The input of the optimizer: the queries as arrays, and the options."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args, overload

import numpy as np
import numpy.typing as npt

from weft.errors import PlanError
from weft.plan.cost import COMBINES, CostModel, EngineCost, Model, PaperCost, Statistics
from weft.plan.sharing import Compatibility, Keys, Parts
from weft.query.duration import MICROSECONDS
from weft.query.table import WindowTable
from weft.query.window import Window

if TYPE_CHECKING:
    from weft.query.query import Query

Engine = Literal["operator", "rewrite"]
ToleranceRule = Literal["middle", "slope"]


class RowNames(Sequence[str]):
    """Names `q1`, `q2`, ... of queries that were given as bare windows, created on access."""

    def __init__(self, count: int) -> None:
        self._count = count

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        if isinstance(at, slice):
            return [f"q{i + 1}" for i in range(*at.indices(self._count))]
        if not -self._count <= at < self._count:
            raise IndexError(at)
        return f"q{at % self._count + 1}"

    def __len__(self) -> int:
        return self._count


@dataclass(frozen=True)
class Options:
    """How to plan. `rate` is rows per second on a time axis, per unit on an integer axis."""

    rate: float = 1000.0
    strategy: str = "auto"
    edges: str = "exact"
    seed: int = 0
    cost: Model = "paper"
    statistics: Statistics = field(default_factory=Statistics)
    keys: Keys = "separate"
    parts: Parts = "compatible"
    polish: bool = False
    tolerance: float = 0.2
    tolerance_rule: ToleranceRule = "middle"
    """How the cost that a changed plan is compared with is estimated (see `Incremental`)."""
    engine: Engine | None = None
    finals: str = "auto"
    """The structure that combines slices into answers, which the engine's cost model prices."""
    search: dict[str, Any] = field(default_factory=dict)
    """Options of the strategy itself, such as `start` of a local search."""

    def __post_init__(self) -> None:
        if not (isinstance(self.rate, (int, float)) and 0.0 <= self.rate < float("inf")):
            raise PlanError(f"rate={self.rate!r} must be a number of rows, 0 or more")
        if not self.tolerance >= 0.0:
            raise PlanError(f"tolerance={self.tolerance!r} must be 0 or more (0.2 is 20%)")
        allowed: dict[str, tuple[object, ...]] = {
            "cost": ("paper", "engine"),
            "keys": ("separate", "union"),
            "parts": ("compatible", "equal"),
            "engine": (None, "operator", "rewrite"),
            "edges": ("exact", "f1", "f1_table", "bitset"),
            "finals": tuple(COMBINES),
            "tolerance_rule": get_args(ToleranceRule),
        }
        for name, values in allowed.items():
            if getattr(self, name) not in values:
                shown = ", ".join(repr(value) for value in values)
                raise PlanError(f"{name}={getattr(self, name)!r}: accepted are {shown}")

    def to_dict(self) -> dict[str, Any]:
        """The options as JSON values."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return plain | {"statistics": self.statistics.to_dict(), "search": dict(self.search)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Options:
        """Read what `to_dict` wrote."""
        return cls(**(data | {"statistics": Statistics.from_dict(data["statistics"])}))


@dataclass(frozen=True, eq=False)
class Request:
    """The queries to plan, as a table of windows with names, and the options."""

    names: Sequence[str]
    table: WindowTable
    queries: tuple[Query, ...] | None
    options: Options

    @classmethod
    def of(cls, queries: Iterable[Query | Window] | WindowTable, options: Options) -> Request:
        """Read queries in any of the forms that `optimize` takes."""
        if isinstance(queries, WindowTable):
            return cls(RowNames(len(queries)), queries, None, options)
        listed = list(queries)
        if all(isinstance(item, Window) for item in listed):
            table = WindowTable.of_windows(item.cut for item in listed if isinstance(item, Window))
            return cls(RowNames(len(listed)), table, None, options)
        from weft.query.query import Query
        from weft.query.workload import Workload

        asked: list[Query] = []
        for position, item in enumerate(listed):
            if not isinstance(item, Query):
                raise PlanError(
                    f"queries[{position}]={item!r} is not a Query: accepted are queries, "
                    f"windows (not both at once), or a WindowTable"
                )
            asked.append(item)
        workload = Workload(asked)
        table = WindowTable.of_windows(query.window.cut for query in workload)
        return cls([q.name for q in workload], table, tuple(workload), options)

    @property
    def unit(self) -> int:
        """Axis units per unit in which rates are reported: a second, or one integer."""
        return MICROSECONDS["second"] if self.table.axis == "time" else 1

    @property
    def compatibility(self) -> Compatibility:
        """What queries must have in common to share."""
        equal = self.options.strategy in ("coverage", "factor")
        return Compatibility(
            self.options.keys, self.options.parts, "equal" if equal else "fragments"
        )

    def groups(self) -> list[npt.NDArray[np.intp]]:
        """The positions of the queries of each sharing group."""
        if self.queries is None:
            return [np.arange(len(self.table))] if len(self.table) else []
        listed = self.compatibility.groups(self.queries)
        return [np.array(positions, dtype=np.intp) for positions in listed]

    def models(self, rows: npt.NDArray[np.intp]) -> list[CostModel]:
        """The cost models of one group, linearised for small trees and for one tree of all queries.

        The number of partials grows more slowly than the edge rate, so a model linearised at a
        single query overestimates large trees, and one linearised at all queries underestimates
        small ones.
        """
        first = self.model(rows)
        if not isinstance(first, EngineCost):
            return [first]
        table = self.table.take(rows)
        edges = np.where(table.range % table.slide == 0, 1.0, 2.0) / table.slide
        every = [table.slide, table.range, table.offset]
        granule = int(np.gcd.reduce(np.concatenate(every))) if len(table) else 1
        crowded = min(float(edges.sum()), 1.0 / max(granule, 1))
        return [first, self.model(rows, crowded)]

    def model(self, rows: npt.NDArray[np.intp], reference: float | None = None) -> CostModel:
        """The cost model of one group of queries, per unit of the axis."""
        table, options = self.table.take(rows), self.options
        rate = options.rate / self.unit
        if options.cost == "paper":
            return PaperCost.of(table.overlap, rate)
        asked = [self.queries[row] for row in rows] if self.queries is not None else []
        keys = frozenset(key.expression for query in asked for key in query.keys)
        predicates = {query.predicate for query in asked}
        known = options.statistics.fragments
        return EngineCost.of(
            table.overlap,
            table.slide.astype(np.float64),
            rate=rate,
            groups=options.statistics.groups_of(keys),
            # With a single predicate there is one fragment, whatever the statistics say.
            fragments=float(len(predicates) if known is None else known)
            if len(predicates) > 1
            else 1.0,
            constants=options.statistics.constants,
            span=None if (span := options.statistics.span) is None else span * self.unit,
            reference=reference,
            finals=options.finals,
        )
