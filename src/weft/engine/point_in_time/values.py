"""From the rows and the spine of some keys to the partials of every spine row's intervals.

    rows --sort by key and time, lift--> a partial a row --a final structure over the rows of a
        predicate--> combined partials of [low, high)
    spine --sort by key and instant--> of every interval, the rows [low, high) that count

The rows are sorted and lifted once for all intervals, and a structure that is prepared once
combines any interval in a few steps, however long it is. Only aggregates that need every value
(lists, sketches) read the rows again for each interval.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from weft.algebra.ops import bind
from weft.algebra.ops.base import Columns, VectorOp
from weft.algebra.ops.lists import ListOp
from weft.algebra.ops.objects import ObjectOp, SketchOp
from weft.algebra.part import Part
from weft.engine.finals.batch.combined import combined
from weft.engine.finals.batch.running import Combined
from weft.engine.finals.batch.scratch import Scratch
from weft.engine.fragments.fragments import FragmentPlan, distinct_fragments
from weft.engine.groups import group_rows
from weft.engine.point_in_time.distinct import DistinctCounts
from weft.engine.point_in_time.interval import NEVER, Edge, first_rows
from weft.engine.point_in_time.program import FRAGMENT, TIME, SpineProgram, Target
from weft.engine.shards import flat
from weft.errors import AggregateError

Int64: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]

CHUNK = 1 << 18
"""Rows and spine rows prepared at a time; more only if one key has more."""
CELLS = 1 << 22
"""Values computed at a time: spine rows times the columns of all targets."""
GATHERED = 1 << 22
"""Rows gathered at a time for aggregates that need every value in an interval."""


@dataclass(frozen=True, eq=False)
class SpineValues:
    """The values of some spine rows, which are given by number: one array per column."""

    rows: Int64
    columns: list[pa.Array]


def spine_values(
    rows: pa.Table,
    spine: pa.Table,
    program: SpineProgram,
    *,
    chunk: int = CHUNK,
    cells: int = CELLS,
) -> Iterator[SpineValues]:
    """The combined partials of every target for every row of the spine, some rows at a time.

    Each row of the spine is returned once. An interval without rows gives the identity.
    """
    names = program.key_columns
    keys = [pa.concat_arrays([flat(rows, name), flat(spine, name)]) for name in names]
    groups = group_rows(keys, rows.num_rows + spine.num_rows)
    mine, asked = groups.ids[: rows.num_rows], groups.ids[rows.num_rows :]
    wanted = np.zeros(max(groups.count, 1), dtype=bool)
    wanted[asked] = True
    times = flat(rows, TIME).to_numpy()
    instants = pc.fill_null(flat(spine, TIME), NEVER).to_numpy()
    kept = None if wanted.all() else np.flatnonzero(wanted[mine])  # rows whose key is in the spine
    order = _sorted(mine, times, kept)
    spine_order = _sorted(asked, instants, None)
    row_bounds = _bounds(mine[order], groups.count)
    spine_bounds = _bounds(asked[spine_order], groups.count)
    fragments = _Fragments.of(rows, program.fragments)
    maker = _Maker(program)
    most = max(1, cells // len(program.fields))
    for low, high in _chunks(row_bounds + spine_bounds, chunk):
        some = order[row_bounds[low] : row_bounds[high]]
        here = spine_order[spine_bounds[low] : spine_bounds[high]]
        if not len(here):
            continue
        stretch = _Stretch(
            position=times[some],
            row_bounds=row_bounds[low : high + 1] - row_bounds[low],
            instants=instants[here],
            spine_bounds=spine_bounds[low : high + 1] - spine_bounds[low],
        )
        ready = maker.prepared(rows, some, fragments)
        for base in range(0, len(here), most):
            asking = stretch.part(base, min(base + most, len(here)))
            ranges = [asking.ranges(target) for target in program.targets]
            for begin, end in maker.steps(ranges, len(asking.instants)):
                columns: list[pa.Array] = []
                for target, (first, last) in zip(program.targets, ranges, strict=True):
                    columns += maker.values(target, ready, first[begin:end], last[begin:end])
                yield SpineValues(here[base + begin : base + end], columns)


@dataclass
class _Stretch:
    """The rows and the spine rows of some keys, both sorted."""

    position: Int64
    row_bounds: Int64
    instants: Int64
    spine_bounds: Int64

    def __post_init__(self) -> None:
        self.found: dict[Edge, Int64] = {}

    def part(self, begin: int, end: int) -> _Stretch:
        """The same for some of the spine rows."""
        low = int(np.searchsorted(self.spine_bounds, begin, side="right")) - 1
        high = int(np.searchsorted(self.spine_bounds, end, side="left"))
        return _Stretch(
            self.position,
            self.row_bounds[low : high + 1],
            self.instants[begin:end],
            np.clip(self.spine_bounds[low : high + 1], begin, end) - begin,
        )

    def ranges(self, target: Target) -> tuple[Int64, Int64]:
        """For every spine row, the rows `[first, last)` that lie in the target's interval."""
        return self._first_rows(target.interval.start), self._first_rows(target.interval.end)

    def _first_rows(self, edge: Edge) -> Int64:
        if edge not in self.found:
            out = np.empty(len(self.instants), dtype=np.int64)
            edges = edge.of(self.instants)
            first_rows(self.position, self.row_bounds, self.spine_bounds, edges, out)
            self.found[edge] = out
        return self.found[edge]


