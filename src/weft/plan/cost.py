"""What a tree costs, apart from how trees are searched for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Float64 = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LinearCost:
    """The cost per unit of time of a tree t with edge rate E_t:

        fixed + E_t * (per_edge + sum of weight[q] over the tree's queries q)

    Every model of ours has this form, which is all that a search needs to know. The paper's
    (WeaveShare eq. 1) is `fixed = lambda`, `per_edge = 0`, `weight[q] = range_q / slide_q`.
    """

    fixed: float
    per_edge: float
    weight: Float64

    def tree(self, edge_rate: float, weight: float) -> float:
        """The cost of one tree, given its edge rate and its queries' summed weight."""
        return self.fixed + edge_rate * (self.per_edge + weight)


def paper_cost(overlap: Float64, rate: float) -> LinearCost:
    """WeaveShare equation 3: aggregate operations per unit of time at `rate` rows per unit.

    >>> cost = paper_cost(np.array([4.0, 2.0]), rate=1.2)
    >>> cost.tree(edge_rate=0.25, weight=6.0)
    2.7
    """
    return LinearCost(fixed=rate, per_edge=0.0, weight=np.asarray(overlap, dtype=np.float64))
