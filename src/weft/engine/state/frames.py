"""Frames: the partials of one slice for many groups as one value, and the algebra of frames.

    shards of a slice --slice_frames--> Frame --combine, subtract--> Frame --keys, decode--> answers

Within a micro-batch a group is identified by a number (`Keys`); the state stores the keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from numba import njit

from weft.algebra.monoid import Laws
from weft.algebra.ops import bind
from weft.algebra.ops.base import Columns, VectorOp, flat
from weft.algebra.part import Part
from weft.engine.finals.batch.grouped import by_group
from weft.engine.groups import group_rows
from weft.errors import CheckpointError

Int64: TypeAlias = npt.NDArray[np.int64]
_PRESENT = Part("count")


class Keys:
    """Numbers for groups: equal keys have equal numbers as long as this object lives.

    >>> keys = Keys([pa.string()])
    >>> keys.numbers([pa.array(["a", "b", "a"])], 3).tolist()
    [0, 1, 0]
    >>> keys.numbers([pa.array([None, "b"])], 2).tolist()
    [2, 1]
    >>> [column.to_pylist() for column in keys.columns(np.array([2, 0]))]
    [[None, 'a']]
    """

    def __init__(self, types: Sequence[pa.DataType]) -> None:
        self.types = tuple(types)
        self._known = [pa.array([], kind) for kind in types]
        self._count = 0

    def numbers(self, columns: Sequence[pa.Array], rows: int) -> Int64:
        """The number of each row's group; new groups get the next numbers."""
        if not self.types:
            return np.zeros(rows, dtype=np.int64)
        joined = [pa.concat_arrays(pair) for pair in zip(self._known, columns, strict=True)]
        groups = group_rows(joined, self._count + rows)
        by_appearance = np.empty(groups.count, dtype=np.int64)
        order = np.argsort(groups.first)
        by_appearance[order] = np.arange(groups.count)
        found = by_appearance[groups.ids[self._count :]]
        if groups.count > self._count:
            first = pa.array(groups.first[order])
            self._known = [column.take(first) for column in joined]
            self._count = groups.count
        return found

    def columns(self, numbers: Int64) -> list[pa.Array]:
        """The keys of some groups."""
        at = pa.array(numbers)
        return [column.take(at) for column in self._known]


@dataclass(frozen=True, eq=False)
class Frame:
    """The partials of some groups: ascending numbers, and for every part its columns.

    Groups without rows are absent, so of a million keys only those in the slice are stored.
    """

    groups: Int64
    parts: tuple[Columns, ...]

    def __len__(self) -> int:
        return len(self.groups)


