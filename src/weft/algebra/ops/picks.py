"""Operations that pick one whole partial: extremes of any type, first, last, min_by, max_by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from weft.algebra.monoid import Laws
from weft.algebra.ops.base import Columns, Mask, VectorOp, flat, only, validity
from weft.algebra.ops.order import order_keys


@dataclass(frozen=True)
class PickRule:
    """How a kind picks one of the partials that have seen a row, and how it breaks ties.

    `by` is the component that is compared, or None if only the order of the partials counts.
    """

    by: int | None
    most: bool
    newer: bool
    """Whether the newer one is kept on a tie, instead of the older."""


CHOICES: dict[str, PickRule] = {
    "min": PickRule(by=0, most=False, newer=False),
    "max": PickRule(by=0, most=True, newer=False),
    "first": PickRule(by=None, most=False, newer=False),
    "last": PickRule(by=None, most=False, newer=True),
    "first_valid": PickRule(by=None, most=False, newer=False),
    "last_valid": PickRule(by=None, most=False, newer=True),
    "first_at": PickRule(by=0, most=False, newer=False),
    "last_at": PickRule(by=0, most=True, newer=True),
    "first_valid_at": PickRule(by=0, most=False, newer=False),
    "last_valid_at": PickRule(by=0, most=True, newer=True),
    "min_by": PickRule(by=0, most=False, newer=True),
    "max_by": PickRule(by=0, most=True, newer=True),
}


class PickOp(VectorOp):
    """The components stay Arrow arrays of any type; only row numbers are computed.

    A partial is the identity when its first component is null or false.
    """

    def __init__(self, kind: str, laws: Laws, types: Sequence[pa.DataType]) -> None:
        super().__init__(kind, laws, types)
        self.choice = CHOICES[kind]

    def lift(self, arguments: Sequence[pa.Array], where: Mask | None) -> Columns:
        if self.kind in ("first", "last"):
            seen = np.ones(len(arguments[0]), dtype=bool) if where is None else where
            return self.encode([pa.array(seen), only(arguments[0], where)])
        if len(self.types) == 1:
            return self.encode([only(arguments[0], where)])
        value, by = arguments
        if self.kind.endswith("_valid_at"):
            by = only(by, validity(value))
        by = only(by, where)
        return self.encode([by, only(value, validity(by))])

    def encode(self, arrays: Sequence[pa.Array]) -> Columns:
        return tuple(flat(array) for array in arrays)

    def decode(self, columns: Columns) -> list[pa.Array]:
        return list(columns)

    def seen(self, columns: Columns) -> npt.NDArray[np.bool_]:
        """Whether each partial has seen a row."""
        first = columns[0]
        if self.kind in ("first", "last"):
            first = first.fill_null(False)
            return np.asarray(first.to_numpy(zero_copy_only=False), dtype=bool)
        return np.asarray(first.is_valid().to_numpy(zero_copy_only=False), dtype=bool)

    def keys(self, columns: Columns) -> npt.NDArray[np.int64]:
        """The compared values, as integers in Spark's order."""
        assert self.choice.by is not None
        return order_keys(columns[self.choice.by])

    def newer_wins(self, both: Columns, rows: int) -> npt.NDArray[np.bool_]:
        """Whether, for i < `rows`, row `rows + i` of `both` is picked over row i."""
        seen = self.seen(both)
        if self.choice.by is None:
            wins = np.full(rows, self.choice.newer)
        else:
            keys = self.keys(both)
            left, right = keys[:rows], keys[rows:]
            wins = right > left if self.choice.most else right < left
            if self.choice.newer:
                wins = wins | (right == left)
        return np.where(seen[:rows], seen[rows:] & wins, True)

    def combine(self, older: Columns, newer: Columns) -> Columns:
        rows = len(older[0])
        both = self.concat([older, newer])
        at = np.arange(rows) + rows * self.newer_wins(both, rows)
        return tuple(column.take(pa.array(at)) for column in both)

    def blank(self, rows: int) -> Columns:
        unseen = pa.array([False] * rows, pa.bool_()) if self.kind in ("first", "last") else None
        return tuple(
            unseen if unseen is not None and position == 0 else pa.nulls(rows, kind)
            for position, kind in enumerate(self.types)
        )

    def is_blank(self, columns: Columns) -> npt.NDArray[np.bool_]:
        return ~self.seen(columns)

    def unpack(self, arrays: Sequence[pa.Array]) -> Columns:
        return tuple(arrays)
