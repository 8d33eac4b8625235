"""Queries with equal edges, collapsed into classes before any search."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import njit

from weft.plan.cost import LinearCost
from weft.query.table import WindowTable

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Classes:
    """The distinct edge sets of a workload, numbered by their first query.

    Queries with equal edges always belong in one tree. Let two queries of one class be in trees A
    and B with `E_A <= E_B`: moving the second to A leaves E_A unchanged and E_B no larger, so it
    never costs more. A greedy search, too, merges them before it merges either with anything else,
    because no other merge of either saves more.

    Times are counted in `unit`s, the greatest common divisor of all steps and distances, so that
    windows given in microseconds are as cheap to handle as those given in seconds.

    >>> table = WindowTable(range=[16, 10, 8, 6], slide=[4, 5, 4, 4])
    >>> classes = collapse(table, np.array([4.0, 2.0, 2.0, 1.5]))
    >>> classes.of_query, classes.weight, classes.rate
    (array([0, 1, 0, 2]), array([6. , 2. , 1.5]), array([0.25, 0.2 , 0.5 ]))
    """

    of_query: Int64
    """The class of each query."""
    low: Int64
    """The smaller offset of each class's progressions, in units."""
    high: Int64
    """The larger offset; equal to `low` where there is only one progression."""
    step: Int64
    """The step of each class's one or two progressions, in units."""
    weight: Float64
    """The summed weight of each class's queries."""
    first: Int64
    """The first query of each class."""
    unit: int

    def __len__(self) -> int:
        return len(self.step)

    @property
    def rate(self) -> Float64:
        """Edges per unit of time of each class."""
        return np.where(self.low == self.high, 1.0, 2.0) / self.step


def collapse(table: WindowTable, weight: Float64, *, equal: bool = True) -> Classes:
    """Group the queries by their set of edges.

    With `equal=False` each query is a separate class, as in the papers' algorithms.
    """
    n = len(table)
    of_query, low, high, step, first = np.empty((5, n), dtype=np.int64)
    summed = np.zeros(n)
    slots = np.full(1 << (2 * n + 14).bit_length(), -1, dtype=np.int32)
    # Numba compiles it once, for writable arrays, and a broadcast offset is read-only.
    k = _collapse(
        np.require(table.range, requirements=["C", "W"]),
        np.require(table.slide, requirements=["C", "W"]),
        np.require(table.offset, requirements=["C", "W"]),
        np.require(weight, np.float64, ["C", "W"]),
        equal, slots, of_query, low, high, step, first, summed,
    )  # fmt: skip
    low, high, step, first, summed = (x[:k].copy() for x in (low, high, step, first, summed))
    unit, origin = 1, 0
    if len(step):
        # Moving the origin changes no rate, and removes a common phase from the divisor.
        origin = int(low[0])
        unit = int(np.gcd.reduce(np.concatenate([step, low - origin, high - origin])))
    if unit > 1:
        step = step // unit
        low, high = (low - origin) // unit % step, (high - origin) // unit % step
        low, high = np.minimum(low, high), np.maximum(low, high)
    return Classes(of_query, low, high, step, summed, first, unit)


def tolerance(classes: Classes, cost: LinearCost) -> float:
    """Savings that differ by no more than this tie: 1e-12 of the cost of the classes' edges."""
    return 1e-12 * float((classes.rate * (cost.per_edge + classes.weight)).sum())


@njit(cache=True, error_model="numpy")
def _collapse(
    range_: Int64,
    slide: Int64,
    offset: Int64,
    weight: Float64,
    equal: bool,
    slots: npt.NDArray[np.int32],
    of_query: Int64,
    low: Int64,
    high: Int64,
    step: Int64,
    first: Int64,
    summed: Float64,
) -> int:
    """Fill the last six arrays, using an open-addressing hash table; return the class count."""
    mask = len(slots) - 1
    classes = 0
    for i in range(len(slide)):
        s = slide[i]
        a = offset[i] % s
        b = (a + range_[i]) % s
        if a > b:
            a, b = b, a
        if 2 * (b - a) == s:  # two progressions that interleave evenly are one
            s = b - a
            a %= s
            b = a
        key = (s * 0x9E3779B1 + a) * 0x85EBCA77 + b
        key ^= key >> 29
        at = (key * 0x9E3779B1) & mask if equal else i
        while slots[at] >= 0:
            c = slots[at]
            if step[c] == s and low[c] == a and high[c] == b:
                break
            at = (at + 1) & mask
        if slots[at] < 0:
            slots[at] = classes
            low[classes], high[classes], step[classes] = a, b, s
            first[classes] = i
            classes += 1
        of_query[i] = slots[at]
        summed[of_query[i]] += weight[i]
    return classes
