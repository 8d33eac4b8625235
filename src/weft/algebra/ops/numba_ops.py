"""Operations on numbers as types, so that Numba compiles and caches a loop for each one used.

A tag is an empty named tuple. Its class is a type to Numba, so `combine(tag, a, b)` in a loop is
resolved at compile time, and the next process finds the compiled code in the cache on disk (with a
function as an argument it would not). Partials are tuples with one number per column. A tag's own
columns may be followed by one more, the count of partials that were not null.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from numba import types, uint64
from numba.extending import overload


class Add(NamedTuple):
    """a + b"""


class Multiply(NamedTuple):
    """a * b"""


class Max(NamedTuple):
    """The greater; of doubles, NaN is the greatest."""


class Min(NamedTuple):
    """The smaller; of doubles, NaN is the greatest."""


class BitAnd(NamedTuple):
    """a & b"""


class BitOr(NamedTuple):
    """a | b"""


class BitXor(NamedTuple):
    """a ^ b"""


class Wide(NamedTuple):
    """128-bit sums as (low, high), and any number of counts after them."""


class Moments(NamedTuple):
    """(n, mean, m2), as `weft.algebra.moments` combines them."""


class Moments4(NamedTuple):
    """(n, mean, m2, m3, m4)."""


class Comoments(NamedTuple):
    """(n, mean x, mean y, c, m2 x, m2 y)."""


class Earliest(NamedTuple):
    """(seen, by, value...): the one with the smaller `by`, the older on a tie."""


class First(NamedTuple):
    """(seen, value...): the older if it has seen anything."""


class Last(NamedTuple):
    """(seen, value...): the newer if it has seen anything."""


class MaxBy(NamedTuple):
    """(seen, by, value...): the one with the greater `by`, the newer on a tie."""


class MinBy(NamedTuple):
    """(seen, by, value...): the one with the smaller `by`, the newer on a tie."""


class Join(NamedTuple):
    """(seen, low, high): joins two adjacent ranges of rows."""


def combine(tag: Any, older: Any, newer: Any) -> Any:
    """The combination of two partials; only within compiled code."""
    raise NotImplementedError("combine(tag, ...) exists in compiled code only")


def subtract(tag: Any, total: Any, oldest: Any) -> Any:
    """`total` without `oldest`; only within compiled code."""
    raise NotImplementedError("subtract(tag, ...) exists in compiled code only")


def load(c: Any, i: Any) -> Any:
    """The partial at row i of the columns c, a tuple of arrays; only within compiled code."""
    raise NotImplementedError("load(...) exists in compiled code only")


def save(c: Any, i: Any, v: Any) -> Any:
    """Write the partial v to row i of the columns c; only within compiled code."""
    raise NotImplementedError("save(...) exists in compiled code only")


def span(c: Any, i: Any, j: Any) -> Any:
    """Rows i up to j of the columns c, as separate columns; only within compiled code.

    Loops over them from 0 need no check for negative indexes, and two spans of one array are two
    arrays to the compiler, which can then vectorise the loop.
    """
    raise NotImplementedError("span(...) exists in compiled code only")


def one(tag: Any, a: Any, b: Any) -> Any:
    """A tag's operation on one number of each partial; only within compiled code."""
    raise NotImplementedError("one(...) exists in compiled code only")


def less(a: Any, b: Any) -> Any:
    """Whether a comes before b in Spark's order; only within compiled code."""
    raise NotImplementedError("less(...) exists in compiled code only")


@overload(less, strict=False)
def _less(a: Any, b: Any) -> Any:
    if isinstance(a, types.Float):
        return lambda a, b: a < b or (b != b and a == a)
    return lambda a, b: a < b


def _greater_float(tag: Any, a: Any, b: Any) -> Any:
    # One max instruction, and a select outside the chain of dependent instructions.
    most = b if b > a else a
    return b if b != b else most


def _smaller_float(tag: Any, a: Any, b: Any) -> Any:
    least = b if b < a else a
    return b if a != a else least


_ONE: dict[type, Callable[[Any, Any, Any], Any]] = {
    Add: lambda tag, a, b: a + b,
    Multiply: lambda tag, a, b: a * b,
    Max: lambda tag, a, b: b if b > a else a,
    Min: lambda tag, a, b: b if b < a else a,
    BitAnd: lambda tag, a, b: a & b,
    BitOr: lambda tag, a, b: a | b,
    BitXor: lambda tag, a, b: a ^ b,
}
_ONE_FLOAT = {**_ONE, Max: _greater_float, Min: _smaller_float}


