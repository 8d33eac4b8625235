"""The contract of vectorised operations on partials."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from weft.algebra.monoid import Laws

Columns: TypeAlias = tuple[Any, ...]
"""Many partials of a part: NumPy or Arrow arrays of equal length, as the operation chooses."""

Rows: TypeAlias = npt.NDArray[np.int64]
Mask: TypeAlias = npt.NDArray[np.bool_]


class VectorOp(ABC):
    """One kind of part over given component types, on whole columns of partials.

    Law: row by row, `decode(combine(encode(a), encode(b)))` equals the monoid's `combine`, `blank`
    is its identity, and `decode(encode(a))` is `a` (null is the identity where the monoid says
    so). Floating-point sums may differ in the last digits.
    """

    def __init__(self, kind: str, laws: Laws, types: Sequence[pa.DataType]) -> None:
        self.kind = kind
        self.laws = laws
        self.types = tuple(types)

    @property
    def tag(self) -> Any:
        """The operation's tag for compiled loops; None if there is no compiled form."""
        return None

    @abstractmethod
    def lift(self, arguments: Sequence[pa.Array], where: Mask | None) -> Columns:
        """One partial for every row, from the values of the arguments.

        A row that `where` excludes gives the identity.
        """

    def lift_groups(
        self, arguments: Sequence[pa.Array], where: Mask | None, ids: Rows, count: int
    ) -> Columns | None:
        """The partial of every group of rows, if that is cheaper than one for every row.

        None if it is not: then rows are lifted one by one, and combined by group.
        """
        return None

    @abstractmethod
    def encode(self, arrays: Sequence[pa.Array]) -> Columns:
        """Columns from one Arrow array per component."""

    @abstractmethod
    def decode(self, columns: Columns) -> list[pa.Array]:
        """One Arrow array per component, of the component's type."""

    @abstractmethod
    def combine(self, older: Columns, newer: Columns) -> Columns:
        """The combination of two columns of partials, row by row."""

    @abstractmethod
    def blank(self, rows: int) -> Columns:
        """The identity in this many rows."""

    def subtract(self, total: Columns, oldest: Columns) -> Columns:
        """`total` without `oldest`, row by row; only if the laws say invertible."""
        raise NotImplementedError(f"{self.kind} cannot be subtracted")

    def is_blank(self, columns: Columns) -> npt.NDArray[np.bool_]:
        """Whether each partial is the identity, as far as that is cheap to check."""
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
        """The columns concatenated."""
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
        """The columns as Arrow arrays for storage, in their internal form."""
        return [column if isinstance(column, pa.Array) else pa.array(column) for column in columns]

    def unpack(self, arrays: Sequence[pa.Array]) -> Columns:
        """The columns that `pack` stored."""
        return tuple(array.to_numpy(zero_copy_only=False) for array in arrays)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.kind}: {', '.join(map(str, self.types))})"


def length(columns: Columns) -> int:
    """The number of partials in the columns."""
    return len(columns[0])


def flat(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    """One contiguous Arrow array."""
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def only(array: pa.Array, where: Mask | None) -> pa.Array:
    """The array with null in the rows that `where` excludes."""
    if where is None or where.all():
        return array
    # By row numbers, because Arrow cannot make a null struct if its fields are not nullable.
    rows = np.arange(len(array))
    return array.take(pa.array(rows, mask=~where))


def rounded(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """The array cast to a type; longs past 2**53 become the nearest double, as in Spark."""
    return array if array.type == kind else array.cast(kind, safe=not pa.types.is_floating(kind))


def validity(array: pa.Array) -> npt.NDArray[np.bool_]:
    """Where an Arrow array is not null."""
    if array.null_count == 0:
        return np.ones(len(array), dtype=bool)
    return np.asarray(array.is_valid().to_numpy(zero_copy_only=False), dtype=bool)
