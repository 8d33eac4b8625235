"""Aggregates projected rows to shards, inside `mapInArrow`: one pass over the rows of a task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from weft.engine.blame import by_fragment, merge_blamed
from weft.engine.by_group import lift_rows
from weft.engine.groups import Groups, group_rows
from weft.engine.parcel import ROWS, Parcel, Shipment, greatest
from weft.engine.program import Program, TreeProgram
from weft.engine.shards import FRAGMENT, SLICE, NumberedPart, flat, merged
from weft.engine.slicing.edges import TreeEdges
from weft.errors import AggregateError
from weft.query.window import Window

Int64 = npt.NDArray[np.int64]
TIME = "t"
BUCKET = "bucket"
MAX_EVENT_TIME = "max_event_time"
"""The column with the latest time of the task's rows, for the watermark."""
SCHEMA = pa.schema([(BUCKET, pa.int32()), (MAX_EVENT_TIME, pa.int64()), ("parcel", pa.binary())])
SPARK_SCHEMA = "bucket int, max_event_time long, parcel binary"
MOST = 1 << 20
"""Rows aggregated at a time."""
OLDEST = -(1 << 60)
"""Earlier times are treated as this one, because arithmetic on them would overflow; they are late
in any case."""


@dataclass(frozen=True)
class Preaggregate:
    """Called with a task's rows, returns one parcel for every bucket."""

    program: Program
    latest: int | None = None
    """Rows with a later time are set aside; None to accept all."""

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        works = [StoreAccumulator(store, self.program.buckets) for store in self.program.stores]
        latest: int | None = None
        rows = ahead = 0
        for table in _tables(batches):
            rows += table.num_rows
            table, aside = set_aside(table, self.latest)
            ahead += aside
            if not table.num_rows:
                continue
            latest = greatest([latest, pc.max(table.column(TIME)).as_py()])
            for work in works:
                work.add(table)
        parcels: list[list[Shipment]] = [[] for _ in range(self.program.buckets)]
        for work in works:
            for bucket, shipment in work.shipments():
                parcels[bucket].append(shipment)
        yield pa.RecordBatch.from_arrays(
            [
                pa.array(self.program.labels or range(len(parcels)), pa.int32()),
                pa.array([latest] * len(parcels), pa.int64()),
                pa.array(
                    [Parcel(latest, rows, tuple(p), ahead).to_bytes() for p in parcels], pa.binary()
                ),
            ],
            schema=SCHEMA,
        )


def set_aside(table: pa.Table, latest: int | None) -> tuple[pa.Table, int]:
    """The rows whose time is not after `latest`, and how many were set aside.

    >>> kept, aside = set_aside(pa.table({"t": [1, 9, 2]}), latest=8)
    >>> kept.column("t").to_pylist(), aside
    ([1, 2], 1)
    """
    if latest is None:
        return table, 0
    ahead = flat(table, TIME).to_numpy() > latest
    count = int(ahead.sum())
    return (table.filter(pa.array(~ahead)).combine_chunks(), count) if count else (table, 0)


