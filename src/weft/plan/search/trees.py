"""Trees while a search merges them, as arrays that compiled code works on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from weft.plan.edges.kernels import clean
from weft.plan.search.classes import Classes

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]
Progressions = tuple[Int64, Int64]
"""Offsets and steps, cleaned."""

FORBIDDEN = 1e150
"""The rate of two trees that may not merge: so high that merging never pays."""
GONE = -1e300
"""The charge of a tree that was merged away: no merge with it pays."""


def union(x: Progressions, y: Progressions) -> Progressions:
    """The progressions of two sets together, cleaned.

    >>> union((np.array([0]), np.array([4])), (np.array([0]), np.array([2])))
    (array([0]), array([2]))
    """
    # `kernels.merge` is fully compiled; this leaves less to compile before the first plan.
    offset, step = clean(np.concatenate([x[0], y[0]]), np.concatenate([x[1], y[1]]))
    return offset, step


@dataclass(eq=False)
class Trees:
    """Trees by number, in order of their first queries.

    Times are in units of the classes. There may be as many trees as classes, so the fields that
    every tree has are arrays; only trees of several classes have an entry in `woven`.
    """

    rate: Float64
    """Edges per unit of time, E."""
    weight: Float64
    """The summed weight of its queries, w."""
    charge: Float64
    """What its edges cost, `E * (per_edge + w)`; GONE once the tree was merged away."""
    anchor: Int64
    """The smallest step of its progressions with offset 0; 0 if it has none."""
    low: Int64
    high: Int64
    step: Int64
    """Its one or two progressions, as in `Classes`; with a step of 0 they are in `woven`."""
    woven: dict[int, Progressions]
    per_edge: float

    @classmethod
    def of_classes(cls, classes: Classes, per_edge: float) -> Trees:
        """One tree per class.

        >>> from weft.plan.search.classes import collapse
        >>> from weft.query.table import WindowTable
        >>> table = WindowTable(range=[4, 3], slide=[2, 9])
        >>> trees = Trees.of_classes(collapse(table, table.overlap), 0.0)
        >>> trees.rate * 18, trees.progressions(1)
        (array([9., 4.]), (array([0, 3]), array([9, 9])))
        """
        return cls(
            rate=classes.rate,
            weight=classes.weight.copy(),
            charge=classes.rate * (per_edge + classes.weight),
            anchor=np.where(classes.low == 0, classes.step, 0),
            low=classes.low.copy(),
            high=classes.high.copy(),
            step=classes.step.copy(),
            woven={},
            per_edge=per_edge,
        )

    def __len__(self) -> int:
        return len(self.rate)

    def progressions(self, tree: int) -> Progressions:
        """A tree's progressions."""
        step = self.step[tree]
        if step == 0:
            return self.woven[tree]
        low, high = self.low[tree], self.high[tree]
        offsets = [low] if low == high else [low, high]
        return np.array(offsets), np.full(len(offsets), step)

    def unite(self, i: int, j: int, rate: float) -> None:
        """Merge tree j into tree i; together they have this edge rate."""
        self.absorb(i, self.progressions(j), self.weight[j], rate)
        self.woven.pop(j, None)
        self.charge[j] = GONE

    def absorb(self, i: int, parts: Progressions, weight: float, rate: float) -> None:
        """Add progressions and weight to tree i, which then has this edge rate."""
        offset, step = union(self.progressions(i), parts)
        self.woven[i] = (offset, step)
        self.step[i] = 0
        self.rate[i] = rate
        self.weight[i] += weight
        self.charge[i] = rate * (self.per_edge + self.weight[i])
        through = step[offset == 0]
        self.anchor[i] = through[0] if len(through) else 0

    def take(self, keep: Int64) -> Trees:
        """Only these trees, in this order."""
        rows = np.flatnonzero(self.step[keep] == 0)
        return Trees(
            rate=self.rate[keep],
            weight=self.weight[keep],
            charge=self.charge[keep],
            anchor=self.anchor[keep],
            low=self.low[keep],
            high=self.high[keep],
            step=self.step[keep],
            woven={int(row): self.woven[int(keep[row])] for row in rows},
            per_edge=self.per_edge,
        )

    def put(self, places: Int64, others: Trees) -> None:
        """Replace the trees at these places by others."""
        for mine, theirs in (
            (self.rate, others.rate),
            (self.weight, others.weight),
            (self.charge, others.charge),
            (self.anchor, others.anchor),
            (self.low, others.low),
            (self.high, others.high),
            (self.step, others.step),
        ):
            mine[places] = theirs
        for tree, parts in others.woven.items():
            self.woven[int(places[tree])] = parts

    def alive(self) -> Int64:
        """The numbers of the trees that were not merged away."""
        return np.flatnonzero(self.charge != GONE).astype(np.int64)