@overload(one, strict=False)
def _one(tag: Any, a: Any, b: Any) -> Any:
    return (_ONE_FLOAT if isinstance(a, types.Float) else _ONE)[tag.instance_class]


def _wide(tag: Any, older: Any, newer: Any) -> Any:
    low = older[0] + newer[0]
    carry = 1 if low < older[0] else 0
    return (low, older[1] + newer[1] + carry)


def _moments(tag: Any, older: Any, newer: Any) -> Any:
    na, nb = older[0], newer[0]
    if na == 0:
        return newer
    if nb == 0:
        return older
    n, delta = na + nb, newer[1] - older[1]
    share = delta / n
    return (n, older[1] + share * nb, older[2] + newer[2] + delta * share * na * nb)


def _moments4(tag: Any, older: Any, newer: Any) -> Any:
    if older[0] == 0:
        return newer
    if newer[0] == 0:
        return older
    a, b = float(older[0]), float(newer[0])
    n, delta = older[0] + newer[0], newer[1] - older[1]
    share = delta / n
    m2 = older[2] + newer[2] + delta * share * a * b
    m3 = older[3] + newer[3] + share * share * delta * a * b * (a - b)
    m3 += 3.0 * share * (a * newer[2] - b * older[2])
    m4 = older[4] + newer[4]
    m4 += share * share * share * delta * a * b * (a * a - a * b + b * b)
    m4 += 6.0 * share * share * (a * a * newer[2] + b * b * older[2])
    m4 += 4.0 * share * (a * newer[3] - b * older[3])
    return (n, older[1] + share * b, m2, m3, m4)


def _comoments(tag: Any, older: Any, newer: Any) -> Any:
    na, nb = older[0], newer[0]
    if na == 0:
        return newer
    if nb == 0:
        return older
    n, dx, dy = na + nb, newer[1] - older[1], newer[2] - older[2]
    sx, sy = dx / n, dy / n
    return (
        n,
        older[1] + sx * nb,
        older[2] + sy * nb,
        older[3] + newer[3] + dx * sy * na * nb,
        older[4] + newer[4] + dx * sx * na * nb,
        older[5] + newer[5] + dy * sy * na * nb,
    )


def _max_by(tag: Any, older: Any, newer: Any) -> Any:
    if newer[0] == 0 or (older[0] != 0 and less(newer[1], older[1])):
        return older
    return newer


def _min_by(tag: Any, older: Any, newer: Any) -> Any:
    if newer[0] == 0 or (older[0] != 0 and less(older[1], newer[1])):
        return older
    return newer


def _earliest(tag: Any, older: Any, newer: Any) -> Any:
    if older[0] == 0 or (newer[0] != 0 and less(newer[1], older[1])):
        return newer
    return older


def _join(tag: Any, older: Any, newer: Any) -> Any:
    if older[0] == 0 or newer[0] == 0:
        return newer if older[0] == 0 else older
    return (older[0], older[1], newer[2])


# By class of the tag: its combine, and the number of its own columns.
_JOINT: dict[type, tuple[Callable[[Any, Any, Any], Any], int]] = {
    Wide: (_wide, 2),
    Moments: (_moments, 3),
    Moments4: (_moments4, 5),
    Comoments: (_comoments, 6),
    First: (lambda tag, older, newer: older if older[0] != 0 else newer, 0),
    Last: (lambda tag, older, newer: newer if newer[0] != 0 else older, 0),
    MaxBy: (_max_by, 0),
    MinBy: (_min_by, 0),
    Earliest: (_earliest, 0),
    Join: (_join, 3),
}


@overload(combine, strict=False)
def _combine(tag: Any, older: Any, newer: Any) -> Any:
    width = len(older)
    if tag.instance_class not in _JOINT:
        if width == 1:
            return lambda tag, older, newer: (one(tag, older[0], newer[0]),)
        return lambda tag, older, newer: (one(tag, older[0], newer[0]), older[1] + newer[1])
    joint, own = _JOINT[tag.instance_class]
    if tag.instance_class is Wide and width == 3:

        def wide_counted(tag: Any, older: Any, newer: Any) -> Any:
            low = older[0] + newer[0]
            carry = 1 if low < older[0] else 0
            return (low, older[1] + newer[1] + carry, older[2] + newer[2])

        return wide_counted
    if own not in (0, width):
        return None  # Numba reports that no such combination is known
    return joint


