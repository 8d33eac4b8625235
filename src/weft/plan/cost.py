"""What a tree costs, apart from how trees are searched for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from math import exp
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

Float64 = npt.NDArray[np.float64]
Model = Literal["paper", "engine"]


@dataclass(frozen=True, eq=False)
class LinearCost:
    """The cost per unit of time of a tree t with edge rate E_t:

        fixed + E_t * (per_edge + sum of weight[q] over the tree's queries q)

    Every model of ours has this form, exactly or after linearising it once, and it is all that a
    search needs to know. The paper's (WeaveShare eq. 1) is `fixed = lambda`, `per_edge = 0`,
    `weight[q] = range_q / slide_q`.
    """

    fixed: float
    per_edge: float
    weight: Float64

    def tree(self, edge_rate: float, weight: float) -> float:
        """The cost of one tree, given its edge rate and its queries' summed weight."""
        return self.fixed + edge_rate * (self.per_edge + weight)


class CostModel(Protocol):
    """Prices the trees of one group of queries that may share."""

    @property
    def linear(self) -> LinearCost:
        """The model as a search sees it."""
        ...

    @property
    def answers(self) -> Float64:
        """What each query's answers cost, whichever tree it is in: no search needs to know."""
        ...

    def apart(self, edge_rate: Float64) -> Float64:
        """The cost of each query in a tree of its own, given its edge rate; answers come on top."""
        ...

    def price(self, edge_rate: Float64, weight: Float64) -> Float64:
        """The cost of each tree, given edge rates and summed weights of its queries."""
        ...


@dataclass(frozen=True, eq=False)
class PaperCost:
    """WeaveShare equation 3: aggregate operations per unit of time at `rate` rows per unit.

    >>> cost = PaperCost.of(np.array([4.0, 2.0]), rate=1.2)
    >>> cost.price(np.array([0.25]), np.array([6.0]))
    array([2.7])
    """

    linear: LinearCost

    @classmethod
    def of(cls, overlap: Float64, rate: float) -> PaperCost:
        """The paper's model of queries with these overlap factors."""
        return cls(LinearCost(rate, 0.0, np.asarray(overlap, dtype=np.float64)))

    @property
    def answers(self) -> Float64:
        """The paper counts the combines of an answer and nothing beside."""
        return np.zeros_like(self.linear.weight)

    def apart(self, edge_rate: Float64) -> Float64:
        """The cost of each query in a tree of its own."""
        return self.price(edge_rate, self.linear.weight)

    def price(self, edge_rate: Float64, weight: Float64) -> Float64:
        """The cost of each tree, given edge rates and summed overlap factors."""
        return self.linear.fixed + edge_rate * weight


@dataclass(frozen=True)
class Constants:
    """What the engine's steps cost, in nanoseconds on one core.

    The defaults were measured by `spark.batch.calibrate` on two cores. Ratios between
    them are what decides a plan, and those vary less between machines than the figures.
    """

    row: float = 150.0
    """A row taken into a tree: its slice, its fragment, and the hash aggregation."""
    partial: float = 2_700.0
    """A partial sent to the finals: written, shuffled, sorted."""
    combine: float = 6.0
    """Two partials combined."""
    answer: float = 500.0
    """An answer handed over as an Arrow table; a sink that drops it takes a fifth of that."""
    piece: float = 500.0
    """A window's partial taken into another window, in Spark SQL."""
    tree: float = 3e8
    """A tree's part of a batch job, however few rows it has: planned, compiled, scheduled."""
    alone: float = 1.6e8
    """The same of an aggregation of rows that Spark does by itself."""
    level: float = 0.8e8
    """The same of a step from windows to windows."""


@dataclass(frozen=True)
class Statistics:
    """What is known of the stream, beside its rate.

    `groups` is the number of distinct key values alive at the same time, or a mapping from
    comma-separated lists of keys to such numbers; `fragments` is the number of distinct predicate
    signatures that occur (None: as many as there are predicates); `span` is how many seconds (or
    integer units) of rows one job reads, over which the job's own cost is spread (None: no end).
    """

    groups: float | Mapping[str, float] = 1.0
    fragments: float | None = None
    constants: Constants = field(default_factory=Constants)
    span: float | None = None

    def groups_of(self, keys: frozenset[str]) -> float:
        """The number of groups by these keys; no keys make one group."""
        if not keys:
            return 1.0
        if isinstance(self.groups, Mapping):
            named = {
                frozenset(k.strip() for k in name.split(",")): n for name, n in self.groups.items()
            }
            if keys in named:
                return float(named[keys])
            single = [float(named.get(frozenset([key]), 100.0)) for key in keys]
            return float(np.prod(single))
        return float(self.groups)

    def to_dict(self) -> dict[str, Any]:
        """The statistics as JSON values."""
        groups = dict(self.groups) if isinstance(self.groups, Mapping) else self.groups
        return {
            "groups": groups,
            "fragments": self.fragments,
            "constants": asdict(self.constants),
            "span": self.span,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Statistics:
        """Read what `to_dict` wrote."""
        constants = Constants(**data["constants"])
        return cls(data["groups"], data["fragments"], constants, data.get("span"))


NATIVE_OVERLAP = 3.0
"""In a batch, a query alone in its tree runs as it is, unless that copies each row more often."""
COMBINES: dict[str, Callable[[Float64], Float64]] = {
    "auto": lambda slices: np.minimum(slices, 3.0),
    "naive": lambda slices: slices,
    "flatfat": lambda slices: np.minimum(slices, 1.0 + np.log2(np.maximum(1.0, slices))),
    "bint": lambda slices: np.minimum(slices, 1.0 + 2.0 * np.log2(np.maximum(1.0, slices))),
    "flatfit": lambda slices: np.minimum(slices, 3.0),
    "two_stacks": lambda slices: np.minimum(slices, 3.0),
    "daba": lambda slices: np.minimum(slices, 4.0),
    "subtract": lambda slices: np.minimum(slices, 2.0),
    "shift": lambda slices: slices,
    "blocks": lambda slices: np.minimum(slices, 3.0),
}
"""Combines per slide of each final structure, over a window of so many slices (FlatFIT Table 1 and
the cards of `engine.finals`)."""


@dataclass(frozen=True, eq=False)
class EngineCost:
    """Nanoseconds of work per unit of time, knowing groups, fragments and the final structure.

    A slice holds at most groups x fragments partials and at most its rows: with n rows thrown
    at D cells, `D * (1 - exp(-n / D))` cells are hit. That depends on the edge rate, so a search
    works with the model linearised at a reference, and plans are priced without.
    """

    linear: LinearCost
    rate: float
    cells: float
    constants: Constants
    jobs: float
    """Per unit of time: one for all the rows that it takes in, none for a stream without end."""
    answers: Float64
    native: Float64
    """What each query costs as it is, beside its answers; infinite where it is never run so."""

    @classmethod
    def of(
        cls,
        overlap: Float64,
        slide: Float64,
        *,
        rate: float,
        groups: float,
        fragments: float,
        constants: Constants,
        span: float | None = None,
        reference: float | None = None,
        finals: str = "auto",
    ) -> EngineCost:
        """The engine's model of queries with these overlap factors and slides.

        It is linearised at the edge rate `reference`: if not given, at that of a typical query.
        `finals` is the structure that combines slices.
        """
        if reference is None:
            reference = float(np.median(2.0 / slide)) if len(slide) else 1.0
        alive = _alive(rate, reference, groups * fragments)
        steps = COMBINES[finals](np.asarray(overlap, dtype=np.float64))
        jobs = 1.0 / span if span else 0.0
        seen = np.array([_alive(rate, 1.0 / range_, groups) for range_ in overlap * slide]) / slide
        native = np.full(len(slide), np.inf)
        if jobs:
            copied = rate * overlap * constants.row + seen * constants.partial
            native = np.where(overlap <= NATIVE_OVERLAP, jobs * constants.alone + copied, np.inf)
        return cls(
            LinearCost(
                fixed=rate * constants.row + jobs * constants.tree,
                per_edge=alive * constants.partial,
                weight=alive * constants.combine * steps,
            ),
            rate=rate,
            cells=groups * fragments,
            constants=constants,
            jobs=jobs,
            answers=seen * constants.answer,
            native=native,
        )

    def alive(self, span: float) -> float:
        """Partials that the rows of a span of time make."""
        return _alive(self.rate, 1.0 / span, self.cells)

    def apart(self, edge_rate: Float64) -> Float64:
        """The cost of each query in a tree of its own."""
        sliced = self.price(edge_rate, self.linear.weight)
        return np.where(np.isfinite(self.native), self.native, sliced)

    def price(self, edge_rate: Float64, weight: Float64) -> Float64:
        """The cost of each tree, given edge rates and summed weights of its queries."""
        partials: Float64 = np.array([_alive(self.rate, rate, self.cells) for rate in edge_rate])
        per_partial = self.constants.partial
        scale = self.linear.per_edge / per_partial if per_partial else 1.0
        per_edge: Float64 = partials * (per_partial + weight / scale)
        return self.linear.fixed + edge_rate * per_edge


def _alive(rate: float, edge_rate: float, cells: float) -> float:
    """Partials in a slice: how many of `cells` are hit by the rows of one slice."""
    if edge_rate <= 0.0 or cells <= 0.0:
        return cells
    return cells * (1.0 - exp(-rate / edge_rate / cells))
