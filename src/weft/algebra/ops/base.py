"""What every vectorised operation on partials promises."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from weft.algebra.monoid import Laws

Columns: TypeAlias = tuple[Any, ...]
"""A part's partials, many of them: NumPy or Arrow arrays of one length, as the operation likes."""

Rows: TypeAlias = npt.NDArray[np.int64]
Mask: TypeAlias = npt.NDArray[np.bool_]


class VectorOp(ABC):
    """One kind of part over given component types, on whole columns of partials.

    Law: row by row, `decode(combine(encode(a), encode(b)))` is what the monoid's `combine` gives,
    `blank` is its identity, and `decode(encode(a))` is `a` (a null is the identity where the
    monoid says so). Floating sums may differ in the last digits.
    """

    def __init__(self, kind: str, laws: Laws, types: Sequence[pa.DataType]) -> None:
        self.kind = kind
        self.laws = laws
        self.types = tuple(types)

    @property
    def tag(self) -> Any:
        """The operation as compiled loops know it; None where there is no compiled form."""
        return None

    @abstractmethod
    def lift(self, arguments: Sequence[pa.Array], where: Mask | None) -> Columns:
        """One partial for every row, from the values of the arguments.

        A row that `where` keeps out is the identity.
        """

    def lift_groups(
        self, arguments: Sequence[pa.Array], where: Mask | None, ids: Rows, count: int
    ) -> Columns | None:
        """The partial of every group of rows, where that is cheaper than one for every row.

        None where it is not: the rows are lifted, and combined by group.
        """
        return None

    @abstractmethod
    def encode(self, arrays: Sequence[pa.Array]) -> Columns:
        """Columns from one Arrow array per component."""

    @abstractmethod
    def decode(self, columns: Columns) -> list[pa.Array]:
        """One Arrow array per component, of the component's own type."""

    @abstractmethod
    def combine(self, older: Columns, newer: Columns) -> Columns:
        """Row by row the combination of two columns of partials."""

    @abstractmethod
    def blank(self, rows: int) -> Columns:
        """The identity, so many times."""

    def subtract(self, total: Columns, oldest: Columns) -> Columns:
        """Row by row `total` without `oldest`; only where the laws say invertible."""
        raise NotImplementedError(f"{self.kind} cannot be subtracted")

    def is_blank(self, columns: Columns) -> npt.NDArray[np.bool_]:
        """Row by row whether the partial is the identity as far as can be told cheaply."""
        return np.zeros(length(columns), dtype=bool)

    def take(self, columns: Columns, rows: Rows) -> Columns:
        """The partials at `rows`; the identity for a row of -1."""
        if (rows < 0).any():
            columns, rows = (
                self.concat([columns, self.blank(1)]),
                np.where(rows < 0, length(columns), rows),
            )
        return tuple(
            column[rows] if isinstance(column, np.ndarray) else column.take(pa.array(rows))
            for column in columns
        )

    def concat(self, pieces: Sequence[Columns]) -> Columns:
        """The columns end to end."""
        return tuple(
            np.concatenate(columns)
            if isinstance(columns[0], np.ndarray)
            else pa.concat_arrays(columns)
            for columns in zip(*pieces, strict=True)
        )

    def cut(self, columns: Columns, low: int, high: int) -> Columns:
        """The rows from low up to high, without a copy."""
        return tuple(column[low:high] for column in columns)

    def pack(self, columns: Columns) -> list[pa.Array]:
        """The columns as Arrow arrays for storage: what they are, not what they mean."""
        return [column if isinstance(column, pa.Array) else pa.array(column) for column in columns]

    def unpack(self, arrays: Sequence[pa.Array]) -> Columns:
        """The columns from what `pack` gave."""
        return tuple(array.to_numpy(zero_copy_only=False) for array in arrays)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.kind}: {', '.join(map(str, self.types))})"


def length(columns: Columns) -> int:
    """How many partials the columns hold."""
    return len(columns[0])


def flat(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    """One contiguous Arrow array."""
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def only(array: pa.Array, where: Mask | None) -> pa.Array:
    """The array with null for the rows that are kept out."""
    if where is None or where.all():
        return array
    # By row: Arrow has no null of a struct whose fields are never null.
    rows = np.arange(len(array))
    return array.take(pa.array(rows, mask=~where))


def rounded(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """The array as one of the type; longs past 2**53 become the nearest double, as in Spark."""
    return array if array.type == kind else array.cast(kind, safe=not pa.types.is_floating(kind))


def validity(array: pa.Array) -> npt.NDArray[np.bool_]:
    """Where an Arrow array is not null."""
    if array.null_count == 0:
        return np.ones(len(array), dtype=bool)
    return np.asarray(array.is_valid().to_numpy(zero_copy_only=False), dtype=bool)