class Frames:
    """The algebra of frames: the union of groups; the partials of equal groups are combined.

    With `counts`, every frame also counts in how many slices each group occurs. Subtracting slices
    then shows which groups are gone, which a sum of zero or null would not.

    >>> frames = Frames([bind(Part("max", ("price",)), [pa.float64()])], Keys([pa.string()]))
    >>> a = frames.of([pa.array(["x", "y"])], [[pa.array([3.0, 9.0])]])
    >>> b = frames.of([pa.array(["y", "z"])], [[pa.array([5.0, 2.0])]])
    >>> both = frames.combine(a, b)
    >>> frames.keys.columns(both.groups)[0].tolist(), frames.decode(both)[0][0].tolist()
    (['x', 'y', 'z'], [3.0, 9.0, 2.0])
    """

    kind = "frames"

    def __init__(self, ops: Sequence[VectorOp], keys: Keys, *, counts: bool = False) -> None:
        self.keys, self.counts = keys, counts
        self.ops = (*ops, bind(_PRESENT, [pa.int64()])) if counts else tuple(ops)
        self.laws = Laws(
            commutative=all(op.laws.commutative for op in self.ops),
            invertible=all(op.laws.invertible for op in self.ops),
            idempotent=all(op.laws.idempotent for op in self.ops),
        )
        self.identity = Frame(np.empty(0, dtype=np.int64), tuple(op.blank(0) for op in self.ops))

    def of(self, keys: Sequence[pa.Array], parts: Sequence[Sequence[pa.Array]]) -> Frame:
        """The frame of one slice; rows may be in any order, those of one group are combined."""
        rows = len(keys[0]) if keys else len(parts[0][0])
        ((_, frame),) = self.slices(np.zeros(rows, dtype=np.int64), keys, parts)
        return frame

    def slices(
        self, starts: Int64, keys: Sequence[pa.Array], parts: Sequence[Sequence[pa.Array]]
    ) -> list[tuple[int, Frame]]:
        """One frame for each slice start in the rows, ascending."""
        if not len(starts):
            return []
        numbers = self.keys.numbers(keys, len(starts))
        order = np.lexsort((numbers, starts))
        starts, numbers = starts[order], numbers[order]
        fresh = np.ones(len(order), dtype=bool)
        fresh[1:] = (starts[1:] != starts[:-1]) | (numbers[1:] != numbers[:-1])
        rows = np.flatnonzero(fresh)
        ids = np.cumsum(fresh) - 1
        at = pa.array(order)
        columns: list[Columns] = []
        for op, arrays in zip(self.ops, parts, strict=not self.counts):
            taken = op.encode([array.take(at) for array in arrays])
            columns.append(by_group(op, taken, ids, len(rows)))
        if self.counts:
            columns.append((np.ones(len(rows), dtype=np.int64),))
        starts, numbers = starts[rows], numbers[rows]
        cuts = [0, *(np.flatnonzero(starts[1:] != starts[:-1]) + 1).tolist(), len(rows)]
        return [
            (int(starts[low]), self._cut(numbers, columns, low, high))
            for low, high in pairwise(cuts)
        ]

    def _cut(self, numbers: Int64, columns: Sequence[Columns], low: int, high: int) -> Frame:
        parts = (op.cut(part, low, high) for op, part in zip(self.ops, columns, strict=True))
        return Frame(numbers[low:high], tuple(parts))

    def decode(self, frame: Frame) -> list[list[pa.Array]]:
        """For every part, one Arrow array per component."""
        return [self.decode_part(frame, at) for at in range(len(self.ops) - bool(self.counts))]

    def decode_part(self, frame: Frame, at: int) -> list[pa.Array]:
        """One part's Arrow arrays."""
        return self.ops[at].decode(frame.parts[at])

    def combine(self, older: Frame, newer: Frame) -> Frame:
        if not len(newer):
            return older
        if not len(older):
            return newer
        if older.groups is newer.groups or np.array_equal(older.groups, newer.groups):
            return Frame(
                older.groups,
                tuple(
                    op.combine(a, b)
                    for op, a, b in zip(self.ops, older.parts, newer.parts, strict=True)
                ),
            )
        groups, left, right = _union(older.groups, newer.groups)
        return Frame(
            groups,
            tuple(
                op.combine(op.take(a, left), op.take(b, right))
                for op, a, b in zip(self.ops, older.parts, newer.parts, strict=True)
            ),
        )

    def subtract(self, total: Frame, oldest: Frame) -> Frame:
        at = _rows_of(oldest.groups, total.groups)
        parts = tuple(
            op.subtract(a, op.take(b, at))
            for op, a, b in zip(self.ops, total.parts, oldest.parts, strict=True)
        )
        left = np.flatnonzero(parts[-1][0] > 0)  # the count of slices
        frame = Frame(total.groups, parts)
        return frame if len(left) == len(total) else self.take(frame, left)

    def without_presence(self, late: Frame, held: Frame) -> Frame:
        """The late frame with its groups counted only if the held slice does not have them."""
        fresh = (_rows_of(held.groups, late.groups) < 0).astype(np.int64)
        return Frame(late.groups, (*late.parts[:-1], (fresh,)))

    def take(self, frame: Frame, rows: Int64) -> Frame:
        """The frame restricted to some rows, given in ascending order."""
        return Frame(
            frame.groups[rows],
            tuple(op.take(part, rows) for op, part in zip(self.ops, frame.parts, strict=True)),
        )

    def is_identity(self, frame: Frame) -> bool:
        """Whether the frame has no groups."""
        return len(frame) == 0

    # Many frames as one table of Arrow columns, and back.

    def pack(self, frames: Sequence[Frame | None]) -> pa.Table:
        """The frames concatenated; the metadata of the table has their lengths (-1 for None)."""
        held = [frame for frame in frames if frame is not None] or [self.identity]
        columns = self.keys.columns(np.concatenate([frame.groups for frame in held]))
        for position, op in enumerate(self.ops):
            columns += op.pack(op.concat([frame.parts[position] for frame in held]))
        lengths = ",".join(str(-1 if frame is None else len(frame)) for frame in frames)
        names = [f"c{at}" for at in range(len(columns))]
        return pa.table(columns, names).replace_schema_metadata({"lengths": lengths})

    def unpack(self, table: pa.Table) -> list[Frame | None]:
        """The frames that `pack` stored."""
        columns = [flat(column) for column in table.columns]
        lengths = [int(text) for text in table.schema.metadata[b"lengths"].decode().split(",")]
        width = len(self.keys.types)
        keys = [c.cast(kind) for c, kind in zip(columns, self.keys.types, strict=False)]
        numbers = self.keys.numbers(keys, table.num_rows)
        parts: list[Columns] = []
        for op in self.ops:
            own = len(op.pack(op.blank(0)))
            parts.append(op.unpack(columns[width : width + own]))
            width += own
        if width != len(columns) or sum(max(0, held) for held in lengths) != table.num_rows:
            raise CheckpointError("a piece of finals in the state holds other parts than are kept")
        frames: list[Frame | None] = []
        row = 0
        for held in lengths:
            if held < 0:
                frames.append(None)
                continue
            frame = self._cut(numbers, parts, row, row + held)
            order = np.argsort(frame.groups)
            frames.append(self.take(frame, order))
            row += held
        return frames


def _rows_of(groups: Int64, wanted: Int64) -> Int64:
    """The row of each wanted group among ascending groups, or -1."""
    if not len(groups):
        return np.full(len(wanted), -1)
    rows = np.minimum(np.searchsorted(groups, wanted), len(groups) - 1)
    return np.where(groups[rows] == wanted, rows, -1)


@njit(cache=True)
def _union(a: Int64, b: Int64) -> tuple[Int64, Int64, Int64]:
    """The groups of both, ascending, and the row of each in a and in b, or -1."""
    room = len(a) + len(b)
    groups = np.empty(room, dtype=np.int64)
    left, right = np.full(room, -1, dtype=np.int64), np.full(room, -1, dtype=np.int64)
    i = j = found = 0
    while i < len(a) or j < len(b):
        take_a = j == len(b) or (i < len(a) and a[i] <= b[j])
        take_b = i == len(a) or (j < len(b) and b[j] <= a[i])
        groups[found] = a[i] if take_a else b[j]
        if take_a:
            left[found] = i
            i += 1
        if take_b:
            right[found] = j
            j += 1
        found += 1
    return groups[:found], left[:found], right[:found]
