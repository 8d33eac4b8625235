"""The Arrow types of a part's components, given those of its arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa

from weft.algebra.part import Part
from weft.algebra.registry import monoid_of


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


def _counts_type(arguments: Sequence[pa.DataType], at: int) -> pa.DataType:
    return pa.list_(pa.struct([("value", arguments[at]), ("n", pa.int64())]))


_FAMILIES: dict[str, Callable[[Sequence[pa.DataType], int], pa.DataType]] = {
    "long": lambda arguments, at: pa.int64(),
    "double": lambda arguments, at: pa.float64(),
    "boolean": lambda arguments, at: pa.bool_(),
    "binary": lambda arguments, at: pa.binary(),
    "argument": lambda arguments, at: arguments[at],
    "sum": _sum_type,
    "array": _array_type,
    "pairs": _pairs_type,
    "counts": _counts_type,
}
