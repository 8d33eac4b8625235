"""What a search returns: which query goes to which tree, and how that was found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from weft.plan.cost import LinearCost

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]


@dataclass(frozen=True)
class SearchReport:
    """How a search went."""

    strategy: str
    edges: str
    """The method that counted the edges."""
    evaluations: int
    """Edge rates computed, not counting those of pairs of queries, which have a formula."""
    merges: int
    """Merges of two trees that were kept."""
    iterations: int
    """Rounds of the search's own loop; each strategy's docstring says what one is."""
    seconds: float
    stop_reason: str
    exact: bool
    """False where the search used an edge rate that was sampled."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Grouping:
    """A partition of the queries into trees, with the edge rate of each tree.

    >>> report = SearchReport("no_share", "exact", 0, 0, 0, 0.0, "nothing to search", True)
    >>> grouping = Grouping(np.array([0, 1, 0]), np.array([0.25, 0.2]), report)
    >>> cost = LinearCost(fixed=1.2, per_edge=0.0, weight=np.array([4.0, 2.0, 2.0]))
    >>> round(grouping.cost(cost), 9)
    4.3
    """

    labels: Int64
    """The tree of each query; trees are numbered 0, 1, ... by their first query."""
    edge_rate: Float64
    """Edges per unit of time of each tree."""
    report: SearchReport

    def __len__(self) -> int:
        return len(self.edge_rate)

    def tree_weight(self, cost: LinearCost) -> Float64:
        """The summed weight of each tree's queries."""
        summed = np.bincount(self.labels, weights=cost.weight, minlength=len(self))
        return summed.astype(np.float64, copy=False)

    def cost(self, cost: LinearCost) -> float:
        """What the plan costs per unit of time."""
        trees = cost.fixed + self.edge_rate * (cost.per_edge + self.tree_weight(cost))
        return float(trees.sum())


def number_by_first(labels: Int64) -> tuple[Int64, Int64]:
    """Renumber labels by first appearance; also return the new number of each old label.

    >>> number_by_first(np.array([7, 2, 7, 0]))
    (array([0, 1, 0, 2]), array([ 2, -1, 1, -1, -1, -1, -1, 0]))
    """
    most = int(labels.max()) + 1 if labels.size else 0
    first = np.full(most, labels.size, dtype=np.int64)
    # Assigned backwards, so that the earliest position is the one that remains.
    first[labels[::-1]] = np.arange(labels.size - 1, -1, -1)
    used = np.flatnonzero(first < labels.size)
    moved = np.full(most, -1, dtype=np.int64)
    moved[used[np.argsort(first[used], kind="stable")]] = np.arange(used.size)
    return moved[labels], moved
