"""Partials that are lists: all values, the first or last n, or the distinct ones; sorted or not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from weft.algebra.monoid import Laws
from weft.algebra.ops.base import Columns, Mask, VectorOp, flat, validity
from weft.algebra.ops.order import order_keys, typed

Int64: TypeAlias = npt.NDArray[np.int64]
KINDS = ("counts", "list", "first_n", "last_n", "set", "list_at", "first_n_at", "last_n_at")


class ListOp(VectorOp):
    """One Arrow list array; lists are joined, cut and deduplicated by row numbers alone."""

    def __init__(
        self, kind: str, laws: Laws, types: Sequence[pa.DataType], keep: int | None
    ) -> None:
        super().__init__(kind, laws, types)
        self.keep = keep
        self.sorts = kind.endswith("_at")
        """Whether each value is stored with the value that it is ordered by."""

    def lift(self, arguments: Sequence[pa.Array], where: Mask | None) -> Columns:
        """A list of the row's value; empty if it is null, or if `where` excludes the row.

        Several arguments form one struct; a value with its order is a struct of both.
        """
        taken = np.ones(len(arguments[0]), dtype=bool) if where is None else where
        for argument in arguments:
            taken = taken & validity(argument)
        rows = pa.array(np.flatnonzero(taken))
        columns = [flat(argument).take(rows) for argument in arguments]
        inner = self.types[0].value_type
        if self.sorts:
            columns.reverse()  # `at`, then `value`
        if self.kind == "counts":
            columns.append(pa.array(np.ones(len(rows), dtype=np.int64)))
        if self.sorts or len(columns) > 1:
            kept = [typed(c, inner.field(at).type) for at, c in enumerate(columns)]
            values = pa.StructArray.from_arrays(kept, fields=list(inner))
        else:
            values = typed(columns[0], inner)
        kind = pa.large_list(inner)
        return (pa.LargeListArray.from_arrays(pa.array(_offsets(taken)), values, type=kind),)

    def encode(self, arrays: Sequence[pa.Array]) -> Columns:
        array = flat(arrays[0])
        if array.null_count:  # a null list counts as empty
            array = pa.LargeListArray.from_arrays(
                pa.array(_offsets(np.asarray(array.value_lengths().fill_null(0)))), array.flatten()
            )
        return (typed(array, pa.large_list(self.types[0].value_type)),)

    def decode(self, columns: Columns) -> list[pa.Array]:
        return [typed(columns[0], self.types[0])]

    def combine(self, older: Columns, newer: Columns) -> Columns:
        rows = len(older[0])
        both = pa.concat_arrays([older[0], newer[0]])
        order = np.arange(2 * rows).reshape(2, rows).T.ravel()
        return (self.joined(both, order, 2 * np.arange(rows), 2 * np.arange(1, rows + 1)),)

    def joined(self, lists: pa.Array, order: Int64 | None, low: Int64, high: Int64) -> pa.Array:
        """Concatenates the lists of every range [low, high), taken in the given `order`."""
        if order is not None:
            lists = lists.take(pa.array(order))
        starts = lists.offsets.to_numpy()
        begin, end = starts[low], starts[high]
        if self.keep is not None and not self.sorts:
            begin, end = self._kept(begin, end)
        at, offsets = _gathered(begin, end)
        if self.kind == "counts":
            return self._counted(lists, at, offsets)
        if self.sorts or self.kind == "set":
            row = np.repeat(np.arange(len(low)), np.diff(offsets))
            at, offsets = self._sorted(lists.values, at, row, offsets)
        values = typed(lists.values.take(pa.array(at)), lists.type.value_type)
        return pa.LargeListArray.from_arrays(pa.array(offsets), values, type=lists.type)

    def _counted(self, lists: pa.Array, at: Int64, offsets: Int64) -> pa.Array:
        """Every list sorted by value, equal values merged and their counts added."""
        value, n = lists.values.field("value"), lists.values.field("n").to_numpy()
        row = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        keys = order_keys(value)[at]
        sort = np.lexsort((keys, row))
        at, row, keys = at[sort], row[sort], keys[sort]
        begins = np.flatnonzero(_changes(row, keys))
        added = np.add.reduceat(n[at], begins) if len(begins) else np.zeros(0, dtype=np.int64)
        values = typed(value.take(pa.array(at[begins])), value.type)
        pairs = pa.StructArray.from_arrays(
            [values, pa.array(added)], fields=list(lists.type.value_type)
        )
        cuts = _offsets(np.bincount(row[begins], minlength=len(offsets) - 1))
        return pa.LargeListArray.from_arrays(pa.array(cuts), pairs, type=lists.type)

    def _kept(self, begin: Int64, end: Int64) -> tuple[Int64, Int64]:
        """The first or the last n elements of every list."""
        assert self.keep is not None
        if self.kind.startswith("first_n"):
            return begin, np.minimum(end, begin + self.keep)
        return np.maximum(begin, end - self.keep), end

    def _sorted(
        self, values: pa.Array, at: Int64, row: Int64, offsets: Int64
    ) -> tuple[Int64, Int64]:
        """Every list sorted by key, the older of equals first; a set keeps only the first."""
        keys = order_keys(values.field("at") if self.sorts else values)[at]
        sort = np.lexsort((np.arange(len(at)), keys, row))
        at = at[sort]
        if self.kind == "set":
            row, keys = row[sort], keys[sort]
            fresh = _changes(row, keys)
            return at[fresh], _offsets(np.bincount(row[fresh], minlength=len(offsets) - 1))
        if self.keep is None:
            return at, offsets
        kept, offsets = _gathered(*self._kept(offsets[:-1], offsets[1:]))
        return at[kept], offsets

    def blank(self, rows: int) -> Columns:
        empty = pa.array([], self.types[0].value_type)
        offsets = pa.array(np.zeros(rows + 1, dtype=np.int64))
        kind = pa.large_list(self.types[0].value_type)
        return (pa.LargeListArray.from_arrays(offsets, empty, type=kind),)

    def is_blank(self, columns: Columns) -> npt.NDArray[np.bool_]:
        return np.asarray(columns[0].value_lengths().to_numpy() == 0)

    def unpack(self, arrays: Sequence[pa.Array]) -> Columns:
        return tuple(arrays)


def _changes(row: Int64, keys: Int64) -> npt.NDArray[np.bool_]:
    """Where, in sorted order, the row or the key differs from the one before."""
    fresh = np.ones(len(row), dtype=bool)
    fresh[1:] = (row[1:] != row[:-1]) | (keys[1:] != keys[:-1])
    return fresh


def _offsets(lengths: npt.NDArray[Any]) -> Int64:
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def _gathered(begin: Int64, end: Int64) -> tuple[Int64, Int64]:
    """The numbers of every range [begin, end), concatenated, and the offsets of the ranges."""
    lengths = end - begin
    offsets = _offsets(lengths)
    return np.arange(offsets[-1]) + np.repeat(begin - offsets[:-1], lengths), offsets


def list_op(
    kind: str, laws: Laws, types: Sequence[pa.DataType], options: Sequence[object]
) -> ListOp:
    """The operation of a kind whose partials are lists."""
    keep = options[0] if "_n" in kind else None
    assert keep is None or isinstance(keep, int)
    return ListOp(kind, laws, types, keep)
