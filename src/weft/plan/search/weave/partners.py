"""Finds the trees that can gain from any merge at all, without looking at all pairs.

In a workload of 400,000 distinct edge sets there are 80 billion pairs, and at low rates hardly
any of them saves anything. Trees of equal step and number of progressions form a *shelf*, sorted
by weight. The common edges of two progressions have a rate of at most 1/lcm of their steps, and
scores fall with weight. So most pairs of shelves are ruled out by their lightest trees, and the
search of the others stops at the first pair that is too heavy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import njit

from weft.plan.edges.arithmetic import gcd
from weft.plan.search.trees import Trees

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]

LOOKS = 20_000_000
"""Pairs looked at before giving up: with more candidates than this, most trees have partners."""


@dataclass(frozen=True, eq=False)
class Shelves:
    """Trees of one class each, by step and number of progressions, the lightest first."""

    member: Int64
    """The trees, shelf by shelf."""
    start: Int64
    """Where each shelf begins in `member`, and the end of the last."""
    step: Int64
    count: Int64
    """The progressions of each of its trees: one or two."""

    @classmethod
    def of(cls, trees: Trees) -> Shelves:
        """Sort trees onto shelves.

        >>> from weft.plan.search.classes import collapse
        >>> from weft.query.table import WindowTable
        >>> table = WindowTable(range=[30, 10, 12, 11], slide=[10, 5, 10, 10])
        >>> shelves = Shelves.of(Trees.of_classes(collapse(table, table.overlap), 0.0))
        >>> shelves.member, shelves.start, shelves.step, shelves.count
        (array([1, 0, 3, 2]), array([0, 1, 2, 4]), array([ 5, 10, 10]), array([1, 1, 2]))
        """
        count = np.where(trees.low == trees.high, 1, 2)
        member = np.lexsort((trees.weight, count, trees.step))
        steps, counts = trees.step[member], count[member]
        new = np.ones(len(member), dtype=np.bool_)
        new[1:] = (np.diff(steps) != 0) | (np.diff(counts) != 0)
        first = np.flatnonzero(new)
        return cls(member, np.append(first, len(member)), steps[first], counts[first])


def with_partners(trees: Trees, shelves: Shelves, least: float) -> Bool | None:
    """Which trees have a pair that scores more than `least`; None if that takes too long."""
    has = np.zeros(len(trees), dtype=np.bool_)
    looks = _with_partners(
        shelves.member, shelves.start, shelves.step, shelves.count,
        trees.low, trees.high, trees.weight, trees.per_edge, least, has,
    )  # fmt: skip
    return has if looks <= LOOKS else None


@njit(cache=True, error_model="numpy")
def _with_partners(
    member: Int64,
    start: Int64,
    step: Int64,
    count: Int64,
    low: Int64,
    high: Int64,
    weight: Float64,
    per_edge: float,
    least: float,
    has: Bool,
) -> int:
    looks = 0
    shelves = len(step)
    for a in range(shelves):
        rate_a, light_a = float(count[a]) / step[a], weight[member[start[a]]]
        for b in range(a, shelves):
            rate_b, light_b = float(count[b]) / step[b], weight[member[start[b]]]
            common = min(rate_a, rate_b)
            if _score(rate_a, rate_b, common, light_a, light_b, per_edge) <= least:
                continue
            g = gcd(step[a], step[b])
            shared = float(g) / (float(step[a]) * step[b])
            if step[a] == step[b]:  # distinct classes of one step share one progression at most
                common = shared if count[a] + count[b] > 2 else 0.0
            else:
                common = min(common, count[a] * count[b] * shared)
            for x in range(start[a], start[a + 1]):
                i = member[x]
                if _score(rate_a, rate_b, common, weight[i], light_b, per_edge) <= least:
                    break
                for y in range(x + 1 if a == b else start[b], start[b + 1]):
                    j = member[y]
                    if _score(rate_a, rate_b, common, weight[i], weight[j], per_edge) <= least:
                        break
                    looks += 1
                    if has[i] and has[j]:
                        continue
                    met = int((low[i] - low[j]) % g == 0)
                    if low[i] != high[i]:
                        met += (high[i] - low[j]) % g == 0
                    if low[j] != high[j]:
                        met += (low[i] - high[j]) % g == 0
                        if low[i] != high[i]:
                            met += (high[i] - high[j]) % g == 0
                    both = met * shared
                    if _score(rate_a, rate_b, both, weight[i], weight[j], per_edge) > least:
                        has[i] = True
                        has[j] = True
                if looks > LOOKS:
                    return looks
    return looks


@njit(cache=True, error_model="numpy")
def _score(
    rate_x: float, rate_y: float, common: float, weight_x: float, weight_y: float, per_edge: float
) -> float:
    """What merging saves apart from `fixed`, given the rate of the common edges."""
    return per_edge * common - weight_x * (rate_y - common) - weight_y * (rate_x - common)


def join(trees: Trees, tree: int, singles: Trees, shelves: Shelves, least: float) -> Int64:
    """Which of the single-class trees on the shelves may score more than `least` with a tree.

    Uses the bound of `bound_all`, so that no such tree is missed.
    """
    offset, step = trees.progressions(tree)
    found = np.zeros(len(singles), dtype=np.bool_)
    _join(
        offset, step, trees.rate[tree], trees.weight[tree],
        shelves.member, shelves.start, shelves.step, shelves.count,
        singles.low, singles.high, singles.weight, trees.per_edge, least, found,
    )  # fmt: skip
    return np.flatnonzero(found)


@njit(cache=True, error_model="numpy")
def _join(
    offset: Int64,
    steps: Int64,
    rate: float,
    heft: float,
    member: Int64,
    start: Int64,
    step: Int64,
    count: Int64,
    low: Int64,
    high: Int64,
    weight: Float64,
    per_edge: float,
    least: float,
    found: Bool,
) -> None:
    for b in range(len(step)):
        rate_b, light = float(count[b]) / step[b], weight[member[start[b]]]
        most = min(rate, rate_b)
        if _score(rate, rate_b, most, heft, light, per_edge) <= least:
            continue
        common = 0.0
        for p in range(len(steps)):
            common += float(gcd(steps[p], step[b])) / (float(steps[p]) * step[b])
        common = min(most, common * count[b])
        for y in range(start[b], start[b + 1]):
            j = member[y]
            if _score(rate, rate_b, common, heft, weight[j], per_edge) <= least:
                break
            both = 0.0
            for p in range(len(steps)):
                g = gcd(steps[p], step[b])
                met = int((offset[p] - low[j]) % g == 0)
                if low[j] != high[j]:
                    met += (offset[p] - high[j]) % g == 0
                both += met * float(g) / (float(steps[p]) * step[b])
            if _score(rate, rate_b, min(most, both), heft, weight[j], per_edge) > least:
                found[j] = True