@dataclass(frozen=True, eq=False)
class _Fragments:
    """Which rows satisfy which predicate."""

    number: Int64
    members: Bools

    @classmethod
    def of(cls, rows: pa.Table, plan: FragmentPlan | None) -> _Fragments | None:
        if plan is None or not rows.num_rows:
            return None
        return cls(*distinct_fragments(rows.column(FRAGMENT), plan))

    def satisfied(self, predicate: int, rows: Int64) -> Bools:
        found: Bools = self.members[:, predicate][self.number[rows]]
        return found


@dataclass(frozen=True, eq=False)
class _Ready:
    """The rows of a stretch that satisfy a predicate, and its parts prepared for their ranges."""

    before: Int64 | None
    """How many rows that satisfy the predicate precede each row; None if all satisfy it."""
    parts: dict[int, Combined]

    def places(self, rows: Int64) -> Int64:
        return rows if self.before is None else self.before[rows]


class _Maker:
    """Computes the columns of targets; keeps what is the same for all stretches."""

    def __init__(self, program: SpineProgram) -> None:
        self.program = program
        self.ops = [
            bind(Part("count") if part.counted else part.numbered.part, part.numbered.types)
            for part in program.parts
        ]
        self.scratch = Scratch()
        self.asks: dict[int | None, dict[int, int]] = {}
        for target in program.targets:
            counts = self.asks.setdefault(target.predicate, {})
            for part in target.parts:
                counts[part] = counts.get(part, 0) + 1

    def prepared(
        self, rows: pa.Table, some: Int64, fragments: _Fragments | None
    ) -> dict[int | None, _Ready]:
        """For every predicate, its parts prepared over some rows, in this order."""
        found: dict[int | None, _Ready] = {}
        for predicate, counts in self.asks.items():
            kept, before = some, None
            if predicate is not None and fragments is not None:
                mask = fragments.satisfied(predicate, some)
                kept, before = some[mask], np.concatenate([[0], np.cumsum(mask)])
            parts: dict[int, Combined] = {}
            if len(kept):
                for part, asks in counts.items():
                    parts[part] = self._part(part, rows, kept, asks, f"{predicate} {part}")
            found[predicate] = _Ready(before, parts)
        return found

    def _part(self, number: int, rows: pa.Table, kept: Int64, asks: int, name: str) -> Combined:
        part, op = self.program.parts[number], self.ops[number]
        at = pa.array(kept)
        arguments = [flat(rows, column).take(at) for column in part.arguments]
        where = None
        if part.where is not None:
            mask = pc.fill_null(flat(rows, part.where).take(at), False)
            where = np.asarray(mask.to_numpy(zero_copy_only=False), dtype=bool)
        if part.counted:
            return DistinctCounts(arguments, where)
        if isinstance(op, SketchOp):
            return _Sketches(op, arguments, where)
        if not part.arguments and where is None:  # a count of rows
            where = np.ones(len(kept), dtype=bool)
        return combined(op, op.lift(arguments, where), asks=asks, scratch=self.scratch, name=name)

    def steps(self, ranges: Sequence[tuple[Int64, Int64]], rows: int) -> Iterator[tuple[int, int]]:
        """Ranges of spine rows, each gathering at most `GATHERED` rows."""
        gathered = np.zeros(rows, dtype=np.int64)
        for target, (first, last) in zip(self.program.targets, ranges, strict=True):
            heavy = sum(isinstance(self.ops[part], (ListOp, ObjectOp)) for part in target.parts)
            if heavy:
                gathered += heavy * (last - first)
        total = np.cumsum(gathered)
        begin = 0
        while begin < rows:
            before = int(total[begin - 1]) if begin else 0
            end = int(np.searchsorted(total, before + GATHERED, side="right"))
            end = min(max(end, begin + 1), rows)
            yield begin, end
            begin = end

    def values(
        self, target: Target, ready: dict[int | None, _Ready], first: Int64, last: Int64
    ) -> list[pa.Array]:
        """The columns of a target's parts over ranges of rows."""
        mine = ready[target.predicate]
        low, high = mine.places(first), mine.places(last)
        held = np.flatnonzero(low < high)
        low, high = low[held], high[held]
        places = None
        if len(held) < len(first):
            places = np.full(len(first), -1, dtype=np.int64)
            places[held] = np.arange(len(held))
        columns: list[pa.Array] = []
        for number in target.parts:
            op = self.ops[number]
            found = mine.parts[number].over(low, high) if len(held) else op.blank(0)
            columns += self._decoded(
                target, op, found if places is None else op.take(found, places)
            )
        return columns

    def _decoded(self, target: Target, op: VectorOp, columns: Columns) -> list[pa.Array]:
        try:
            return op.decode(columns)
        except AggregateError as error:
            raise AggregateError(f"query {', '.join(map(repr, target.queries))}: {error}") from None


