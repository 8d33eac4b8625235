"""The cheapest forest over a set of windows, updated as factor windows are added and dropped."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from weft.plan.coverage.cost import raw_instance_cost
from weft.plan.coverage.graph import Edges, Intp, edge_blocks
from weft.plan.coverage.min_cost import RAW, Choices, choose
from weft.plan.coverage.relation import Instances, Semantics
from weft.query.table import WindowTable
from weft.query.window import Window

Bool = npt.NDArray[np.bool_]


class Forest:
    """Every window's best upstream among the windows present, updated as factor windows change.

    The first `asked` windows stay; the others are factor windows and may be dropped. Law: at any
    time the choices are those that Algorithm 1 makes on the windows present. Because each
    window's second-best upstream is stored too, a change only visits the windows it affects.

    >>> forest = Forest(WindowTable(range=[20, 30, 40]), rate=1.0, semantics="partitioned")
    >>> round(forest.cost * 120)
    246
    >>> forest.add(WindowTable(range=[10]))
    >>> round(forest.cost * 120), forest.prune()
    (150, 0)
    """

    def __init__(
        self,
        windows: WindowTable,
        *,
        rate: float,
        semantics: Semantics,
        instances: Instances = "fewest",
    ) -> None:
        self.rate, self.semantics, self.instances = rate, semantics, instances
        self.asked = len(windows)
        self.table = windows
        self.present: Bool = np.ones(len(windows), dtype=np.bool_)
        self.choices = self._choose(windows)

    @property
    def cost(self) -> float:
        """The cost of all windows present, per unit of time."""
        rates = self.choices.cost / self.table.slide
        return math.fsum(rates[self.present].tolist())

    def nodes(self) -> Intp:
        """The windows present, by index."""
        return np.flatnonzero(self.present)

    def factors(self) -> tuple[Window, ...]:
        """The factor windows present."""
        return tuple(self.table[int(node)] for node in self.nodes() if node >= self.asked)

    def add(self, factors: WindowTable) -> None:
        """Add factor windows, none of them present already."""
        first, grown = len(self.table), _joined((self.table, factors))
        self.table = grown
        self.present = np.append(self.present, np.ones(len(factors), dtype=np.bool_))
        for edges in edge_blocks(factors, grown, self.semantics, self.instances):
            old = edges.window < first
            self._offer(Edges(edges.window[old], edges.upstream[old] + first, edges.count[old]))
        mine, new = self.choices, self._choose(factors)
        self.choices = Choices(
            best=np.append(mine.best, new.best),
            cost=np.append(mine.cost, new.cost),
            second=np.append(mine.second, new.second),
            second_cost=np.append(mine.second_cost, new.second_cost),
        )

    def drop(self, node: int) -> None:
        """Drop a factor window; the windows that it fed take their next best upstream."""
        self.present[node] = False
        mine = self.choices
        touched = np.flatnonzero(((mine.best == node) | (mine.second == node)) & self.present)
        again = self._choose(self.table.take(touched))
        mine.best[touched], mine.cost[touched] = again.best, again.cost
        mine.second[touched], mine.second_cost[touched] = again.second, again.second_cost

    def prune(self) -> int:
        """Drop factor windows that do not pay for themselves, worst first; return how many.

        Law: the cost does not rise, and dropping any one of those left would raise it.
        """
        dropped = 0
        while self.present[self.asked :].any():
            gains = self._gains_of_dropping()
            worst = int(gains.argmax())
            if gains[worst] < 0:
                break
            self.drop(self.asked + worst)
            dropped += 1
        return dropped

    def benefits(self, candidates: WindowTable) -> npt.NDArray[np.float64]:
        """For each candidate, how much the cost would fall if it were added.

        Law: this is exactly the fall in `cost` when only that candidate is added.
        """
        mine, slide = self.choices, self.table.slide
        saved = np.zeros(len(candidates))
        for edges in edge_blocks(candidates, self.table, self.semantics, self.instances):
            fall = mine.cost[edges.window] - edges.count
            fall = np.where(self.present[edges.window], np.maximum(fall, 0.0), 0.0)
            weights = fall / slide[edges.window]
            saved += np.bincount(edges.upstream, weights, minlength=len(candidates))
        return saved - self._choose(candidates).cost / candidates.slide

    def _gains_of_dropping(self) -> npt.NDArray[np.float64]:
        """For each factor window, the cost saved by dropping it (-inf: dropped already)."""
        mine, slide = self.choices, self.table.slide
        fed = np.flatnonzero(self.present & (mine.best >= self.asked))
        loss = np.bincount(
            mine.best[fed] - self.asked,
            (mine.second_cost[fed] - mine.cost[fed]) / slide[fed],
            minlength=len(self.table) - self.asked,
        )
        own = mine.cost[self.asked :] / slide[self.asked :]
        return np.where(self.present[self.asked :], own - loss, -np.inf)

    def _choose(self, windows: WindowTable) -> Choices:
        """The choices of `windows` among the windows present, by index into the whole table."""
        nodes = self.nodes()
        made = choose(
            self.table.take(nodes),
            windows,
            rate=self.rate,
            semantics=self.semantics,
            instances=self.instances,
        )
        # RAW is -1, so as an index it selects the entry appended at the end.
        whole = np.append(nodes, RAW)
        return Choices(whole[made.best], made.cost, whole[made.second], made.second_cost)

    def _offer(self, edges: Edges) -> None:
        """Give the windows of these edges the new upstream where it is cheaper."""
        mine = self.choices
        for upstream in np.unique(edges.upstream):
            mask = edges.upstream == upstream
            window, count = edges.window[mask], edges.count[mask].astype(np.float64)
            better = count < mine.cost[window]
            first, second = window[better], window[~better]
            mine.second[first], mine.second_cost[first] = mine.best[first], mine.cost[first]
            mine.best[first], mine.cost[first] = upstream, count[better]
            raw = raw_instance_cost(self.table.take(second), self.rate)
            next_best = (count[~better] < mine.second_cost[second]) & (count[~better] < raw)
            window = second[next_best]
            mine.second[window] = upstream
            mine.second_cost[window] = count[~better][next_best]


def _joined(tables: Iterable[WindowTable]) -> WindowTable:
    parts = list(tables)
    return WindowTable(
        range=np.concatenate([part.range for part in parts]),
        slide=np.concatenate([part.slide for part in parts]),
        offset=np.concatenate([part.offset for part in parts]),
        axis=parts[0].axis,
    )