def _tables(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    held: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        if batch.num_rows:
            held.append(batch)
            rows += batch.num_rows
        if rows >= MOST:
            yield pa.Table.from_batches(held).combine_chunks()
            held, rows = [], 0
    if held:
        yield pa.Table.from_batches(held).combine_chunks()


class StoreAccumulator:
    """Accumulates the shards of one store while a task reads its rows."""

    def __init__(self, store: TreeProgram, buckets: int) -> None:
        assert store.columns is not None
        self.store, self.columns, self.buckets = store, store.columns, buckets
        even = all(service.scale.is_even for service in store.services)  # else assume no gaps
        windows = [Window.of_units(s.range, s.slide, s.phase) for s in store.services if even]
        self.edges = TreeEdges(store.progressions, windows)
        self.signatures: dict[int, int] = {}
        self.done: list[pa.Table] = []

    def add(self, table: pa.Table) -> None:
        store = self.store
        if store.seam is not None:
            table = table.filter(pc.greater_equal(table.column(TIME), store.seam)).combine_chunks()
        fragments = self._fragments(table)
        if fragments is not None and not self._serves_all():
            # No query needs rows that satisfy no predicate.
            kept = fragments != self.signatures.get(0, -1)
            if not kept.all():
                table, fragments = table.filter(pa.array(kept)).combine_chunks(), fragments[kept]
        slices = np.maximum(flat(table, TIME).to_numpy(), OLDEST)
        # Sessions keep exact times: the operator, which has the watermark, tells late rows by them.
        if not store.is_session:
            slices = self.edges.slice_start(slices)
            needed = self.edges.needed(slices)
            if not needed.all():  # drop rows between windows that leave gaps
                table, slices = table.filter(pa.array(needed)).combine_chunks(), slices[needed]
                fragments = None if fragments is None else fragments[needed]
        if table.num_rows == 0:
            return
        keys = [flat(table, column) for column in self.columns.keys]
        by = [slices, *keys] if fragments is None else [slices, fragments, *keys]
        groups = group_rows(by, table.num_rows)
        first = pa.array(groups.first)
        number = np.zeros(groups.count, dtype=np.int64) if fragments is None else fragments[first]
        if fragments is None:
            self.signatures.setdefault(0, 0)
        arrays = {
            BUCKET: pa.array(np.full(groups.count, store.number % self.buckets))
            if self.columns.bucket is None
            else flat(table, self.columns.bucket).take(first).cast(pa.int64()),
            ROWS: pa.array(np.bincount(groups.ids, minlength=groups.count)),
            SLICE: pa.array(slices[groups.first]),
            FRAGMENT: pa.array(number),
        }
        for key, values in zip(store.schema.keys, keys, strict=True):
            arrays[key.column] = values.take(first)
        try:
            for at, part in enumerate(store.schema.parts):
                arrays.update(zip(part.columns, self._lift(at, part, table, groups), strict=True))
        except AggregateError as error:
            told = np.zeros(table.num_rows, dtype=np.int64) if fragments is None else fragments
            raise self._blamed(table, by, told, error) from error
        self.done.append(pa.table(arrays))

    def _lift(
        self, at: int, part: NumberedPart, table: pa.Table, groups: Groups
    ) -> Sequence[pa.Array]:
        arguments, where = self.columns.parts[at]
        return lift_rows(
            part.part,
            [flat(table, column) for column in arguments],
            None if where is None else flat(table, where),
            groups,
        )

    def _blamed(
        self, table: pa.Table, by: Sequence[Any], fragments: Int64, error: AggregateError
    ) -> Exception:
        """An error of lifting, naming the queries that caused it."""

        def attempt(at: int, part: NumberedPart, rows: npt.NDArray[np.bool_]) -> object:
            mask = pa.array(rows)
            some = [c[rows] if isinstance(c, np.ndarray) else c.filter(mask) for c in by]
            few = table.filter(mask).combine_chunks()
            return self._lift(at, part, few, group_rows(some, few.num_rows))

        return by_fragment(self.store, fragments, self._signature, attempt, error)

    def _signature(self, fragment: int) -> int:
        """The predicates that a fragment satisfies, by its number."""
        return next(bits for bits, number in self.signatures.items() if number == fragment)

    def _serves_all(self) -> bool:
        return any(service.predicate is None for service in self.store.services)

    def _fragments(self, table: pa.Table) -> Int64 | None:
        """The number of every row's fragment; None where the store has no predicate."""
        plan = self.store.fragments
        if plan is None:
            return None
        columns = [flat(table, name) for name in self.columns.fragments]
        numbers, _, members = plan.fragments(plan.states(columns))
        own = [
            self.signatures.setdefault(signature, len(self.signatures))
            for signature in signatures_of(members, self.store.predicates)
        ]
        return np.array(own, dtype=np.int64)[numbers]

    def shipments(self) -> Iterator[tuple[int, Shipment]]:
        if not self.done:
            return
        table = self.done[0]
        if len(self.done) > 1:
            joined = pa.concat_tables(self.done).combine_chunks()
            by = [BUCKET, SLICE, FRAGMENT, *(key.column for key in self.store.schema.keys)]
            groups = group_rows([flat(joined, name) for name in by], joined.num_rows)
            counts = np.bincount(groups.ids, joined.column(ROWS).to_numpy(), groups.count)
            try:
                table = merged(joined, by, self.store.schema.parts, groups)
            except AggregateError as error:
                raise merge_blamed(self.store, joined, by, self._signature, error) from error
            table = table.append_column(ROWS, pa.array(counts.astype(np.int64)))
        buckets = table.column(BUCKET).to_numpy()
        order = np.argsort(buckets, kind="stable")
        cuts = np.searchsorted(buckets[order], np.arange(self.buckets + 1))
        names = [*self.store.schema.arrow.names, ROWS]
        table = table.select(names).take(pa.array(order))
        for bucket in range(self.buckets):
            low, high = int(cuts[bucket]), int(cuts[bucket + 1])
            if low < high:
                shards = table.slice(low, high - low).combine_chunks()
                yield bucket, Shipment(self.store.number, tuple(self.signatures), shards)


def signatures_of(members: npt.NDArray[np.bool_], numbers: Sequence[int]) -> list[int]:
    """Each fragment's signature: one bit per predicate, at the predicate's number.

    >>> signatures_of(np.array([[True, False, True], [False, False, False]]), [0, 3, 70])
    [1180591620717411303425, 0]
    """
    return [sum(1 << numbers[at] for at in np.flatnonzero(row).tolist()) for row in members]
