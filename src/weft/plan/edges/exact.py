"""The exact density that a set of progressions covers, by restriction, compiled.

A weighted progression (a, s, w) covers each instant x = a mod s with probability w, independently
of all others. Weights make the problem small: only the part of the step s that other steps share
matters, and the rest becomes weight. With m the least common multiple of gcd(s, t) over the other
steps t, (a, s, w) may be replaced by (a mod m, m, w * m / s), because by the Chinese remainder
theorem the remaining digits of x meet no other progression.

    cover(S) = product rule over components that share no factor
    cover(component) = sum over i of w_i / s_i * (1 - cover(S_1 .. S_{i-1} restricted to S_i))

Only non-negative terms are added, so that small rates keep their digits. The recursion runs on
explicit stacks: Numba's cache does not keep recursive functions safely.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from weft.plan.edges.arithmetic import INNER, gcd, restrict

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]

_DEPTH = 128  # every level uses up a prime digit; a deeper recursion exceeds any budget
_ENTER, _NEXT, _LEAVE = 0, 1, 2
_ROOM = 24  # arena entries per progression; more than enough, and checked
_FEW = 4
_MANY = 8_192  # most entries of one component: tidying takes quadratic time
_MORE = 100_000  # and for sets so large that most of the recursion is over after the first split


@njit(**INNER)
def tidy(off: Int64, step: Int64, weight: Float64, lo: int, hi: int) -> int:
    """Sort [lo, hi) by step and offset, merge equals, drop what is covered; return the new end."""
    gap = 1
    while gap < (hi - lo) // 3:
        gap = 3 * gap + 1
    while gap > 0:  # Shell's sort: in place, and quick on the short runs that are usual here
        for i in range(lo + gap, hi):
            a, s, w = off[i], step[i], weight[i]
            j = i - gap
            while j >= lo and (step[j] > s or (step[j] == s and off[j] > a)):
                off[j + gap], step[j + gap], weight[j + gap] = off[j], step[j], weight[j]
                j -= gap
            off[j + gap], step[j + gap], weight[j + gap] = a, s, w
        gap //= 3
    kept = lo
    for i in range(lo, hi):
        a, s, w = off[i], step[i], weight[i]
        if kept > lo and step[kept - 1] == s and off[kept - 1] == a:
            weight[kept - 1] += w * (1.0 - weight[kept - 1])
            continue
        fresh, j = True, lo
        while fresh and j < kept and step[j] < s:
            fresh = weight[j] < 1.0 or s % step[j] != 0 or a % step[j] != off[j]
            j += 1
        if fresh:
            off[kept], step[kept], weight[kept] = a, s, w
            kept += 1
    return kept


@njit(**INNER)
def _closed(off: Int64, step: Int64, weight: Float64, lo: int, hi: int) -> float:
    """The density of [lo, hi) where a formula gives it (up to three, or one step), else -1."""
    if step[lo] == step[hi - 1]:
        total = 0.0
        for i in range(lo, hi):
            total += weight[i]
        return float(total / step[lo])
    if hi - lo > 3:
        return -1.0
    x, y = weight[lo] / step[lo], weight[lo + 1] / step[lo + 1]
    # How much likelier an edge of one is where the other has one: gcd if they overlap, else 0.
    xy = gcd(step[lo], step[lo + 1])
    meet_xy = (off[lo] - off[lo + 1]) % xy == 0
    covered = x + y * (1.0 - x * xy) if meet_xy else x + y
    if hi - lo == 2:
        return float(covered)
    z = weight[lo + 2] / step[lo + 2]
    xz, yz = gcd(step[lo], step[lo + 2]), gcd(step[lo + 1], step[lo + 2])
    meet_xz = (off[lo] - off[lo + 2]) % xz == 0
    meet_yz = (off[lo + 1] - off[lo + 2]) % yz == 0
    free = 1.0
    if meet_xz:
        free -= x * xz
    if meet_yz:
        free -= y * yz
        if meet_xz and meet_xy:
            free += x * y * xy * (xz // gcd(xz, yz) * yz)
    return float(covered + z * max(free, 0.0))


@njit(**INNER)
def _root(parent: Int64, i: int) -> int:
    while parent[i] != i:
        i = parent[i]
    return i


@njit(**INNER)
def _split(
    off: Int64, step: Int64, weight: Float64, shared: Int64, parent: Int64, lo: int, hi: int
) -> tuple[float, int]:
    """Split the tidy [lo, hi) into independent components, reduced to the factors they share.

    Return the density covered by components that have a closed form, and the end of the others,
    which are written from `hi` on; at the first entry of each, `parent` holds its end. The density
    is -1 if a component has too many entries.
    """
    if hi == lo:
        return 0.0, hi
    whole = _closed(off, step, weight, lo, hi)
    if whole >= 0.0:
        return whole, hi
    # One entry per distinct step (equal steps are adjacent) represents its group; the next group's
    # entry is stored n places further, in space that is still unused.
    n, groups, first = hi - lo, 0, lo
    for i in range(lo, hi):
        if i > lo and step[i] == step[i - 1]:
            parent[i] = first
            shared[first] = step[first]
        else:
            parent[first + n] = i
            first, groups = i, groups + 1
            parent[i], shared[i] = i, 1
    parent[first + n] = hi
    if groups > _MANY:
        return -1.0, hi
    i = parent[lo + n]
    while i < hi:
        j = lo
        while j < i:
            x, y = _root(parent, i), _root(parent, j)
            if x != y or shared[i] != step[i] or shared[j] != step[j]:
                common = gcd(step[i], step[j])
                if common > 1:
                    if shared[i] % common:
                        shared[i] = shared[i] // gcd(shared[i], common) * common
                    if shared[j] % common:
                        shared[j] = shared[j] // gcd(shared[j], common) * common
                    parent[max(x, y)] = min(x, y)
            j = parent[j + n]
        i = parent[i + n]
    # Link each component's entries into a list: the successor of entry i is stored at i + n.
    for i in range(lo, hi):
        if i > lo and step[i] == step[i - 1]:
            shared[i] = shared[i - 1]
        first = _root(parent, i)
        if first != i:
            shared[parent[first + n] + n] = i
        parent[first + n] = i
        shared[i + n] = -1
    covered, top = 0.0, hi
    for first in range(lo, hi):
        if parent[first] != first:
            continue
        start, i, last = top, first, first
        while i >= 0:
            off[top], step[top], weight[top] = off[i] % shared[i], shared[i], weight[i]
            if shared[i] != step[i]:
                weight[top] *= shared[i] / step[i]
            top += 1
            i, last = shared[i + n], i
        if top - start > _MANY and step[first] != step[last]:
            return -1.0, hi
        top = tidy(off, step, weight, start, top)
        part = _closed(off, step, weight, start, top)
        if part >= 0.0:
            covered += part * (1.0 - covered)
            top = start
        else:
            parent[start] = top
    return covered, top


@njit(**INNER)
def _restrict_all(
    off: Int64, step: Int64, weight: Float64, lo: int, i: int, top: int
) -> tuple[float, int]:
    """Write [lo, i) restricted to progression i, tidied, from `top` on.

    Return the probability that an instant is covered by none of those that cover all of i, and
    the end.
    """
    free, end = 1.0, top
    for j in range(lo, i):
        a, s = restrict(off[j], step[j], off[i], step[i])
        if s == 1:
            free *= 1.0 - weight[j]
            if free == 0.0:
                return free, top
        elif s > 1:
            off[end], step[end], weight[end] = a, s, weight[j]
            end += 1
    return free, tidy(off, step, weight, top, end)


@njit(cache=True, error_model="numpy")
def merged_rate(
    rate_x: float, off_x: Int64, step_x: Int64, off_y: Int64, step_y: Int64, budget: int
) -> tuple[float, int]:
    """The edge rate of x and y together, given x's, and the nodes used; -1 past the budget.

    Both are cleaned. Each of a few progressions in y adds its instants that neither x nor y's
    earlier progressions cover; pass the smaller tree as y.

    >>> x, y, none = np.array([2]), np.array([3]), np.array([0])
    >>> round(merged_rate(0.5, none, x, none, y, 1000)[0] * 6)
    4
    """
    nx, ny = len(step_x), len(step_y)
    n = nx + ny
    size = min(n * min(n + 3, _ROOM), 3 * n + _MORE)
    off, step, weight = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size)
    shared, parent = np.empty(size, np.int64), np.empty(size, np.int64)
    for i in range(nx):
        off[i], step[i], weight[i] = off_x[i], step_x[i], 1.0
    for i in range(ny):
        off[nx + i], step[nx + i], weight[nx + i] = off_y[i], step_y[i], 1.0
    # A stack frame is a list of components, the current one, and its current progression.
    at = np.empty(_DEPTH, np.int64)
    start = np.empty(_DEPTH, np.int64)
    stop = np.empty(_DEPTH, np.int64)
    done = np.empty(_DEPTH, np.float64)
    total = np.empty(_DEPTH, np.float64)
    factor = np.empty(_DEPTH, np.float64)
    depth, nodes, mode = -1, 0, _ENTER
    lo, hi, part = n - n, n, 0.0
    if nx and n > _MANY:
        return -1.0, nodes
    if nx and ny > _FEW:  # computing one set from scratch is faster than many restrictions
        hi = tidy(off, step, weight, lo, n)
    elif nx:  # as if x and y were one component, summed as far as x
        depth, mode = 0, _NEXT
        at[0], start[0], stop[0], done[0], total[0] = nx, 0, n, 0.0, rate_x
        parent[0] = n
    while True:
        if mode == _ENTER:  # the set [lo, hi)
            nodes += 1
            part, end = _split(off, step, weight, shared, parent, lo, hi)
            if part < 0.0:
                return -1.0, nodes
            if end == hi:
                mode = _LEAVE
                continue
            depth += 1
            if nodes > budget or depth == _DEPTH:
                return -1.0, nodes
            at[depth], start[depth], stop[depth] = hi, hi, end
            done[depth], total[depth] = part, 0.0
            mode = _NEXT
        elif mode == _LEAVE:  # a set that covers `part` of the current progression
            if depth < 0:
                return part, nodes
            i = at[depth]
            total[depth] += weight[i] / step[i] * factor[depth] * (1.0 - part)
            at[depth] += 1
            mode = _NEXT
        else:  # to the next progression, component or frame
            i, first, end = at[depth], start[depth], stop[depth]
            if i < parent[first]:
                if end + 2 * (i - first) > len(step):
                    return -1.0, nodes
                factor[depth], hi = _restrict_all(off, step, weight, first, i, end)
                if factor[depth] > 0.0:
                    lo, mode = end, _ENTER
                else:
                    at[depth] += 1
                continue
            done[depth] += total[depth] * (1.0 - done[depth])
            if i < end:
                start[depth], total[depth] = i, 0.0
                continue
            part, depth, mode = done[depth], depth - 1, _LEAVE
