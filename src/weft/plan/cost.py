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

    Every cost model of weft has this form, exactly or after being linearised once, and a search
    needs to know nothing else. The paper's model (WeaveShare eq. 1) is `fixed = lambda`,
    `per_edge = 0`, `weight[q] = range_q / slide_q`.
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
        """The linear form of the model, which searches use."""
        ...

    @property
    def answers(self) -> Float64:
        """What each query's answers cost; independent of its tree, so searches ignore it."""
        ...

    def apart(self, edge_rate: Float64) -> Float64:
        """The cost of each query alone in a tree, given its edge rate, without its answers."""
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
        """Zero: the paper counts only the combines of an answer, which `price` includes."""
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

    The defaults were measured by `spark.batch.calibrate` on two cores. Plans depend on the ratios
    between them, which vary less from machine to machine than the values themselves.
    """

    row: float = 150.0
    """Aggregating one row into a tree: finding its slice and fragment, and hash aggregation."""
    partial: float = 2_700.0
    """Sending one partial to the final aggregation: written, shuffled, sorted."""
    combine: float = 6.0
    """Combining two partials."""
    answer: float = 500.0
    """Handing over one answer in an Arrow table; with a sink that discards it, a fifth of this."""
    piece: float = 500.0
    """Aggregating one window's partial into another window, in Spark SQL."""
    tree: float = 3e8
    """The fixed cost of one tree in a batch job, however few rows: plan, compile, schedule."""
    alone: float = 1.6e8
    """The fixed cost of an aggregation of rows that is left to Spark."""
    level: float = 0.8e8
    """The fixed cost of a step that computes windows from windows."""


@dataclass(frozen=True)
class Statistics:
    """What is known about the stream besides its rate.

    `groups` is the number of distinct key values alive at the same time, or a mapping from
    comma-separated lists of keys to such numbers; `fragments` is the number of distinct predicate
    signatures that occur (None: as many as there are predicates); `span` is how many seconds (or
    integer units) of rows one job reads, over which the fixed cost of the job is spread (None:
    unbounded).
    """

    groups: float | Mapping[str, float] = 1.0
    fragments: float | None = None
    constants: Constants = field(default_factory=Constants)
    span: float | None = None

    def groups_of(self, keys: frozenset[str]) -> float:
        """The number of groups by these keys; without keys there is one group."""
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
"""A batch query alone in its tree runs as plain Spark if its overlap factor is at most this."""
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
"""Combines per slide of each final structure, given the number of slices in a window (FlatFIT
Table 1 and the cards of `engine.finals`)."""


@dataclass(frozen=True, eq=False)
class EngineCost:
    """CPU nanoseconds per unit of time, given groups, fragments and the final structure.

    A slice holds at most one partial per group and fragment, and at most one per row: n rows that
    fall at random into D cells fill `D * (1 - exp(-n / D))` of them. That depends on the edge
    rate, so searches use the model linearised at a reference; plans are priced by the full model.
    """

    linear: LinearCost
    rate: float
    cells: float
    constants: Constants
    jobs: float
    """Jobs per unit of time: one over the span of its rows, zero for an unbounded stream."""
    answers: Float64
    native: Float64
    """What each query costs as plain Spark, without its answers; infinite if that is ruled out."""

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

        It is linearised at the edge rate `reference`, by default that of a typical query.
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
        """The number of partials that the rows of a span of time produce."""
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
    """The number of partials in a slice: how many of `cells` the rows of one slice fill."""
    if edge_rate <= 0.0 or cells <= 0.0:
        return cells
    return cells * (1.0 - exp(-rate / edge_rate / cells))
