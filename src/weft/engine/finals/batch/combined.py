"""Prepares a part's partials for combining any ranges of rows; how depends on the kind of part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from weft.algebra.ops import numba_ops
from weft.algebra.ops.base import Columns, VectorOp, length
from weft.algebra.ops.lists import ListOp
from weft.algebra.ops.numbers import NumberOp
from weft.algebra.ops.objects import ObjectOp
from weft.algebra.ops.order import float_keys, from_float_keys
from weft.algebra.ops.picks import PickOp
from weft.engine.finals.auto import Choice, choose, named
from weft.engine.finals.batch import blocks, in_order
from weft.engine.finals.batch.running import Combined, Counted, by_subtraction
from weft.engine.finals.batch.scratch import Scratch
from weft.engine.finals.batch.sweep import sweep
from weft.engine.finals.contract import Algebra
from weft.engine.finals.lanes import Lanes
from weft.engine.finals.registry import make

Int64: TypeAlias = npt.NDArray[np.int64]


def combined(
    op: VectorOp,
    columns: Columns,
    *,
    asks: int = 1,
    structure: str = "auto",
    scratch: Scratch | None = None,
    name: str = "",
) -> Combined:
    """The partials prepared for `asks` requests; `scratch` provides memory under `name`.

    `structure` names a final structure; `auto` takes the cheapest for this many requests.

    >>> import pyarrow as pa
    >>> from weft.algebra.ops import bind
    >>> from weft.algebra.part import Part
    >>> op = bind(Part("max", ("price",)), [pa.float64()])
    >>> ready = combined(op, op.encode([pa.array([3.0, None, 9.0, 4.0])]), structure="flatfit")
    >>> op.decode(ready.over(np.array([0, 1, 1]), np.array([2, 2, 4])))[0].tolist()
    [3.0, None, 9.0]
    """
    way = choice(op, asks, structure).structure
    room = _Room(way, Scratch() if scratch is None else scratch, name)
    if isinstance(op, ListOp):
        return _Lists(op, columns, None if structure == "auto" else room)
    if isinstance(op, ObjectOp):
        return _Stepwise.of_objects(op, columns, way)
    if isinstance(op, PickOp):
        return _Picks(op, columns, room)
    if way == "subtract" and (exact := by_subtraction(op, columns)) is not None:
        return exact
    if op.tag is None:
        return _Stepwise.of_columns(op, columns, way)
    if isinstance(op, NumberOp) and op.counted:
        if isinstance(op.tag, (numba_ops.Max, numba_ops.Min)):
            return _Extremes(op, columns, room)
        return Counted(_Compiled(op.tag, columns[:1], op.blank(1)[:1], room), columns[1])
    return _Compiled(op.tag, columns, op.blank(1), room)


def choice(op: VectorOp, asks: int, structure: str) -> Choice:
    """The structure that answers `asks` requests of a part in a batch, and why."""
    if structure == "auto":
        numbers = not isinstance(op, ObjectOp)
        return choose(op.laws, form="batch", ranges=max(1, asks), numbers=numbers)
    return named(structure, op.laws, op.kind)


@dataclass(frozen=True)
class _Room:
    """The structure of a compiled operation, and the memory that it uses."""

    structure: str
    scratch: Scratch
    name: str

    def like(self, columns: Columns, name: str, rows: int) -> Columns:
        """Uninitialised columns of this many rows with the same types."""
        return tuple(
            self.scratch.take(f"{self.name} {name} {position}", rows, column.dtype)
            for position, column in enumerate(columns)
        )


class _Compiled:
    """Any operation with a compiled form, by any structure; `blank` is one row, the identity."""

    def __init__(self, tag: Any, columns: Columns, blank: Columns, room: _Room) -> None:
        self.tag, self.blank, self.room = tag, blank, room
        self.in_order = room.structure != "blocks"
        self.columns = tuple(np.ascontiguousarray(column) for column in columns)
        self.rows = length(columns)
        self.blocks: tuple[Columns, Columns, Columns] | None = None
        if room.structure == "blocks" and self.rows:
            prefix, suffix = (room.like(self.columns, name, self.rows) for name in ("pre", "suf"))
            cells = blocks.levels(self.rows) * -(-self.rows // blocks.BLOCK)
            table = room.like(self.columns, "table", cells)
            blocks.prepare(tag, self.columns, prefix, suffix, table)
            self.blocks = prefix, suffix, table

    def over(self, low: Int64, high: Int64) -> Columns:
        out = tuple(np.empty(len(low), dtype=column.dtype) for column in self.columns)
        if len(low):
            _OVER[self.room.structure](self, low, high, out)
        return out

    def work(self, rows: int) -> Columns:
        """Columns of this many rows as working memory."""
        return self.room.like(self.columns, "work", rows)

    def copy(self) -> Columns:
        """A copy of the partials that may be overwritten."""
        work = self.work(self.rows)
        for target, source in zip(work, self.columns, strict=True):
            target[:] = source
        return work


def _over_blocks(of: _Compiled, low: Int64, high: Int64, out: Columns) -> None:
    assert of.blocks is not None
    blocks.combine_ranges(of.tag, of.columns, *of.blocks, low, high, out)


def _over_stacks(of: _Compiled, low: Int64, high: Int64, out: Columns) -> None:
    sweep(of.tag, of.columns, low, high, of.work(of.rows), out)


def _over_naive(of: _Compiled, low: Int64, high: Int64, out: Columns) -> None:
    in_order.naive(of.tag, of.columns, low, high, out)


def _over_flatfat(of: _Compiled, low: Int64, high: Int64, out: Columns) -> None:
    leaves = 1 << (of.rows - 1).bit_length()
    in_order.flatfat(of.tag, of.columns, of.work(2 * leaves), leaves, low, high, out)


def _over_bint(of: _Compiled, low: Int64, high: Int64, out: Columns) -> None:
    leaves = 1 << (of.rows - 1).bit_length()
    in_order.bint(of.tag, of.columns, of.work(2 * leaves), leaves, low, high, out)


def _over_flatfit(of: _Compiled, low: Int64, high: Int64, out: Columns) -> None:
    pointers, stack = (
        of.room.scratch.take(f"{of.room.name} {name}", of.rows, np.dtype(np.int64))
        for name in ("pointers", "stack")
    )
    in_order.flatfit(of.tag, of.copy(), pointers, stack, low, high, out)


def _over_daba(of: _Compiled, low: Int64, high: Int64, out: Columns) -> None:
    in_order.daba(of.tag, of.copy(), of.blank, low, high, out)


def _over_shift(of: _Compiled, low: Int64, high: Int64, out: Columns) -> None:
    in_order.shift(of.tag, of.columns, of.work(of.rows), low, high, out)


_OVER: dict[str, Callable[[_Compiled, Int64, Int64, Columns], None]] = {
    "naive": _over_naive,
    "flatfat": _over_flatfat,
    "bint": _over_bint,
    "flatfit": _over_flatfit,
    "two_stacks": _over_stacks,
    "daba": _over_daba,
    "shift": _over_shift,
    "blocks": _over_blocks,
}


class _Extremes:
    """Minimum and maximum of numbers: one compiled maximum of 64-bit integers serves all types."""

    def __init__(self, op: NumberOp, columns: Columns, room: _Room) -> None:
        self.floats = op.floats
        self.least = isinstance(op.tag, numba_ops.Min)
        keys = float_keys(columns[0]) if self.floats else columns[0]
        keys = ~keys if self.least else keys
        self.ready = Counted(_greatest(keys, room), columns[1])
        self.in_order = self.ready.in_order

    def over(self, low: Int64, high: Int64) -> Columns:
        keys, count = self.ready.over(low, high)
        keys = ~keys if self.least else keys
        return (from_float_keys(keys) if self.floats else keys), count


class _Picks:
    """Picks whole partials: by the same maximum, over ranks that are distinct for every row."""

    def __init__(self, op: PickOp, columns: Columns, room: _Room) -> None:
        self.op, self.columns = op, columns
        rows = length(columns)
        at, seen = np.arange(rows), op.seen(columns)
        if op.choice.by is None:
            self.winner = at if op.choice.newer else at[::-1].copy()
        else:
            keys = op.keys(columns)
            keys = keys if op.choice.most else ~keys
            # Of equal keys the row that sorts last wins: the newest, or the oldest, as chosen.
            order = np.lexsort((at if op.choice.newer else -at, keys))
            self.winner = order
        rank = np.empty(rows, dtype=np.int64)
        rank[self.winner] = at
        rank[~seen] = -1
        self.ranks = _greatest(rank, room)
        self.in_order = self.ranks.in_order

    def over(self, low: Int64, high: Int64) -> Columns:
        (rank,) = self.ranks.over(low, high)
        if length(self.columns) == 0:
            return self.op.blank(len(low))
        rows = np.where(rank < 0, -1, self.winner[rank])
        return self.op.take(self.columns, rows)


def _greatest(keys: Int64, room: _Room) -> _Compiled:
    least = np.array([np.iinfo(np.int64).min])
    return _Compiled(numba_ops.Max(), (keys,), (least,), room)


class _Lists:
    """Concatenates lists: the values of consecutive rows are adjacent already.

    A structure requested by name combines ranges of rows; their lists are concatenated at the end.
    """

    in_order = True

    def __init__(self, op: ListOp, columns: Columns, room: _Room | None) -> None:
        self.op, self.lists = op, columns[0]
        self.stretches: _Compiled | None = None
        if room is not None:
            rows = np.arange(len(self.lists))
            spans = (np.ones(len(rows), dtype=np.int64), rows, rows + 1)
            none = tuple(np.zeros(1, dtype=np.int64) for _ in range(3))
            self.stretches = _Compiled(numba_ops.Join(), spans, none, room)

    def over(self, low: Int64, high: Int64) -> Columns:
        if self.stretches is not None:
            _, low, high = self.stretches.over(low, high)
        return (self.op.joined(self.lists, None, low, high),)


class _Stepwise:
    """Operations without a compiled form: inserts row by row into the structure itself."""

    in_order = True

    def __init__(
        self,
        algebra: Algebra,
        partials: Sequence[Any],
        structure: str,
        columns: Callable[[list[Any]], Columns],
    ) -> None:
        self.algebra, self.partials, self.columns = algebra, partials, columns
        # `blocks` works only on whole batches, so another structure replaces it.
        self.structure = "two_stacks" if structure == "blocks" else structure

    @classmethod
    def of_objects(cls, op: ObjectOp, columns: Columns, structure: str) -> _Stepwise:
        """For partials that are Python values, combined by their monoid."""
        partials = list(zip(*(column.to_pylist() for column in columns), strict=True))
        return cls(op.monoid, partials, structure, op.columns)

    @classmethod
    def of_columns(cls, op: VectorOp, columns: Columns, structure: str) -> _Stepwise:
        """For partials as columns of one row each, combined by the operation on columns."""
        partials = [op.cut(columns, row, row + 1) for row in range(length(columns))]
        return cls(Lanes(op), partials, structure, lambda found: op.concat([*found, op.blank(0)]))

    def over(self, low: Int64, high: Int64) -> Columns:
        final = make(self.structure, self.algebra, capacity=16, late=False)
        answers = []
        for begin, end in zip(low.tolist(), high.tolist(), strict=True):
            if begin > final.end:  # a gap between ranges: start a new structure after it
                final = make(self.structure, self.algebra, capacity=16, first=begin, late=False)
            final.evict(min(begin, final.end))
            while final.end < end:
                final.insert(self.partials[final.end])
            answers.append(final.answer(start=begin))
        return self.columns(answers)
