"""Partials in Arrow columns, combined by group: every kind of part, vectorised where it counts.

The meaning is the monoid's own `combine` (`weft.query.aggregates`); kinds without a vectorised
form here are folded with it. Rows come older first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from weft.errors import EngineError
from weft.query.aggregates.part import Part
from weft.query.aggregates.registry import monoid_of
from weft.spark.streaming.groups import Groups

Columns = tuple[pa.Array, ...]
_SKIP = pc.ScalarAggregateOptions(skip_nulls=True, min_count=1)


def combine(part: Part, columns: Columns, groups: Groups) -> Columns:
    """The partials of each group combined, older first: one row per group.

    >>> from weft.spark.streaming.groups import group_rows
    >>> groups = group_rows([pa.array(["a", "b", "a"])], 3)
    >>> [c.to_pylist() for c in combine(Part("sum", ("x",)), (pa.array([1, None, 4]),), groups)]
    [[5, None]]
    """
    if groups.distinct:
        return columns
    return _COMBINE.get(part.kind, _fold)(part, columns, groups)


def _aggregate(groups: Groups, column: pa.Array, function: str) -> pa.Array:
    table = pa.table({"g": groups.array, "v": column})
    done = table.group_by("g", use_threads=False).aggregate([("v", function, _SKIP)])
    return done.column(f"v_{function}").combine_chunks()


def _count(part: Part, columns: Columns, groups: Groups) -> Columns:
    return (_aggregate(groups, columns[0], "sum"),)


def _sum(part: Part, columns: Columns, groups: Groups) -> Columns:
    (column,) = columns
    if pa.types.is_int64(column.type):
        _refuse_overflow(part, column)
    total = _aggregate(groups, column, "sum")
    return (total if total.type == column.type else _narrow(part, total, column.type),)


def _refuse_overflow(part: Part, column: pa.Array) -> None:
    """Long sums wrap silently in Arrow; Spark's own raise, and so does this."""
    bounds = pc.min_max(column).as_py()
    greatest = max(abs(bounds["min"] or 0), abs(bounds["max"] or 0))
    if greatest and greatest * len(column) >= 2**63:
        exact = sum(value for value in column.to_pylist() if value is not None and value > 0)
        exact_low = sum(value for value in column.to_pylist() if value is not None and value < 0)
        if exact >= 2**63 or exact_low < -(2**63):
            raise EngineError(f"{part}: a sum of longs overflows; use try_sum or a decimal")


def _narrow(part: Part, total: pa.Array, type_: pa.DataType) -> pa.Array:
    try:
        return total.cast(type_)
    except pa.ArrowInvalid as error:
        raise EngineError(f"{part}: a sum overflows its type {type_}") from error


def _extreme(function: str) -> Callable[[Part, Columns, Groups], Columns]:
    def extreme(part: Part, columns: Columns, groups: Groups) -> Columns:
        (column,) = columns
        if not pa.types.is_floating(column.type):
            return (
                _fold(part, columns, groups)
                if _no_order(column)
                else (_aggregate(groups, column, function),)
            )
        nan = pc.is_nan(column)
        if not pc.any(nan).as_py():
            return (_aggregate(groups, column, function),)
        # Spark: NaN is greater than every number. Arrow passes NaN over.
        number = _aggregate(groups, pc.if_else(nan, None, column), function)
        some_nan = pc.fill_null(_aggregate(groups, nan, "any"), False)
        if function == "min":
            some_nan = pc.and_(some_nan, pc.is_null(number))
        return (pc.if_else(some_nan, pa.scalar(np.nan, column.type), number),)

    return extreme


def _no_order(column: pa.Array) -> bool:
    return bool(pa.types.is_nested(column.type))


def _logical(function: str) -> Callable[[Part, Columns, Groups], Columns]:
    def logical(part: Part, columns: Columns, groups: Groups) -> Columns:
        return (_aggregate(groups, columns[0], function),)

    return logical


def _moments(part: Part, columns: Columns, groups: Groups) -> Columns:
    """Deviations from the common mean, in two passes: no digits lost to large means."""
    n, mean, m2 = (_floats(column) for column in columns)
    total = _totals(groups, n)
    common = _means(groups, n, mean, total)
    apart = np.where(n > 0, mean - common[groups.ids], 0.0)
    spread = _totals(groups, m2 + n * apart * apart)
    return (_longs(total), pa.array(common), pa.array(spread))


def _comoments(part: Part, columns: Columns, groups: Groups) -> Columns:
    n, x, y, c, m2x, m2y = (_floats(column) for column in columns)
    total = _totals(groups, n)
    mean_x, mean_y = _means(groups, n, x, total), _means(groups, n, y, total)
    dx = np.where(n > 0, x - mean_x[groups.ids], 0.0)
    dy = np.where(n > 0, y - mean_y[groups.ids], 0.0)
    sums = (
        _totals(groups, own + n * first * second)
        for own, first, second in ((c, dx, dy), (m2x, dx, dx), (m2y, dy, dy))
    )
    return (_longs(total), pa.array(mean_x), pa.array(mean_y), *(pa.array(s) for s in sums))


Floats = npt.NDArray[np.float64]


def _totals(groups: Groups, values: Floats) -> Floats:
    return np.bincount(groups.ids, values, groups.count).astype(np.float64)


def _means(groups: Groups, n: Floats, mean: Floats, total: Floats) -> Floats:
    # From the group's first mean on, so that a group of equal values keeps exactly their mean.
    first = np.zeros(groups.count)
    present = np.flatnonzero(n > 0)
    first[groups.ids[present][::-1]] = mean[present][::-1]
    with np.errstate(invalid="ignore", divide="ignore"):
        apart = np.where(n > 0, n * (mean - first[groups.ids]), 0.0)
        moved = _totals(groups, apart) / total
    means: Floats = np.where(total > 0, first + moved, 0.0)
    return means


