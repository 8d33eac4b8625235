"""How often each value occurs: kind `counts`, for exact percentiles and the mode.

A partial is a list of pairs of value and count, sorted by value: its size depends on the number of
distinct values, not of rows. All NaN are one value, the greatest; -0.0 is 0.0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from weft.algebra.lowering import Columns
from weft.algebra.monoid import Component, Laws, Monoid, Partial
from weft.algebra.part import Option
from weft.algebra.values import order_key


def _lift(value: Any) -> Partial:
    return (() if value is None else ((value, 1),),)


def _add(older: Partial, newer: Partial) -> Partial:
    counts: dict[Any, tuple[Any, int]] = {}
    for value, n in (*older[0], *newer[0]):
        first, known = counts.get(order_key(value), (value, 0))
        counts[order_key(value)] = (first, known + n)
    return (tuple(counts[key] for key in sorted(counts)),)


# Entries sorted by value (`s`), the positions where a value begins (`b`), and the sum of each run.
# Lambdas over one-element arrays bind names, because SQL expressions have no local variables.
_COUNTED = (
    "transform(array(sort_array({entries})), s -> transform(array(filter("
    "slice(sequence(0, size(s)), 1, size(s)), "
    "i -> NOT (get(s, i).value <=> get(s, i - 1).value))), "
    "b -> transform(b, (i, j) -> named_struct('value', get(s, i).value, 'n', aggregate("
    "slice(s, i + 1, coalesce(get(b, j + 1), size(s)) - i), 0L, (a, e) -> a + e.n))))[0])[0]"
)
_OF_ROWS = "transform(collect_list({0}){where}, v -> named_struct('value', v, 'n', 1L))"

COUNTS = Monoid(
    kind="counts",
    laws=Laws(commutative=True, invertible=False, idempotent=False),
    components=(Component("counts", "counts"),),
    identity=((),),
    lift=_lift,
    combine=_add,
    partial_sql=(_COUNTED.replace("{entries}", _OF_ROWS),),
    merge_sql=(_COUNTED.replace("{entries}", "flatten(collect_list({counts}))"),),
    bounded=False,
    note="distinct values, each with how often it came; in order",
)
MONOIDS = (COUNTS,)

Counts = Sequence[tuple[Any, int]]


def lower_percentile(partial: Partial, options: Sequence[Option], *, discrete: bool) -> Any:
    """The values at some ranks of the sorted values; null if there are none.

    Options are `value` or `array`, `ASC` or `DESC`, and the ranks from 0 to 1.

    >>> lower_percentile((((1.0, 1), (5.0, 2)),), ("value", "ASC", 0.25), discrete=False)
    3.0
    """
    shape, direction, *ranks = options
    counts = partial[0] if direction == "ASC" else partial[0][::-1]
    if not counts:
        return None
    total = sum(n for _, n in counts)
    found = [
        _discrete(counts, total, float(rank))
        if discrete
        else _interpolated(counts, (total - 1) * float(rank))
        for rank in ranks
    ]
    return found if shape == "array" else found[0]


def _interpolated(counts: Counts, position: float) -> Any:
    low, high = _at(counts, math.floor(position)), _at(counts, math.ceil(position))
    if low == high:
        return low
    # The formula of Spark 4.3; the difference shows for infinities.
    return low + (position - math.floor(position)) * (high - low)


def _discrete(counts: Counts, total: int, rank: float) -> Any:
    """The first value such that at least this share of the values is at or before it."""
    return _at(counts, max(0, math.ceil(total * rank) - 1))


def _at(counts: Counts, place: int) -> Any:
    """The value at a position (from 0) of the sorted values."""
    for value, n in counts:
        place -= n
        if place < 0:
            return value
    return counts[-1][0]


_PLACE = (
    "aggregate({counts}, named_struct('v', get({counts}, 0).value, 'seen', 0L), "
    "(a, e) -> CASE WHEN a.seen > {place} THEN a "
    "ELSE named_struct('v', e.value, 'seen', a.seen + e.n) END, a -> a.v)"
)
_TOTAL = "aggregate({counts}, 0L, (a, e) -> a + e.n)"


def percentile_sql(columns: Columns, options: Sequence[Option], *, discrete: bool) -> str:
    """`lower_percentile` in Spark SQL."""
    shape, direction, *ranks = options
    counts = columns[0][0] if direction == "ASC" else f"reverse({columns[0][0]})"
    total = _TOTAL.format(counts=counts)
    if discrete:
        position = f"greatest(0L, ceil({total} * r) - 1L)"
        value = _PLACE.format(counts=counts, place="q.lo")
    else:
        position = f"({total} - 1L) * r"
        low, high = (_PLACE.format(counts=counts, place=place) for place in ("q.lo", "q.hi"))
        value = (
            f"transform(array(named_struct('lo', {low}, 'hi', {high})), "
            "k -> CASE WHEN k.lo = k.hi THEN k.lo "
            "ELSE k.lo + (q.at - q.lo) * (k.hi - k.lo) END)[0]"
        )
    listed = ", ".join(f"{float(rank)!r}D" for rank in ranks)
    found = (
        f"transform(transform(array({listed}), r -> {position}), p -> transform(array("
        f"named_struct('at', p, 'lo', floor(p), 'hi', ceil(p))), q -> {value})[0])"
    )
    found = found if shape == "array" else f"{found}[0]"
    return f"CASE WHEN size({columns[0][0]}) > 0 THEN {found} END"


def lower_mode(partial: Partial, options: Sequence[Option]) -> Any:
    """The most frequent value; on a tie the least, or the greatest with `DESC`.

    >>> lower_mode((((1, 2), (5, 2), (7, 1)),), ("DESC",))
    5
    """
    counts = partial[0] if options[0] == "ASC" else partial[0][::-1]
    return max(counts, key=lambda pair: pair[1])[0] if counts else None


def mode_sql(columns: Columns, options: Sequence[Option]) -> str:
    """`lower_mode` in Spark SQL."""
    counts = columns[0][0] if options[0] == "ASC" else f"reverse({columns[0][0]})"
    return f"aggregate({counts}, get({counts}, 0), (a, e) -> IF(e.n > a.n, e, a), a -> a.value)"