class _Sketches:
    """Builds one sketch from the values in each range: one per row would take a kilobyte each."""

    in_order = False

    def __init__(self, op: SketchOp, arguments: list[pa.Array], where: Bools | None) -> None:
        self.op, self.arguments, self.where = op, arguments, where

    def over(self, low: Int64, high: Int64) -> Columns:
        """One sketch for each range of rows."""
        lengths = high - low
        ids = np.repeat(np.arange(len(low)), lengths)
        rows = np.arange(len(ids)) + np.repeat(low - (np.cumsum(lengths) - lengths), lengths)
        at = pa.array(rows)
        taken = [argument.take(at) for argument in self.arguments]
        where = None if self.where is None else self.where[rows]
        return self.op.lift_groups(taken, where, ids, len(low))


def _sorted(groups: Int64, times: Int64, kept: Int64 | None) -> Int64:
    """Row numbers sorted by group and time; only of `kept` rows, if given."""
    some_groups, some_times = (groups, times) if kept is None else (groups[kept], times[kept])
    if len(some_times) == 0:
        return np.empty(0, dtype=np.int64)
    low, high = int(some_times.min()), int(some_times.max())
    span = high - low + 1
    if span * (int(some_groups.max()) + 1) < 2**63:  # sorting by one number is far faster
        order = np.argsort(some_groups * span + (some_times - low))
    else:
        order = np.lexsort((some_times, some_groups))
    return order if kept is None else kept[order]


def _bounds(groups: Int64, count: int) -> Int64:
    """Where each group's rows begin in rows sorted by group, and where the last group ends."""
    sizes: npt.NDArray[Any] = np.bincount(groups, minlength=count)
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _chunks(bounds: Int64, rows: int) -> Iterator[tuple[int, int]]:
    """Ranges of groups with about `rows` rows each, at least one group each."""
    low, groups = 0, len(bounds) - 1
    while low < groups:
        high = int(np.searchsorted(bounds, bounds[low] + rows, side="right")) - 1
        high = min(max(high, low + 1), groups)
        yield low, high
        low = high