def _floats(column: pa.Array) -> Floats:
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)


def _longs(values: Floats) -> pa.Array:
    return pa.array(values.astype(np.int64))


def _chosen(
    which: Callable[[Columns, Groups], npt.NDArray[np.int64]],
) -> Callable[[Part, Columns, Groups], Columns]:
    """A kind whose partial is that of one of the rows: choose the row, take every component."""

    def take(part: Part, columns: Columns, groups: Groups) -> Columns:
        if any(_no_order(column) for column in columns[:1]):
            return _fold(part, columns, groups)
        rows = which(columns, groups)
        picked = pa.array(np.where(rows < 0, 0, rows), mask=rows < 0)
        taken = [column.take(picked) for column in columns]
        if part.kind in ("first", "last"):
            taken[0] = pc.fill_null(taken[0], False)
        return tuple(taken)

    return take


def _first_where(valid: npt.NDArray[np.bool_], groups: Groups) -> npt.NDArray[np.int64]:
    rows = np.full(groups.count, -1, dtype=np.int64)
    held = np.flatnonzero(valid)
    rows[groups.ids[held][::-1]] = held[::-1]
    return rows


def _last_where(valid: npt.NDArray[np.bool_], groups: Groups) -> npt.NDArray[np.int64]:
    rows = np.full(groups.count, -1, dtype=np.int64)
    held = np.flatnonzero(valid)
    rows[groups.ids[held]] = held
    return rows


def _valid(column: pa.Array) -> npt.NDArray[np.bool_]:
    return np.asarray(pc.is_valid(column).to_numpy(zero_copy_only=False))


def _seen(column: pa.Array) -> npt.NDArray[np.bool_]:
    return np.asarray(pc.fill_null(column, False).to_numpy(zero_copy_only=False))


def _ranked(column: pa.Array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """The dense rank of every value in Spark's order (NaN last), and which are not null."""
    valid = np.asarray(pc.is_valid(column).to_numpy(zero_copy_only=False))
    if pa.types.is_floating(column.type):
        column = pc.add(column, pa.scalar(0.0, column.type))  # -0.0 is 0.0
    ranks = pc.rank(column, sort_keys="ascending", tiebreaker="dense")
    return ranks.to_numpy().astype(np.int64), valid


def _least(columns: Columns, groups: Groups, *, newest: bool) -> npt.NDArray[np.int64]:
    rank, valid = _ranked(columns[0])
    position = np.arange(len(rank))
    order = np.lexsort((-position if newest else position, rank, ~valid, groups.ids))
    heads = order[np.searchsorted(groups.ids[order], np.arange(groups.count))]
    return np.where(valid[heads], heads, -1)


def _greatest(columns: Columns, groups: Groups, *, newest: bool) -> npt.NDArray[np.int64]:
    rank, valid = _ranked(columns[0])
    position = np.arange(len(rank))
    order = np.lexsort((-position if newest else position, -rank, ~valid, groups.ids))
    heads = order[np.searchsorted(groups.ids[order], np.arange(groups.count))]
    return np.where(valid[heads], heads, -1)


def _fold(part: Part, columns: Columns, groups: Groups) -> Columns:
    """The monoid's own combine, one partial after the other."""
    monoid = monoid_of(part)
    rows = zip(*(to_python(column) for column in columns), strict=True)
    totals = [monoid.identity] * groups.count
    for group, partial in zip(groups.ids.tolist(), rows, strict=True):
        totals[group] = monoid.combine(totals[group], partial)
    return from_python(totals, [column.type for column in columns])


def to_python(column: pa.Array) -> list[Any]:
    """Values as monoids have them: lists and structs as tuples.

    >>> to_python(pa.array([[{"at": 1, "value": "a"}], None]))
    [((1, 'a'),), None]
    """
    values = column.to_pylist()
    return [_tuples(value) for value in values] if pa.types.is_nested(column.type) else values


def _tuples(value: Any) -> Any:
    if isinstance(value, dict):
        return tuple(_tuples(item) for item in value.values())
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value


def from_python(partials: Sequence[tuple[object, ...]], types: Sequence[pa.DataType]) -> Columns:
    """Partials as Arrow columns of these types."""
    columns = zip(*partials, strict=True) if partials else ([] for _ in types)
    return tuple(
        pa.array(list(column), type=type_) for column, type_ in zip(columns, types, strict=True)
    )


_COMBINE: dict[str, Callable[[Part, Columns, Groups], Columns]] = {
    "count": _count,
    "sum": _sum,
    "min": _extreme("min"),
    "max": _extreme("max"),
    "bool_and": _logical("all"),
    "bool_or": _logical("any"),
    "moments": _moments,
    "comoments": _comoments,
    "first": _chosen(lambda c, g: _first_where(_seen(c[0]), g)),
    "last": _chosen(lambda c, g: _last_where(_seen(c[0]), g)),
    "first_valid": _chosen(lambda c, g: _first_where(_valid(c[0]), g)),
    "last_valid": _chosen(lambda c, g: _last_where(_valid(c[0]), g)),
    "first_at": _chosen(lambda c, g: _least(c, g, newest=False)),
    "first_valid_at": _chosen(lambda c, g: _least(c, g, newest=False)),
    "last_at": _chosen(lambda c, g: _greatest(c, g, newest=True)),
    "last_valid_at": _chosen(lambda c, g: _greatest(c, g, newest=True)),
    "min_by": _chosen(lambda c, g: _least(c, g, newest=True)),
    "max_by": _chosen(lambda c, g: _greatest(c, g, newest=True)),
}
