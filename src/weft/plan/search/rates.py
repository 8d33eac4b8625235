"""Computes edge rates for searches, by one method, and counts the work."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from numba import njit

from weft.errors import BudgetError, PlanError
from weft.plan.edges.kernels import clean, hard_rate, merged_rate, union_rate
from weft.plan.search.classes import Classes
from weft.plan.search.trees import FORBIDDEN, Progressions, Trees, union
from weft.query.progressions import clean_arrays

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]

EDGES = ("exact", "f1", "f1_table", "bitset")
NODES = 10_000
"""Nodes of the recursion after which elimination is tried, and then sampling."""
GROUPS = 20_000_000
"""Most groups that F1 may form for one rate."""
HARD = 2_000
"""Hard rates after which a weaving stops computing more and leaves trees unmerged."""
WORK = 100_000_000
"""Nodes after which a weaving leaves trees unmerged: a minute or two."""
BITS = 2**31
"""Ticks that a bit set may span: 256 MiB."""
_MOST_WORK, _LEAST_WORK, _ALL_WORK = 500_000_000, 20_000_000, 8_000_000_000
_MANY = 1_000  # with more progressions, cleaning pair by pair is too slow


@dataclass(eq=False)
class Rates:
    """Computes the edge rates of trees, in units of their classes, and counts.

    >>> rates = Rates()
    >>> round(rates.of_set(np.array([0, 0, 0]), np.array([2, 3, 5])) * 30), rates.evaluations
    (22, 1)
    """

    edges: str = "exact"
    evaluations: int = 0
    work: int = 0
    """Nodes, groups or bits, as the method counts them."""
    sampled: int = 0
    hard: int = 0
    """Rates that the recursion could not compute."""
    hard_work: int = 0
    """Cells and instants that the hard rates took."""
    refused: int = 0
    """Merges that were not considered because too many rates had been hard."""
    estimates: set[float] = field(default_factory=set)
    """The rates that were sampled, to be measured more precisely if they stay in the plan."""
    _table: npt.NDArray[np.int32] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.edges not in EDGES:
            raise PlanError(f"edges={self.edges!r}: accepted are {', '.join(map(repr, EDGES))}")
        if self.edges in ("f1", "f1_table"):
            from weft.plan.edges.gcd_table import gcd_table

            self._table = gcd_table() if self.edges == "f1_table" else gcd_table(0)[:0]

    def of_set(self, offset: Int64, step: Int64) -> float:
        """The edge rate of a cleaned set of progressions."""
        self.evaluations += 1
        if self.edges == "exact":
            rate, work = union_rate(offset, step, NODES)
            if rate < 0.0:
                return self._hard(offset, step)
        elif self.edges == "bitset":
            from weft.plan.edges.bitset import bitset_count

            rate, work = bitset_count(offset, step, BITS)
        else:
            from weft.plan.edges.f1 import f1_sum

            rate, work = f1_sum(offset, step, self._table, GROUPS)
        self.work += work
        if rate < 0.0:
            raise BudgetError(
                f"edges={self.edges!r} ran past its budget on a tree of {len(step):,} "
                f"progressions; edges='exact' would do it"
            )
        return float(rate)

    def together(self, trees: Trees, i: int, j: int, low: float = 0.0) -> float:
        """The edge rate of two trees together, which is known to be at least `low`.

        `FORBIDDEN` once the budget of nodes or of hard rates is spent: the trees are not merged.
        """
        if self.edges == "exact" and self.work > WORK:
            self.refused += 1
            return FORBIDDEN
        x, y = trees.progressions(i), trees.progressions(j)
        return self.added(trees.rate[i], x, trees.rate[j], y, low, HARD)

    def added(
        self,
        rate_x: float,
        x: Progressions,
        rate_y: float,
        y: Progressions,
        low: float = 0.0,
        most_hard: int = 2**62,
    ) -> float:
        """The edge rate of two sets together, given those of each."""
        if self.edges != "exact":
            return self.of_set(*union(x, y))
        self.evaluations += 1
        if len(x[0]) >= len(y[0]):
            rate, work = merged_rate(rate_x, *x, *y, NODES)
        else:
            rate, work = merged_rate(rate_y, *y, *x, NODES)
        self.work += work
        if rate < 0.0 and self.hard >= most_hard:
            self.refused += 1
            return FORBIDDEN
        if rate < 0.0:
            return self._hard(*union(x, y), low, min(rate_x + rate_y, 1.0))
        return max(float(rate), low)

    def of_trees(self, classes: Classes, of_query: Int64, trees: int) -> Float64:
        """The edge rate of each tree, given the tree of each query."""
        pairs = np.unique(of_query * len(classes) + classes.of_query)
        tree, member = pairs // max(len(classes), 1), pairs % max(len(classes), 1)
        low, high, step = classes.low[member], classes.high[member], classes.step[member]
        two = low != high
        count = np.bincount(tree, weights=1 + two, minlength=trees).astype(np.int64)
        beyond = np.cumsum(count)
        # The first progression of each class is at `at`; the second, if any, follows it.
        at = np.cumsum(1 + two) - 1 - two
        offset, steps = np.empty((2, int(count.sum())), dtype=np.int64)
        offset[at], steps[at] = low, step
        offset[at[two] + 1], steps[at[two] + 1] = high[two], step[two]
        rate = np.full(trees, -1.0)
        alone = np.bincount(tree, minlength=trees) == 1
        rate[alone] = (count / np.maximum(steps[beyond - count], 1))[alone]
        if self.edges == "exact":
            self.evaluations += int((~alone & (count <= _MANY)).sum())
            self.work += _of_trees(beyond, offset, steps, NODES, rate)
        for left in np.flatnonzero(rate < 0.0):
            here = slice(beyond[left] - count[left], beyond[left])
            tidy = clean if count[left] <= _MANY else clean_arrays
            rate[left] = self.of_set(*tidy(offset[here], steps[here]))
        return rate

    def notes(self) -> tuple[str, ...]:
        """Notes on the rates, for the report."""
        said = []
        if self.sampled:
            said.append(f"{self.sampled:,} edge rates were too hard to compute and were sampled")
        if self.refused:
            said.append(
                f"{self.refused:,} merges were not considered: the search had already computed "
                f"{self.hard:,} hard edge rates, and {self.work:,} nodes of others"
            )
        return tuple(said)

    def better(self, trees: Trees) -> None:
        """Measure the sampled rates of the final trees again, with the full default budget."""
        for tree in np.flatnonzero(np.isin(trees.rate, list(self.estimates))):
            trees.rate[tree] = hard_rate(*trees.progressions(int(tree))).value

    def _hard(self, offset: Int64, step: Int64, low: float = 0.0, high: float = 1.0) -> float:
        # The first hard rates may take seconds each; later ones get less of the budget.
        work = max(_LEAST_WORK, min(_MOST_WORK, (_ALL_WORK - self.hard_work) // 16))
        rate = hard_rate(offset, step, work=work)
        self.hard += 1
        self.hard_work += rate.work
        value = min(max(float(rate), low), high)
        if not rate.exact:
            self.sampled += 1
            self.estimates.add(value)
        return value


@njit(cache=True, error_model="numpy")
def _of_trees(beyond: Int64, offset: Int64, step: Int64, nodes: int, rate: Float64) -> int:
    """Fill in the rates that are negative and not too hard; return the number of nodes."""
    work = 0
    start = 0
    for tree in range(len(rate)):
        stop = beyond[tree]
        if rate[tree] < 0.0 and stop - start <= _MANY:
            off, steps = clean(offset[start:stop], step[start:stop])
            rate[tree], used = union_rate(off, steps, nodes)
            work += used
        start = stop
    return work
