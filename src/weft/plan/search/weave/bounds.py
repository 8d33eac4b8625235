"""Lower bounds of the edge rates of merged trees, cheap enough to compute for every pair.

The bounds of all pairs i < j are in one array, the upper triangle of a matrix row by row:
`bound[row[i] + j]` is a lower bound of the edge rate of trees i and j together, or, if negative,
minus the exact rate.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from weft.plan.edges.arithmetic import gcd
from weft.plan.search.trees import FORBIDDEN, GONE, Trees

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]

SAME = 1e-14
"""Rates within this relative difference count as equal, because their last digits vary."""

_FLOAT_EXACT = 2**51
_SMALL = 100  # up to so many trees NumPy is as fast, and a first plan waits for less compilation
_LARGE = 2**62
_FEW = 64  # more pairs of progressions than this are not worth a bound by pairs


def rows(trees: int) -> Int64:
    """Where each row of the triangle begins, minus the number of columns that it lacks.

    >>> rows(4)  # entries (0,1) (0,2) (0,3) (1,2) (1,3) (2,3)
    array([-1,  1,  2,  2])
    """
    i = np.arange(trees, dtype=np.int64)
    return i * (2 * trees - i - 1) // 2 - i - 1


def bound_all(trees: Trees, opened: Bool | None = None) -> Float64:
    """The bounds of all pairs; with `opened`, pairs of two trees that are not open are forbidden.

    >>> from weft.plan.search.classes import collapse
    >>> from weft.query.table import WindowTable
    >>> table = WindowTable(range=[12, 10], slide=[9, 6])  # WeaveShare example 2
    >>> bound_all(Trees.of_classes(collapse(table, table.overlap), 0.0)) * 18
    array([-8.])
    """
    n = len(trees)
    bound = np.empty(n * (n - 1) // 2, dtype=np.float64)
    single = trees.step > 0
    if opened is None and single.all() and n <= _SMALL:
        return _bound_few(trees)
    if opened is None and single.all() and trees.step.max(initial=0) < _FLOAT_EXACT:
        steps, kind = np.unique(trees.step, return_inverse=True)
        order = np.argsort(kind, kind="stable")
        low, high = trees.low.astype(np.float64), trees.high.astype(np.float64)
        _bound_classes(bound, rows(n), low, high, steps, kind, order, trees.rate)
        return bound
    if opened is None:
        opened = np.ones(n, dtype=np.bool_)
    parts = [trees.progressions(tree) for tree in range(n)]
    start = np.cumsum([0] + [len(step) for _, step in parts])
    offset = np.concatenate([offset for offset, _ in parts])
    step = np.concatenate([step for _, step in parts])
    _bound_trees(bound, rows(n), start, offset, step, trees.rate, opened)
    return bound


def _bound_few(trees: Trees) -> Float64:
    """All pairs of classes, in closed form: common edges of two progressions have rate 1/lcm."""
    i, j = np.triu_indices(len(trees), 1)
    low_i, high_i, low_j, high_j = trees.low[i], trees.high[i], trees.low[j], trees.high[j]
    common = np.gcd(trees.step[i], trees.step[j])
    two_i, two_j = low_i != high_i, low_j != high_j
    met = ((low_i - low_j) % common == 0).astype(np.float64)
    met += two_i & ((high_i - low_j) % common == 0)
    met += two_j & ((low_i - high_j) % common == 0)
    met += two_i & two_j & ((high_i - high_j) % common == 0)
    rate_i, rate_j = trees.rate[i], trees.rate[j]
    both = rate_i + rate_j - met * (common / trees.step[i]) / trees.step[j]
    found: Float64 = -np.maximum(both, np.maximum(rate_i, rate_j))
    return found


@njit(cache=True, error_model="numpy", fastmath={"nnan", "nsz"})
def _bound_classes(
    bound: Float64,
    row: Int64,
    low: Float64,
    high: Float64,
    steps: Int64,
    kind: Int64,
    order: Int64,
    rate: Float64,
) -> None:
    """`_bound_few` for many.

    Rows with the same step are adjacent, so that divisors are computed once per step. The
    divisibility tests use floating point, which is exact here and can be vectorised.
    """
    n = len(kind)
    if n < 2:
        return
    common = np.empty(len(steps), np.float64)
    inverse = np.empty(len(steps), np.float64)
    shared = np.empty(len(steps), np.float64)
    # The position of each number among the steps, unless they are too sparse for such a list.
    place = np.full(steps[-1] + 1 if steps[-1] < 16 * len(steps) else 0, -1, np.int64)
    for k in range(len(steps) if len(place) else 0):
        place[steps[k]] = k
    last = -1
    for i in order:
        if kind[i] != last:
            last = kind[i]
            _divisors(steps, steps[last], place, common)
            for k in range(len(steps)):
                inverse[k] = 1.0 / common[k]
                shared[k] = common[k] / (float(steps[last]) * steps[k])
        low_i, high_i, rate_i = low[i], high[i], rate[i]
        two_i = 1.0 if low_i != high_i else 0.0
        at = row[i]
        for j in range(i + 1, n):
            g, per = common[kind[j]], inverse[kind[j]]
            low_j, high_j = low[j], high[j]
            two_j = 1.0 if low_j != high_j else 0.0
            met = _divides(g, per, low_i - low_j)
            met += two_i * _divides(g, per, high_i - low_j)
            met += two_j * _divides(g, per, low_i - high_j)
            met += two_i * two_j * _divides(g, per, high_i - high_j)
            both = rate_i + rate[j] - met * shared[kind[j]]
            bound[at + j] = -max(both, rate_i, rate[j])


@njit(cache=True, error_model="numpy")
def _divisors(steps: Int64, step: int, place: Int64, common: Float64) -> None:
    """The greatest common divisor of one step with each; by multiples if `place` is given."""
    if len(place) == 0:
        for k in range(len(steps)):
            common[k] = gcd(step, steps[k])
        return
    common[:] = 1.0
    for small in range(1, int(np.sqrt(step)) + 1):
        if step % small:
            continue
        for divisor in (small, step // small):
            for multiple in range(divisor, len(place), divisor):
                k = place[multiple]
                if k >= 0:
                    common[k] = max(common[k], float(divisor))


@njit(cache=True, error_model="numpy")
def _divides(g: float, inverse: float, distance: float) -> float:
    return 1.0 if distance - np.rint(distance * inverse) * g == 0.0 else 0.0


@njit(cache=True, error_model="numpy")
def _bound_trees(
    bound: Float64,
    row: Int64,
    start: Int64,
    offset: Int64,
    step: Int64,
    rate: Float64,
    opened: Bool,
) -> None:
    """All pairs of trees, by `E >= E_i + E_j - sum of what pairs of progressions share`.

    The bound is exact if each tree has only one step: then no instant is in two of those pairs.
    """
    n = len(rate)
    for i in range(n):
        for j in range(i + 1, n):
            if not (opened[i] or opened[j]):
                bound[row[i] + j] = FORBIDDEN
                continue
            low = max(rate[i], rate[j])
            if (start[i + 1] - start[i]) * (start[j + 1] - start[j]) > _FEW:
                bound[row[i] + j] = low
                continue
            common = 0.0
            for x in range(start[i], start[i + 1]):
                for y in range(start[j], start[j + 1]):
                    g = gcd(step[x], step[y])
                    if (offset[x] - offset[y]) % g == 0:
                        common += 1.0 / (float(step[x] // g) * step[y])
            both = max(low, rate[i] + rate[j] - common)
            one_i = step[start[i]] == step[start[i + 1] - 1]  # they are sorted by step
            one_j = step[start[j]] == step[start[j + 1] - 1]
            bound[row[i] + j] = -both if one_i and one_j else both


@njit(cache=True, error_model="numpy")
def rebound(
    bound: Float64,
    row: Int64,
    row_best: Float64,
    i: int,
    j: int,
    rate: Float64,
    weight: Float64,
    charge: Float64,
    anchor: Int64,
    before: tuple[float, float, int, int],
    per_edge: float,
) -> None:
    """Bound the pairs of tree i after tree j > i was merged into it.

    `before` holds the rates and anchors of i and j as they were. With k any third tree,
    `E_ijk = E_ij + E_ik + E_jk - E_i - E_j - E_k + (what is common to all three)`, and what is
    common includes a progression through 0 if all three have one.
    """
    rate_i, rate_j, anchor_i, anchor_j = before
    rate_ij = rate[i]
    contains_j = rate_ij <= rate_i * (1.0 + SAME)
    contains_i = rate_ij <= rate_j * (1.0 + SAME)
    through = 0
    if anchor_i > 0 and anchor_j > 0:
        through = anchor_i // gcd(anchor_i, anchor_j)
        # A common multiple too large for an integer is too rare to count.
        through = through * anchor_j if through < _LARGE // anchor_j else 0
    row_best[j] = GONE
    best = GONE
    for k in range(len(rate)):
        if k == i or charge[k] == GONE:
            continue
        rate_k = rate[k]
        at = row[i] + k if i < k else row[k] + i
        with_i = bound[at]
        with_j = bound[row[j] + k if j < k else row[k] + j]
        if with_i == FORBIDDEN:
            with_i = max(rate_i, rate_k)
        if with_j == FORBIDDEN:
            with_j = max(rate_j, rate_k)
        low_i, low_j = abs(with_i), abs(with_j)
        if contains_j or (with_j < 0.0 and low_j <= rate_k * (1.0 + SAME)):
            both = with_i  # j adds nothing to i, or nothing to k
        elif contains_i or (with_i < 0.0 and low_i <= rate_k * (1.0 + SAME)):
            both = with_j
        elif (with_i < 0.0 and low_i <= rate_i * (1.0 + SAME)) or (
            with_j < 0.0 and low_j <= rate_j * (1.0 + SAME)
        ):
            both = -rate_ij  # k adds nothing to i, or nothing to j
        else:
            three = rate_ij + low_i + low_j - rate_i - rate_j - rate_k
            if through > 0 and anchor[k] > 0:
                three += float(gcd(through, anchor[k])) / (float(through) * anchor[k])
            both = max(rate_ij, low_i, low_j, three)
        bound[at] = both
        score = charge[i] + charge[k] - abs(both) * (per_edge + weight[i] + weight[k])
        if k > i:
            best = max(best, score)
        else:
            row_best[k] = max(row_best[k], score)
    row_best[i] = best
