"""F1 (CIKM'15 section 3): inclusion and exclusion over groups of progressions.

    E = sum over groups of (-1)^(size + 1) / lcm(group), without groups that do not overlap

Groups are enumerated depth first. A group grows only by progressions that pass the overlap check
with each of its members, so that no superset of a group that does not overlap is ever formed.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from numba import njit

from weft.errors import BudgetError
from weft.plan.edges.gcd_table import Int32, look_up
from weft.plan.edges.progressions import Int64, Progressions
from weft.plan.edges.rate import Rate

GROUPS = 20_000_000
"""Default limit of the groups that F1 forms: some seconds."""
_EXACT_GROUPS = 200_000  # big integers are a hundred times slower
_LARGEST = 2**62


def f1_rate(
    edges: Progressions,
    table: Int32 | None = None,
    budget: int | None = None,
    *,
    fractions: bool = False,
) -> Rate:
    """The edge rate by F1, with a GCD table or without; `BudgetError` past `budget` groups.

    >>> round(f1_rate(Progressions.of_arrays([0] * 5, [2, 3, 4, 5, 6])).value * 60)
    44
    """
    name = "f1" if table is None else "f1_table"
    if fractions:
        terms, groups = f1_terms(edges.offset.tolist(), edges.step.tolist(), budget, name)
        total = sum((-1) ** size * term for size, term in enumerate(terms))
        return Rate(Fraction(total), "inclusion-exclusion", groups).per(edges.unit)
    limit = GROUPS if budget is None else budget
    value, groups = f1_sum(
        edges.offset, edges.step, np.empty(0, np.int32) if table is None else table, limit
    )
    if value < 0.0:
        raise _past(name, limit, len(edges))
    return Rate(value, "inclusion-exclusion", groups).per(edges.unit)


def f1_terms(
    offset: list[int], step: list[int], budget: int | None = None, name: str = "f1"
) -> tuple[list[Fraction], int]:
    """The sums G(n, 1), G(n, 2), ... of 1/lcm over the groups of each size, and the group count.

    Does not clean the progressions: repetitions and multiples count, as in the paper's examples.

    >>> terms, groups = f1_terms([0] * 5, [2, 3, 4, 5, 6])
    >>> [int(term * 60) for term in terms]  # F1 example 3
    [87, 70, 36, 10, 1]
    """
    n, groups = len(step), 0
    limit = _EXACT_GROUPS if budget is None else budget
    terms = [Fraction(0)] * n
    # A group is its size, its lcm, and the progressions that may still join it.
    waiting = [(1, step[i], i, list(range(i + 1, n))) for i in range(n)]
    while waiting:
        size, lcm, last, candidates = waiting.pop()
        groups += 1
        if groups > limit:
            raise _past(name, limit, n)
        terms[size - 1] += Fraction(1, lcm)
        able = [
            j for j in candidates if (offset[j] - offset[last]) % math.gcd(step[j], step[last]) == 0
        ]
        for at, j in enumerate(able):
            waiting.append((size + 1, math.lcm(lcm, step[j]), j, able[at + 1 :]))
    while terms and not terms[-1]:
        terms.pop()
    return terms, groups


def _past(name: str, limit: int, n: int) -> BudgetError:
    return BudgetError(
        f"method={name!r} formed more than budget={limit:,} groups of {n:,} progressions; "
        f"method='exact' would do it"
    )


@njit(cache=True, error_model="numpy")
def f1_sum(offset: Int64, step: Int64, table: Int32, budget: int) -> tuple[float, int]:
    """`union_rate` by F1, for compiled searches: the rate and the groups, -1 past the budget.

    With an empty table every GCD is computed.

    >>> rate, groups = f1_sum(np.array([0, 0]), np.array([2, 3]), np.empty(0, np.int32), 100)
    >>> round(rate * 6), groups
    (4, 3)
    """
    n = len(step)
    if n * (n - 1) // 2 > budget:  # the overlap check alone looks at every pair
        return -1.0, n * (n - 1) // 2
    overlap = _overlaps(offset, step, table)
    # Level d of the stack holds a group of d members; those in able[begin[d]:end[d]] may join it.
    able = np.empty(n * (n + 1) // 2 + 1, np.int64)
    begin, end = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    member = np.zeros(n + 1, np.int64)
    lcm = np.ones(n + 1, np.int64)
    inverse = np.ones(n + 1, np.float64)
    for j in range(n):
        able[j] = j
    end[0] = n
    d, groups, total = 0, 0, 0.0
    while d >= 0:
        if begin[d] == end[d]:
            d -= 1
            continue
        j = able[begin[d]]
        begin[d] += 1
        groups += 1
        if groups > budget:
            return -1.0, groups
        if lcm[d] > 0:
            common = look_up(table, lcm[d], step[j])
        else:  # the lcm is too long for a word: gcd(lcm(s), t) is the lcm of gcd(s, t)
            common = 1
            for k in range(1, d + 1):
                part = look_up(table, step[member[k]], step[j])
                if common % part:
                    common = common // look_up(table, common, part) * part
        share = inverse[d] * common / step[j]
        total += share if d % 2 == 0 else -share
        top = end[d]
        for k in range(begin[d], end[d]):
            if overlap[j, able[k]]:
                able[top] = able[k]
                top += 1
        if top > end[d]:
            begin[d + 1], end[d + 1] = end[d], top
            member[d + 1], inverse[d + 1] = j, share
            more = step[j] // common
            lcm[d + 1] = lcm[d] * more if lcm[d] <= _LARGEST // more else 0
            d += 1
    return total, groups


@njit(cache=True, error_model="numpy")
def _overlaps(offset: Int64, step: Int64, table: Int32) -> npt.NDArray[np.bool_]:
    """The overlap check (F1 equation 4) of every pair."""
    n = len(step)
    overlap = np.empty((n, n), np.bool_)
    for i in range(n):
        for j in range(i, n):
            common = look_up(table, step[i], step[j])
            overlap[i, j] = overlap[j, i] = (offset[i] - offset[j]) % common == 0
    return overlap