@overload(subtract, strict=False)
def _subtract(tag: Any, total: Any, oldest: Any) -> Any:
    kind, width = tag.instance_class, len(total)
    if kind is Add and width == 1:
        return lambda tag, total, oldest: (total[0] - oldest[0],)
    if kind is Add:
        return lambda tag, total, oldest: (total[0] - oldest[0], total[1] - oldest[1])
    if kind is BitXor and width == 1:
        return lambda tag, total, oldest: (total[0] ^ oldest[0],)
    if kind is BitXor:
        return lambda tag, total, oldest: (total[0] ^ oldest[0], total[1] - oldest[1])
    if kind is Wide and width == 3:

        def wide(tag: Any, total: Any, oldest: Any) -> Any:
            borrow = 1 if total[0] < oldest[0] else 0
            high = total[1] - oldest[1] - borrow
            return (total[0] - oldest[0], high, total[2] - oldest[2])

        return wide
    return None


# Row numbers are never negative; as unsigned integers they need no check for that.
_LOAD: dict[int, Callable[[Any, Any], Any]] = {
    1: lambda c, i: (c[0][uint64(i)],),
    2: lambda c, i: (c[0][uint64(i)], c[1][uint64(i)]),
    3: lambda c, i: (c[0][uint64(i)], c[1][uint64(i)], c[2][uint64(i)]),
    4: lambda c, i: (c[0][uint64(i)], c[1][uint64(i)], c[2][uint64(i)], c[3][uint64(i)]),
    5: lambda c, i: (
        c[0][uint64(i)],
        c[1][uint64(i)],
        c[2][uint64(i)],
        c[3][uint64(i)],
        c[4][uint64(i)],
    ),
    6: lambda c, i: (
        c[0][uint64(i)],
        c[1][uint64(i)],
        c[2][uint64(i)],
        c[3][uint64(i)],
        c[4][uint64(i)],
        c[5][uint64(i)],
    ),
}


def _save1(c: Any, i: Any, v: Any) -> Any:
    c[0][uint64(i)] = v[0]


def _save2(c: Any, i: Any, v: Any) -> Any:
    at = uint64(i)
    c[0][at], c[1][at] = v[0], v[1]


def _save3(c: Any, i: Any, v: Any) -> Any:
    at = uint64(i)
    c[0][at], c[1][at], c[2][at] = v[0], v[1], v[2]


def _save4(c: Any, i: Any, v: Any) -> Any:
    at = uint64(i)
    c[0][at], c[1][at], c[2][at], c[3][at] = v[0], v[1], v[2], v[3]


def _save5(c: Any, i: Any, v: Any) -> Any:
    at = uint64(i)
    c[0][at], c[1][at], c[2][at], c[3][at], c[4][at] = v[0], v[1], v[2], v[3], v[4]


def _save6(c: Any, i: Any, v: Any) -> Any:
    at = uint64(i)
    c[0][at], c[1][at], c[2][at], c[3][at], c[4][at] = v[0], v[1], v[2], v[3], v[4]
    c[5][at] = v[5]


_SAVE = {1: _save1, 2: _save2, 3: _save3, 4: _save4, 5: _save5, 6: _save6}


@overload(load, strict=False)
def _load(c: Any, i: Any) -> Any:
    return _LOAD.get(len(c))


@overload(save, strict=False)
def _save(c: Any, i: Any, v: Any) -> Any:
    return _SAVE.get(len(c))


_SPAN: dict[int, Callable[[Any, Any, Any], Any]] = {
    1: lambda c, i, j: (c[0][i:j],),
    2: lambda c, i, j: (c[0][i:j], c[1][i:j]),
    3: lambda c, i, j: (c[0][i:j], c[1][i:j], c[2][i:j]),
    4: lambda c, i, j: (c[0][i:j], c[1][i:j], c[2][i:j], c[3][i:j]),
    5: lambda c, i, j: (c[0][i:j], c[1][i:j], c[2][i:j], c[3][i:j], c[4][i:j]),
    6: lambda c, i, j: (c[0][i:j], c[1][i:j], c[2][i:j], c[3][i:j], c[4][i:j], c[5][i:j]),
}


@overload(span, strict=False)
def _span(c: Any, i: Any, j: Any) -> Any:
    return _SPAN.get(len(c))
