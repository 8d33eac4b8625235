"""Rows lifted to partials: one partial per row, in Arrow columns, for every kind of part.

The meaning is the monoid's own `lift`; kinds without a vectorised form here are lifted with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from weft.algebra.part import Part
from weft.algebra.registry import monoid_of
from weft.engine.combining import Columns, combine, from_python, to_python
from weft.engine.groups import Groups


def component_types(part: Part, arguments: Sequence[pa.DataType]) -> tuple[pa.DataType, ...]:
    """The Arrow type of each component of a part over arguments of these types.

    >>> [str(t) for t in component_types(Part("sum", ("x",)), [pa.int32()])]
    ['int64']
    """
    return tuple(
        _FAMILIES[component.family](arguments, component.argument)
        for component in monoid_of(part).components
    )


def _sum_type(arguments: Sequence[pa.DataType], at: int) -> pa.DataType:
    argument = arguments[at]
    if pa.types.is_decimal(argument):
        return pa.decimal128(min(38, argument.precision + 10), argument.scale)
    if pa.types.is_integer(argument):
        return pa.int64()
    return argument if pa.types.is_duration(argument) else pa.float64()


def _array_type(arguments: Sequence[pa.DataType], at: int) -> pa.DataType:
    if len(arguments) == 1:
        return pa.list_(arguments[0])
    return pa.list_(pa.struct([(f"col{i + 1}", type_) for i, type_ in enumerate(arguments)]))


def _pairs_type(arguments: Sequence[pa.DataType], at: int) -> pa.DataType:
    return pa.list_(pa.struct([("at", arguments[1]), ("value", arguments[0])]))


_FAMILIES: dict[str, Callable[[Sequence[pa.DataType], int], pa.DataType]] = {
    "long": lambda arguments, at: pa.int64(),
    "double": lambda arguments, at: pa.float64(),
    "boolean": lambda arguments, at: pa.bool_(),
    "binary": lambda arguments, at: pa.binary(),
    "argument": lambda arguments, at: arguments[at],
    "sum": _sum_type,
    "array": _array_type,
    "pairs": _pairs_type,
}


def partials_of(
    part: Part, arguments: Sequence[pa.Array], where: pa.Array | None, groups: Groups
) -> Columns:
    """The part's partials of each group of rows; `where` says which rows its filter lets in.

    >>> from weft.engine.groups import group_rows
    >>> groups = group_rows([pa.array(["a", "b", "a"])], 3)
    >>> [c.to_pylist() for c in partials_of(Part("count"), [], None, groups)]
    [[2, 1]]
    """
    types = component_types(part, [argument.type for argument in arguments])
    if part.kind == "count":
        return (_counts(arguments, where, groups),)
    if part.kind in _GROUPED:
        return _GROUPED[part.kind](part, arguments, where, groups)
    lift: Callable[..., Columns] = _LIFT.get(part.kind, _by_monoid)
    return combine(part, lift(part, tuple(arguments), where, types), groups)


def _counts(arguments: Sequence[pa.Array], where: pa.Array | None, groups: Groups) -> pa.Array:
    counted = None if where is None else _mask(where)
    for argument in arguments:
        if argument.null_count:
            valid = np.asarray(pc.is_valid(argument).to_numpy(zero_copy_only=False))
            counted = valid if counted is None else counted & valid
    ids = groups.ids if counted is None else groups.ids[counted]
    return pa.array(np.bincount(ids, minlength=groups.count).astype(np.int64))


def _mask(where: pa.Array) -> np.ndarray:
    return np.asarray(pc.fill_null(where, False).to_numpy(zero_copy_only=False))


def _only(array: pa.Array, where: pa.Array | None) -> pa.Array:
    if where is None:
        return array
    if not pa.types.is_nested(array.type):
        return pc.if_else(where, array, pa.scalar(None, array.type))
    # By row: Arrow has no null of a struct whose fields are never null.
    rows = np.flatnonzero(_mask(where))
    at = np.full(len(array), -1, dtype=np.int64)
    at[rows] = rows
    return array.take(pa.array(at, mask=at < 0))


def _rounded(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """The array as one of the type; longs past 2**53 become the nearest double, as in Spark."""
    return array if array.type == kind else array.cast(kind, safe=not pa.types.is_floating(kind))


def _itself(
    part: Part, arguments: Columns, where: pa.Array | None, types: Sequence[pa.DataType]
) -> Columns:
    """The value is its own partial."""
    return (_only(_rounded(arguments[0], types[0]), where),)


def _seen(
    part: Part, arguments: Columns, where: pa.Array | None, types: Sequence[pa.DataType]
) -> Columns:
    rows = len(arguments[0])
    seen = pa.array(np.ones(rows, dtype=bool)) if where is None else pc.fill_null(where, False)
    return (seen, _only(arguments[0], where))


def _by(
    part: Part, arguments: Columns, where: pa.Array | None, types: Sequence[pa.DataType]
) -> Columns:
    """`(by, value)`; a row without a `by` is none, and for the valid kinds one without value."""
    value, by = arguments
    if part.kind.endswith("_valid_at"):
        by = _only(by, pc.is_valid(value))
    by = _only(by, where)
    return (by, _only(value, pc.is_valid(by)))


def _moments(
    part: Part, arguments: Columns, where: pa.Array | None, types: Sequence[pa.DataType]
) -> Columns:
    given = [_only(_rounded(argument, pa.float64()), where) for argument in arguments]
    valid = pc.is_valid(given[0])
    for other in given[1:]:
        valid = pc.and_(valid, pc.is_valid(other))
    values = [pc.fill_null(_only(argument, valid), 0.0) for argument in given]
    zeros = [pc.multiply(value, 0.0) for value in values]  # NaN for NaN and infinities
    n = valid.cast(pa.int64())
    if part.kind == "moments":
        return (n, values[0], zeros[0])
    if part.kind == "moments4":
        return (n, values[0], zeros[0], zeros[0], zeros[0])
    return (n, *values, pc.multiply(*zeros), *zeros)


def _by_monoid(
    part: Part, arguments: Columns, where: pa.Array | None, types: Sequence[pa.DataType]
) -> Columns:
    monoid = monoid_of(part)
    rows = zip(*(to_python(argument) for argument in arguments), strict=True)
    let_in = [True] * len(arguments[0]) if where is None else where.to_pylist()
    lifted = [
        monoid.lift(*row) if admitted else monoid.identity
        for row, admitted in zip(rows, let_in, strict=True)
    ]
    return from_python(lifted, types)


def _hll(
    part: Part, arguments: Sequence[pa.Array], where: pa.Array | None, groups: Groups
) -> Columns:
    """One sketch per group, updated in place: a sketch per row would cost a kilobyte each."""
    from datasketches import hll_sketch, tgt_hll_type

    from weft.algebra.sketches import hashable

    made: list[Any] = [None] * groups.count
    values = _only(arguments[0], where).to_pylist()
    for group, value in zip(groups.ids.tolist(), values, strict=True):
        if value is not None:
            if made[group] is None:
                made[group] = hll_sketch(part.options[0], tgt_hll_type.HLL_8)
            made[group].update(hashable(value))
    sketches = [None if one is None else bytes(one.serialize_compact()) for one in made]
    return (pa.array(sketches, pa.binary()),)


def _kll(
    part: Part, arguments: Sequence[pa.Array], where: pa.Array | None, groups: Groups
) -> Columns:
    from datasketches import kll_doubles_sketch

    column = _only(_rounded(arguments[0], pa.float64()), where)
    valid = np.asarray(pc.is_valid(column).to_numpy(zero_copy_only=False))
    order = np.flatnonzero(valid)[np.argsort(groups.ids[valid], kind="stable")]
    values = column.to_numpy(zero_copy_only=False)[order]
    cuts = np.searchsorted(groups.ids[order], np.arange(groups.count + 1))
    sketches: list[bytes | None] = []
    for low, high in pairwise(cuts.tolist()):
        if low == high:
            sketches.append(None)
            continue
        sketch = kll_doubles_sketch(part.options[0])
        sketch.update(values[low:high])
        sketches.append(bytes(sketch.serialize()))
    return (pa.array(sketches, pa.binary()),)


_LIFT: dict[str, Callable[..., Columns]] = {
    "sum": _itself,
    "min": _itself,
    "max": _itself,
    "bool_and": _itself,
    "bool_or": _itself,
    "bit_and": _itself,
    "bit_or": _itself,
    "bit_xor": _itself,
    "product": _itself,
    "first_valid": _itself,
    "last_valid": _itself,
    "first": _seen,
    "last": _seen,
    **dict.fromkeys(
        ("first_at", "last_at", "first_valid_at", "last_valid_at", "min_by", "max_by"), _by
    ),
    **dict.fromkeys(("moments", "moments4", "comoments"), _moments),
}
_GROUPED: dict[str, Callable[..., Columns]] = {"hll": _hll, "kll": _kll}
