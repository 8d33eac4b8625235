"""A slice's partials of many keys as one value, and the algebra of such values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from numba import njit

from weft.algebra.monoid import Laws
from weft.algebra.ops.base import Columns, VectorOp
from weft.errors import FinalsError

Int64: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Frame:
    """The partials of some keys: ascending keys, and for every part its columns.

    A key without rows is absent, so a stream of a million keys of which few are seen at a time
    keeps only those.
    """

    keys: Int64
    parts: tuple[Columns, ...]

    def __len__(self) -> int:
        return len(self.keys)


class Frames:
    """The algebra of frames over some parts: keys are joined, partials of equal keys combined.

    >>> import pyarrow as pa
    >>> from weft.algebra.ops import bind
    >>> from weft.algebra.part import Part
    >>> frames = Frames([bind(Part("max", ("price",)), [pa.float64()])])
    >>> a = frames.of([1, 4], [[pa.array([3.0, 9.0])]])
    >>> b = frames.of([4, 7], [[pa.array([5.0, 2.0])]])
    >>> both = frames.combine(a, b)
    >>> both.keys.tolist(), frames.decode(both)[0][0].tolist()
    ([1, 4, 7], [3.0, 9.0, 2.0])
    """

    kind = "frames"

    def __init__(self, ops: Sequence[VectorOp]) -> None:
        self.ops = tuple(ops)
        self.laws = Laws(
            commutative=all(op.laws.commutative for op in self.ops),
            invertible=all(op.laws.invertible for op in self.ops),
            idempotent=all(op.laws.idempotent for op in self.ops),
        )
        self.identity = Frame(np.empty(0, dtype=np.int64), tuple(op.blank(0) for op in self.ops))

    def of(self, keys: npt.ArrayLike, parts: Sequence[Sequence[pa.Array]]) -> Frame:
        """A frame of distinct keys in any order, and one Arrow array per component of each part."""
        given = np.asarray(keys, dtype=np.int64)
        encoded = [op.encode(arrays) for op, arrays in zip(self.ops, parts, strict=True)]
        order = np.argsort(given, kind="stable")
        ascending = given[order]
        if (ascending[1:] == ascending[:-1]).any():
            raise FinalsError("keys of a frame must be distinct: combine their partials first")
        taken = (op.take(part, order) for op, part in zip(self.ops, encoded, strict=True))
        return Frame(ascending, tuple(taken))

    def decode(self, frame: Frame) -> list[list[pa.Array]]:
        """For every part, one Arrow array per component."""
        return [op.decode(part) for op, part in zip(self.ops, frame.parts, strict=True)]

    def combine(self, older: Frame, newer: Frame) -> Frame:
        if not len(newer):
            return older
        if not len(older):
            return newer
        if older.keys is newer.keys or np.array_equal(older.keys, newer.keys):
            return Frame(
                older.keys,
                tuple(
                    op.combine(a, b)
                    for op, a, b in zip(self.ops, older.parts, newer.parts, strict=True)
                ),
            )
        keys, left, right = _union(older.keys, newer.keys)
        return Frame(
            keys,
            tuple(
                op.combine(op.take(a, left), op.take(b, right))
                for op, a, b in zip(self.ops, older.parts, newer.parts, strict=True)
            ),
        )

    def subtract(self, total: Frame, oldest: Frame) -> Frame:
        rows = np.searchsorted(oldest.keys, total.keys)
        rows = np.minimum(rows, max(0, len(oldest) - 1))
        found = oldest.keys[rows] == total.keys if len(oldest) else np.zeros(len(total), dtype=bool)
        at = np.where(found, rows, -1)
        parts = tuple(
            op.subtract(a, op.take(b, at))
            for op, a, b in zip(self.ops, total.parts, oldest.parts, strict=True)
        )
        gone = np.ones(len(total), dtype=bool)
        for op, part in zip(self.ops, parts, strict=True):
            gone &= op.is_blank(part)
        return (
            self.take(Frame(total.keys, parts), np.flatnonzero(~gone))
            if gone.any()
            else Frame(total.keys, parts)
        )

    def take(self, frame: Frame, rows: Int64) -> Frame:
        """The frame of some of its rows, ascending."""
        return Frame(
            frame.keys[rows],
            tuple(op.take(part, rows) for op, part in zip(self.ops, frame.parts, strict=True)),
        )

    def is_identity(self, frame: Frame) -> bool:
        """Whether the frame has no keys."""
        return len(frame) == 0

    # Many frames as one table of Arrow columns, and back.

    def pack(self, frames: Sequence[Frame | None]) -> pa.RecordBatch:
        """The frames end to end; their lengths are the batch's metadata (-1 for none)."""
        held = [frame for frame in frames if frame is not None] or [self.identity]
        columns = [pa.array(np.concatenate([frame.keys for frame in held]))]
        for position, op in enumerate(self.ops):
            columns += op.pack(op.concat([frame.parts[position] for frame in held]))
        lengths = np.array([-1 if f is None else len(f) for f in frames], dtype=np.int64)
        batch = pa.RecordBatch.from_arrays(columns, [f"c{at}" for at in range(len(columns))])
        return batch.replace_schema_metadata({b"lengths": lengths.tobytes()})

    def unpack(self, batch: pa.RecordBatch) -> list[Frame | None]:
        """The frames of what `pack` gave."""
        lengths = np.frombuffer(batch.schema.metadata[b"lengths"], dtype=np.int64)
        keys = batch.column(0).to_numpy()
        parts, at = [], 1
        for op in self.ops:
            width = len(op.pack(op.blank(0)))
            parts.append(op.unpack([batch.column(at + place) for place in range(width)]))
            at += width
        frames: list[Frame | None] = []
        row = 0
        for held in lengths.tolist():
            if held < 0:
                frames.append(None)
                continue
            cut = (op.cut(part, row, row + held) for op, part in zip(self.ops, parts, strict=True))
            frames.append(Frame(keys[row : row + held], tuple(cut)))
            row += held
        return frames


@njit(cache=True)
def _union(a: Int64, b: Int64) -> tuple[Int64, Int64, Int64]:
    """The keys of either, ascending, and the row of each in a and in b, or -1."""
    room = len(a) + len(b)
    keys = np.empty(room, dtype=np.int64)
    left, right = np.full(room, -1, dtype=np.int64), np.full(room, -1, dtype=np.int64)
    i = j = found = 0
    while i < len(a) or j < len(b):
        take_a = j == len(b) or (i < len(a) and a[i] <= b[j])
        take_b = i == len(a) or (j < len(b) and b[j] <= a[i])
        keys[found] = a[i] if take_a else b[j]
        if take_a:
            left[found] = i
            i += 1
        if take_b:
            right[found] = j
            j += 1
        found += 1
    return keys[:found], left[:found], right[:found]
