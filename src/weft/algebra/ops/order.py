"""Values as integers that order as Spark orders the values."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from weft.algebra.values import order_key

Int64: TypeAlias = npt.NDArray[np.int64]

NULL = np.iinfo(np.int64).min
"""The key of null, which comes first."""
_CANONICAL_NAN = 0x7FF8000000000000


def order_keys(array: pa.Array) -> Int64:
    """Integers that compare as Spark compares the values: null first, NaN last, -0.0 is 0.0.

    Keys from one call are comparable with each other, and equal if and only if the values are; keys
    from different calls are comparable only for numbers, dates and times.

    >>> order_keys(pa.array([1.0, float("nan"), float("inf"), -0.0, 0.0, None])).argsort().tolist()
    [5, 3, 4, 0, 2, 1]
    >>> order_keys(pa.array(["pear", "apple", None, "pear"])).tolist()[1:]
    [0, -9223372036854775808, 1]
    """
    kind = array.type
    if pt.is_null(kind):
        keys = np.full(len(array), NULL)
    elif pt.is_floating(kind):
        keys = float_keys(array.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False))
    elif pt.is_decimal(kind):
        keys = _decimal_keys(array)
    elif is_integer_like(kind):
        keys = integers(array)
    elif pt.is_struct(kind):
        keys = _struct_keys(array)
    elif pt.is_nested(kind):
        keys = _python_keys(array)
    else:
        keys = _ranks(array)
    if array.null_count:
        keys = np.where(array.is_null().to_numpy(zero_copy_only=False), NULL, keys)
    return keys


def is_integer_like(kind: pa.DataType) -> bool:
    """Whether the type is stored as integers: integers, booleans, dates and times."""
    return bool(pt.is_integer(kind) or pt.is_boolean(kind) or pt.is_temporal(kind))


def integers(array: pa.Array) -> Int64:
    """The stored integers of an integer-like array; zero for null."""
    kind = array.type
    if pt.is_temporal(kind):
        array = array.view(pa.int64() if kind.bit_width == 64 else pa.int32())
    filled = array.cast(pa.int64()).fill_null(0)
    return np.asarray(filled.to_numpy(zero_copy_only=False), dtype=np.int64)


def from_integers(values: Int64, kind: pa.DataType, null: npt.NDArray[np.bool_]) -> pa.Array:
    """The array of an integer-like type with these stored integers."""
    mask = null if null.any() else None
    if pt.is_temporal(kind):
        plain = pa.int64() if kind.bit_width == 64 else pa.int32()
        return typed(pa.array(values, mask=mask), plain).view(kind)
    return typed(pa.array(values, mask=mask), kind)


def typed(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """The array cast to a type; skips the cast if it has it, because Arrow would copy anyway.

    Types may differ only in whether fields are nullable, which Arrow's own cast refuses to change.
    """
    if array.type == kind:
        return array
    if pt.is_struct(kind) and pt.is_struct(array.type):
        fields = [typed(array.field(at), kind.field(at).type) for at in range(kind.num_fields)]
        return pa.StructArray.from_arrays(fields, fields=list(kind), mask=array.is_null())
    if (pt.is_list(kind) or pt.is_large_list(kind)) and pt.is_nested(kind.value_type):
        lengths = np.asarray(array.value_lengths().fill_null(0))
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        made = pa.LargeListArray if pt.is_large_list(kind) else pa.ListArray
        width = pa.int64() if pt.is_large_list(kind) else pa.int32()
        values = typed(array.flatten(), kind.value_type)
        return made.from_arrays(pa.array(offsets, width), values, type=kind, mask=array.is_null())
    return array.cast(kind)


def is_number(kind: pa.DataType) -> bool:
    """Whether values of the type fit 64 bits: integer-like, doubles, decimals up to 18 digits."""
    short = pt.is_decimal(kind) and kind.precision <= 18
    return bool(is_integer_like(kind) or pt.is_floating(kind) or short)


def numbers_of(array: pa.Array) -> npt.NDArray[Any]:
    """The 64-bit numbers of an array of a type for which `is_number`; zero for null."""
    if pt.is_floating(array.type):
        doubles = array.cast(pa.float64()).fill_null(0.0)
        return np.asarray(doubles.to_numpy(zero_copy_only=False))
    return _decimal_keys(array) if pt.is_decimal(array.type) else integers(array)


def array_of(values: npt.NDArray[Any], kind: pa.DataType, null: npt.NDArray[np.bool_]) -> pa.Array:
    """The array of a type for which `is_number`, with these 64-bit numbers."""
    if pt.is_floating(kind):
        return typed(pa.array(values, mask=null if null.any() else None), kind)
    if pt.is_decimal(kind):
        from weft.algebra.ops.wide import to_arrow

        return to_arrow((values.view(np.uint64), values >> 63), kind, null)
    return from_integers(values, kind, null)


def float_keys(values: npt.NDArray[np.float64]) -> Int64:
    """Integers in the order of the doubles: NaN of any sign is greatest, -0.0 is 0.0."""
    bits = (values + 0.0).view(np.int64)  # adding zero turns -0.0 into 0.0 and copies
    bits[np.isnan(values)] = _CANONICAL_NAN
    negative = bits < 0
    bits[negative] ^= np.int64(0x7FFFFFFFFFFFFFFF)
    return bits


def from_float_keys(keys: Int64) -> npt.NDArray[np.float64]:
    """The doubles of `float_keys`.

    >>> from_float_keys(float_keys(np.array([-2.5, 0.0, np.inf]))).tolist()
    [-2.5, 0.0, inf]
    """
    bits = keys.copy()
    negative = bits < 0
    bits[negative] ^= np.int64(0x7FFFFFFFFFFFFFFF)
    return np.asarray(bits.view(np.float64))


def _decimal_keys(array: pa.Array) -> Int64:
    from weft.algebra.ops.wide import limbs

    if array.type.precision > 18:
        return _ranks(array)
    return limbs(array)[0].view(np.int64)


def _ranks(array: pa.Array) -> Int64:
    """Dense ranks, by sorting only the distinct values."""
    encoded = array if pt.is_dictionary(array.type) else array.dictionary_encode()
    order = pc.sort_indices(encoded.dictionary).to_numpy()
    rank = np.empty(len(order) + 1, dtype=np.int64)
    rank[order] = np.arange(len(order))
    rank[-1] = NULL
    codes = encoded.indices.fill_null(len(order)).to_numpy(zero_copy_only=False)
    return np.asarray(rank[codes])


def _struct_keys(array: pa.Array) -> Int64:
    """Keys of structs, ordered by the first field, then the next: dense ranks of the field keys.

    >>> smallest = np.iinfo(np.int64).min
    >>> _struct_keys(pa.array([{"x": smallest}, {"x": None}, {"x": smallest}])).tolist()
    [1, 0, 1]
    """
    if array.type.num_fields == 0 or len(array) == 0:
        return np.zeros(len(array), dtype=np.int64)
    fields: list[npt.NDArray[Any]] = []
    for field in array.flatten():
        # Nulls need a separate column, because the smallest long has the same key as null.
        fields += [np.asarray(field.is_valid().to_numpy(zero_copy_only=False)), order_keys(field)]
    order = np.lexsort(fields[::-1])
    changed = np.zeros(len(array), dtype=np.int64)
    for field in fields:
        changed[1:] |= field[order][1:] != field[order][:-1]
    ranks = np.empty(len(array), dtype=np.int64)
    ranks[order] = np.cumsum(changed)
    return ranks


def _python_keys(array: pa.Array) -> Int64:
    values = [order_key(value) for value in array.to_pylist()]
    rank = {key: position for position, key in enumerate(sorted(set(values)))}
    return np.array([rank[key] for key in values], dtype=np.int64)
