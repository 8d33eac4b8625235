"""A finished coverage plan: a forest of windows computed from one another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from weft.errors import PlanError, QueryError
from weft.plan.coverage.cost import PeriodCost, check_rate, cost_rate, period_cost
from weft.plan.coverage.explain import explain_lines, walk
from weft.plan.coverage.link import Link, link
from weft.plan.coverage.relation import Instances, Semantics, check_semantics
from weft.query.window import Window

VERSION = 1


@dataclass(frozen=True)
class CoverageReport:
    """How the plan was found: candidates tried, time taken, and why the search stopped."""

    strategy: str
    """`coverage`, `factor` (algorithm 2) or `greedy`: where the returned forest comes from."""
    seconds: float
    coverage_cost: float
    """The cost of the cheapest forest without factor windows."""
    evaluations: int
    """Factor windows that were tried on the whole forest."""
    rounds: int
    stop: str


@dataclass(frozen=True)
class CoveragePlan:
    """A forest: each window is computed from the raw stream or from another window's answers.

    Equal windows are one node. `index[i]` is the node of the i-th window given. Requested nodes
    come first, in the order given; the others are `factors`. Law: an upstream feeds its window
    under `semantics`, and no window feeds itself, not even indirectly.
    Costs and rates are inputs (rows or pieces) per unit of the axis: per microsecond on a time
    axis, as `rate` is in rows per unit.

    >>> from weft.plan.coverage.weave import weave_coverage
    >>> plan = weave_coverage(
    ...     [Window(range=r) for r in (20, 30, 40)], rate=1.0, semantics="partitioned", factors=True
    ... )
    >>> plan.upstream, plan.factors, plan.windows[3]
    ((3, 3, 0, None), (3,), Window(range=10, slide=10))
    >>> print(plan.links[2])
    Link(first=0, step=20, count=2, last=20)
    """

    windows: tuple[Window, ...]
    upstream: tuple[int | None, ...]
    factors: tuple[int, ...]
    index: tuple[int, ...]
    links: tuple[Link | None, ...]
    """Per window, which instances of its upstream make up one of its own (None: raw rows do)."""
    cost: float
    rates: tuple[float, ...]
    """Per window, what it costs per unit of time; `cost` is their sum."""
    rate: float
    semantics: Semantics
    instances: Instances
    report: CoverageReport = field(compare=False)

    @classmethod
    def of(
        cls,
        windows: Sequence[Window],
        upstream: Sequence[int | None],
        index: Sequence[int],
        *,
        rate: float,
        semantics: Semantics,
        instances: Instances,
        report: CoverageReport,
    ) -> CoveragePlan:
        """The plan of a forest: computes its links and costs, and checks its law."""
        rate = check_rate(rate)
        check_semantics(semantics, instances)
        _check_forest(len(windows), upstream, index)
        links = tuple(
            None
            if up is None
            else link(windows[up], window, semantics=semantics, instances=instances)
            for window, up in zip(windows, upstream, strict=True)
        )
        rates = tuple(
            float(cost_rate(window, found.count if found else None, rate))
            for window, found in zip(windows, links, strict=True)
        )
        asked = set(index)
        return cls(
            windows=tuple(windows),
            upstream=tuple(upstream),
            factors=tuple(node for node in range(len(windows)) if node not in asked),
            index=tuple(index),
            links=links,
            cost=math.fsum(rates),
            rates=rates,
            rate=rate,
            semantics=semantics,
            instances=instances,
            report=report,
        )

    @property
    def pieces(self) -> tuple[int | None, ...]:
        """Per window, how many upstream instances make up one of its own (None: raw rows do)."""
        return tuple(found.count if found else None for found in self.links)

    @property
    def asked(self) -> tuple[int, ...]:
        """The nodes that were requested, once each."""
        return tuple(dict.fromkeys(sorted(self.index)))

    @property
    def cost_without_sharing(self) -> float:
        """What the requested windows would cost if each were computed from the raw stream."""
        given = (self.windows[node] for node in self.index)
        return math.fsum(float(cost_rate(window, None, self.rate)) for window in given)

    def per_period(self) -> PeriodCost:
        """The plan's cost in the paper's terms, which count instances in a common period."""
        return period_cost(self.windows, self.pieces, self.asked, self.rate)

    def downstream(self, node: int | None) -> tuple[int, ...]:
        """The windows computed from `node`, or from the raw stream (None)."""
        return tuple(low for low, up in enumerate(self.upstream) if up == node)

    def topological_order(self) -> tuple[int, ...]:
        """All windows, each after the one that it is computed from."""
        return tuple(node for node, _, _ in walk(self.upstream))

    def by_depth(self) -> list[list[int]]:
        """The windows by depth: how many other windows are between them and the rows.

        >>> from weft.plan.coverage.weave import weave_coverage
        >>> tens = [Window(range=r) for r in (10, 20, 30, 60)]
        >>> weave_coverage(tens, rate=1.0, semantics="partitioned", factors=False).by_depth()
        [[0], [1, 2], [3]]
        """
        found: list[list[int]] = []
        for node, above, _ in walk(self.upstream):
            if len(above) == len(found):
                found.append([])
            found[len(above)].append(node)
        return found

    def to_dict(self) -> dict[str, Any]:
        """The plan as JSON values, versioned; `from_dict` reads it back."""
        return {
            "version": VERSION,
            "windows": [window.to_dict() for window in self.windows],
            "upstream": list(self.upstream),
            "factors": list(self.factors),
            "index": list(self.index),
            "links": [found.to_dict() if found else None for found in self.links],
            "cost": self.cost,
            "rates": list(self.rates),
            "rate": self.rate,
            "semantics": self.semantics,
            "instances": self.instances,
            "report": asdict(self.report),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> CoveragePlan:
        """Read what `to_dict` wrote; links and costs are recomputed."""
        version = data.get("version")
        if version != VERSION:
            raise PlanError(f"version={version!r} of a coverage plan is unknown: {VERSION} is read")
        try:
            return cls.of(
                [Window.from_dict(window) for window in data["windows"]],
                data["upstream"],
                data["index"],
                rate=data["rate"],
                semantics=data["semantics"],
                instances=data["instances"],
                report=CoverageReport(**data["report"]),
            )
        except (KeyError, TypeError, QueryError) as error:
            raise PlanError(f"a stored coverage plan cannot be read: {error!r}") from error

    def explain_lines(self) -> list[str]:
        """The forest as lines of text: what feeds what, with how many pieces, and what it costs.

        >>> from weft.plan.coverage.weave import weave_coverage
        >>> tens = [Window(range=r) for r in (10, 20, 30)]
        >>> plan = weave_coverage(tens, rate=1.0, semantics="partitioned", factors=False)
        >>> print(*plan.explain_lines(), sep="\\n")
        3 windows, partitioned: cost 1.2 per unit, 60.0% below 3 without sharing
        └── Window(range=10, slide=10) from rows: cost 1
            ├── Window(range=20, slide=20) from 2 pieces: cost 0.1
            └── Window(range=30, slide=30) from 3 pieces: cost 0.1
        """
        return explain_lines(self)


def _check_forest(size: int, upstream: Sequence[int | None], index: Sequence[int]) -> None:
    """Refuse indexes out of range, and cycles of upstreams."""
    if len(upstream) != size:
        raise PlanError(f"upstream has {len(upstream)} entries for {size} windows")
    fed: list[int | None] = [node for node in upstream if node is not None]
    for name, nodes in (("upstream", fed), ("index", list(index))):
        for node in nodes:
            if type(node) is not int or not 0 <= node < size:
                raise PlanError(
                    f"{name}={node!r} is not a window: windows are numbered 0 to {size - 1}"
                )
    settled: set[int | None] = {None}
    for node in range(size):
        path: list[int | None] = []
        at: int | None = node
        while at not in settled:
            if at in path:
                raise PlanError(f"window {at} feeds itself: upstream has a cycle")
            path.append(at)
            at = upstream[at] if at is not None else None
        settled.update(path)
