"""A bucket of groups: reads and writes only the pieces of state that a micro-batch touches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from weft.engine.blame import merge_blamed
from weft.engine.program import Program, TreeProgram
from weft.engine.query_windows import FAR, Lane
from weft.engine.shards import FRAGMENT, SLICE, by_slice, flat
from weft.engine.state.codec import (
    bytes_to_table,
    checksum_of,
    damaged,
    json_to_bytes,
    table_to_bytes,
)
from weft.engine.state.index import Index, Piece, StoreIndex, index_from
from weft.engine.state.lanes import LaneState, lane_name
from weft.engine.state.radix_tree import RADIX, Node, cover
from weft.engine.state.sessions import discard_sessions, session_lanes, sessions_name
from weft.engine.state.sliding import discard
from weft.errors import AggregateError

Int64 = npt.NDArray[np.int64]
TARGET, MOST = 128 * 1024, 1024 * 1024
"""The target size of a piece in bytes, and the size above which its store uses smaller pieces."""
_INDEX = "index"


class KeyValue(Protocol):
    """The part of the state store's interface that a bucket uses."""

    def get(self, name: str) -> bytes | None: ...

    def put(self, name: str, value: bytes) -> None: ...

    def remove(self, name: str) -> None: ...


@dataclass
class Traffic:
    """What a micro-batch read from the state and wrote to it."""

    reads: int = 0
    read_bytes: int = 0
    writes: int = 0
    written_bytes: int = 0


@dataclass
class Bucket:
    """The state of one bucket, opened for one micro-batch.

    Pieces are cached in memory while the bucket is open and written once, by `save`.
    """

    program: Program
    state: KeyValue
    traffic: Traffic = field(default_factory=Traffic)

    def __post_init__(self) -> None:
        stored = self.get_piece(_INDEX)
        self.index = Index() if stored is None else index_from(stored)
        self._tables: dict[tuple[int, Node], pa.Table] = {}
        self._dirty: set[tuple[int, Node]] = set()
        self._lanes: dict[str, LaneState] = {}
        self._satisfied: dict[int, npt.NDArray[np.bool_]] = {}
        live = {store.number for store in self.program.stores}
        for number in [n for n in self.index.stores if n not in live]:
            self._forget(number)
        self.index.histories = [number for number in self.index.histories if number in live]
        lanes = {lane_name(tree, lane) for tree in self.program.stores for lane in tree.lanes}
        for name in [name for name in self.index.sliding if name not in lanes]:
            discard(name, self.index.sliding.pop(name), self)
        trees = self.program.stores
        discard_sessions(
            self, {sessions_name(tree, lane) for tree in trees for lane in session_lanes(tree)}
        )

    # Reading and writing.

    def get_piece(self, name: str) -> bytes | None:
        """A piece of the state by its name."""
        value = self.state.get(name)
        self.traffic.reads += 1
        self.traffic.read_bytes += len(value or b"")
        return value

    def put_piece(self, name: str, data: bytes) -> None:
        """Write a piece of the state."""
        self.state.put(name, data)
        self.traffic.writes += 1
        self.traffic.written_bytes += len(data)

    def remove_piece(self, name: str) -> None:
        """Remove a piece of the state."""
        self.state.remove(name)

    def read(self, store: TreeProgram, node: Node) -> pa.Table:
        """The shards of a piece, with the store's current columns."""
        key = (store.number, node)
        if key not in self._tables:
            name = _name(store.number, node)
            data = self.get_piece(name)
            if data is None:
                raise damaged(f"piece {name}", "it is not there")
            found = bytes_to_table(data, f"piece {name}")
            if checksum_of(data) != self.index.stores[store.number].pieces[node].checksum:
                raise damaged(f"piece {name}", "it is another version than the index names")
            self._tables[key] = self._live_fragments(store, store.schema.conform(found))
        return self._tables[key]

    def _live_fragments(self, store: TreeProgram, table: pa.Table) -> pa.Table:
        """The shards with signatures that lack the bits of dropped predicates."""
        mask = store.live_mask
        renamed = np.array(
            [
                number if int(text, 16) & ~mask == 0 else self.index.fragment(int(text, 16) & mask)
                for number, text in enumerate(list(self.index.fragments))
            ],
            dtype=np.int64,
        )
        numbers = flat(table, FRAGMENT).to_numpy() if table.num_rows else None
        if numbers is None or np.array_equal(renamed[numbers], numbers):
            return table
        at = table.column_names.index(FRAGMENT)
        return table.set_column(at, FRAGMENT, pa.array(renamed[numbers]))

    def _replace(self, store: TreeProgram, node: Node, table: pa.Table) -> None:
        self._tables[store.number, node] = table
        self._dirty.add((store.number, node))

    def save(self) -> None:
        """Write the changed pieces, and then the index."""
        for lane in self._lanes.values():
            lane.save()
        for number, node in sorted(self._dirty):
            pieces = self.index.stores[number].pieces
            table = self._tables[number, node]
            data = table_to_bytes(table)
            slices = flat(table, SLICE).to_numpy()
            pieces[node] = Piece(
                len(data),
                len(np.unique(slices)),
                int(slices.min()),
                int(slices.max()),
                pieces[node].summed if node in pieces else False,
                checksum_of(data),
            )
            self.put_piece(_name(number, node), data)
        self._dirty.clear()
        self.put_piece(_INDEX, json_to_bytes(self.index.to_dict()))

    def _remove(self, number: int, node: Node) -> None:
        self.remove_piece(_name(number, node))
        self.index.stores[number].pieces.pop(node, None)
        self._tables.pop((number, node), None)
        self._dirty.discard((number, node))

    def _forget(self, number: int) -> None:
        for node in list(self.index.stores[number].pieces):
            self._remove(number, node)
        del self.index.stores[number]

    # What a micro-batch does, in this order.

    def absorb(self, store: TreeProgram, shards: pa.Table, rows: Int64) -> pa.Table:
        """Merge a micro-batch's shards; `rows` is how many rows each was aggregated from.

        Rows that are late for a query are counted, query by query; those that are late for all
        queries are dropped. Returns the shards that were merged.
        """
        shards = self._admit(store, shards, rows)
        if not shards.num_rows:
            return shards
        lanes = [self.lane(store, lane) for lane in store.lanes]
        for lane in lanes:
            lane.note_late(shards, self.frontier)
        self._merge(store, shards)
        for lane in lanes:
            lane.merge_late()
        return shards

    def _admit(self, store: TreeProgram, shards: pa.Table, rows: Int64) -> pa.Table:
        """The shards that may be in an open window; counts the late rows."""
        slices = flat(shards, SLICE).to_numpy()
        if not (slices < self.frontier).any():
            return shards
        self._count_late(store, shards, slices, rows)
        needed = store.needed_from(self.frontier)
        keep = slices >= (FAR if needed is None else needed)
        return shards if keep.all() else shards.filter(pa.array(keep))

    def _merge(self, store: TreeProgram, shards: pa.Table) -> None:
        own = self._own(store, shards)
        numbers = flat(shards, SLICE).to_numpy() // own.span
        for number in np.unique(numbers).tolist():
            node = Node(0, number)
            new = shards.filter(pa.array(numbers == number))
            table = pa.concat_tables([self.read(store, node), new]) if node in own.pieces else new
            by = [SLICE, FRAGMENT, *(key.column for key in store.schema.keys)]
            self._replace(store, node, by_slice(self._merged(store, table, by)))
            if node not in own.pieces:
                own.pieces[node] = Piece(0, 0, 0, 0)
            piece = own.pieces[node]
            piece.summed = False
            piece.low, piece.high = self._bounds(store, node)

    def _merged(self, store: TreeProgram, table: pa.Table, by: Sequence[str]) -> pa.Table:
        try:
            return store.schema.merge(table, by)
        except AggregateError as error:
            signature = [int(text, 16) for text in self.index.fragments]
            raise merge_blamed(store, table, by, signature.__getitem__, error) from error

    def _bounds(self, store: TreeProgram, node: Node) -> tuple[int, int]:
        slices = flat(self._tables[store.number, node], SLICE)
        return slices[0].as_py(), slices[-1].as_py()

    def _own(self, store: TreeProgram, shards: pa.Table) -> StoreIndex:
        """The store's index; a new store's span depends on the size of its first slices."""
        if store.number not in self.index.stores:
            slices = max(1, len(flat(shards, SLICE).unique()))
            weight = max(1, shards.nbytes // slices)
            count = min(64, max(1, TARGET // weight))
            self.index.stores[store.number] = StoreIndex(max(1, store.mean_slice * count))
        return self.index.stores[store.number]

    def _count_late(self, store: TreeProgram, shards: pa.Table, slices: Int64, rows: Int64) -> None:
        fragments = flat(shards, FRAGMENT).to_numpy()
        for service in store.services:
            late = service.is_late(slices, self.frontier)
            if service.predicate is not None and late.any():
                late &= self.satisfied(service.predicate)[fragments]
            count = int(rows[late].sum())
            if count:
                self.index.late[service.query] = self.index.late.get(service.query, 0) + count

    def sum_up(self, store: TreeProgram) -> None:
        """Update the totals of nodes that event time has passed, on levels that windows use."""
        own = self.index.stores.get(store.number)
        if own is None or self.index.max_event_time is None:
            return
        for level in range(self.levels(store)):
            for node, piece in sorted(own.level(level).items()):
                if piece.summed or node.end(own.span) > self.index.max_event_time:
                    continue
                self._sum_up_node(store, own, node)
                own.pieces[node].summed = True

    def _sum_up_node(self, store: TreeProgram, own: StoreIndex, node: Node) -> None:
        table = self.read(store, node)
        by = [FRAGMENT, *(key.column for key in store.schema.keys)]
        total = self._merged(store, table.drop_columns([SLICE]), by)
        start = pa.array(np.full(total.num_rows, node.start(own.span), dtype=np.int64))
        total = store.schema.conform(total.append_column(SLICE, start))
        parent = node.parent
        if parent in own.pieces:
            others = self.read(store, parent)
            kept = flat(others, SLICE).to_numpy() != node.start(own.span)
            total = pa.concat_tables([others.filter(pa.array(kept)), total])
            own.pieces[parent].summed = False
        else:
            own.pieces[parent] = Piece(0, 0, 0, 0)
        self._replace(store, parent, by_slice(total))

    def levels(self, store: TreeProgram) -> int:
        """How many levels of totals are worth keeping: the longest window spans 4 nodes of each."""
        span, levels = self.index.stores[store.number].span, 0
        while store.longest >= 4 * span * RADIX**levels:
            levels += 1
        return levels

    def gather(self, store: TreeProgram, cuts: Int64) -> pa.Table:
        """Shards between the first and last cut, none of which spans a cut.

        Slices with no cut between them may be returned as one total, whose `slice` is its start.
        """
        own = self.index.stores[store.number]
        levels = self.levels(store)
        summed = {node for node, piece in own.pieces.items() if piece.summed}
        for node in own.pieces:  # a late row invalidates every total above its node
            while node not in summed and node.level < levels:
                node = node.parent
                summed.discard(node)
        found = cover(cuts, own.level(0), summed, own.span, levels)
        tables = [
            _between(self.read(store, node), int(cuts[0]), int(cuts[-1])) for node in found.slices
        ]
        for node in found.totals:
            start = node.start(own.span)
            tables.append(_between(self.read(store, node.parent), start, start + 1))
        return pa.concat_tables(tables) if tables else store.schema.arrow.empty_table()

    def slices_between(self, store: TreeProgram, low: int, high: int) -> pa.Table:
        """The shards of slices that start in `[low, high)`, in order of slices."""
        own = self.index.stores.get(store.number)
        if own is None:
            return store.schema.arrow.empty_table()
        first, last = low // own.span, (high - 1) // own.span
        if last - first < len(own.pieces):
            nodes = [Node(0, number) for number in range(first, last + 1)]
        else:
            nodes = sorted(own.level(0))
        nodes = [node for node in nodes if node in own.pieces]
        tables = [_between(self.read(store, node), low, high) for node in nodes]
        return pa.concat_tables(tables) if tables else store.schema.arrow.empty_table()

    def slice_counts(self, store: TreeProgram) -> list[int]:
        """The number of slices in each piece of a tree when it was last written."""
        own = self.index.stores.get(store.number)
        return [piece.slices for piece in own.level(0).values()] if own else []

    def lane(self, store: TreeProgram, lane: Lane) -> LaneState:
        """A lane of the bucket, opened for this micro-batch."""
        name = lane_name(store, lane)
        if name not in self._lanes:
            self._lanes[name] = LaneState(self, store, lane)
        return self._lanes[name]

    def stretches(self, store: TreeProgram) -> list[tuple[int, int]]:
        """The spans of slice starts that hold shards; gaps up to the longest range are joined."""
        own = self.index.stores.get(store.number)
        found: list[tuple[int, int]] = []
        for _, piece in sorted(own.level(0).items()) if own else ():
            if found and piece.low - found[-1][1] <= store.longest:
                found[-1] = (found[-1][0], max(found[-1][1], piece.high))
            else:
                found.append((piece.low, piece.high))
        return found

    def evict(self, store: TreeProgram) -> None:
        """Remove pieces that no open window needs; use smaller pieces if they are too large."""
        own = self.index.stores.get(store.number)
        if own is None:
            return
        for lane in store.lanes:
            self.lane(store, lane).evict(self.frontier)
        needed = store.needed_from(self.frontier)
        for node in list(own.pieces):
            if needed is None or node.end(own.span) <= needed:
                self._remove(store.number, node)
        levels = self.levels(store)
        for node in [node for node in own.pieces if node.level > levels]:
            self._remove(store.number, node)
        largest = max((piece.size for piece in own.level(0).values()), default=0)
        if largest > MOST and own.span > store.mean_slice:
            self._cut_smaller(store, own)

    def _cut_smaller(self, store: TreeProgram, own: StoreIndex) -> None:
        shards = pa.concat_tables([self.read(store, node) for node in sorted(own.level(0))])
        for node in list(own.pieces):
            self._remove(store.number, node)
        own.span = max(store.mean_slice, own.span // RADIX)
        numbers = flat(shards, SLICE).to_numpy() // own.span
        for number in np.unique(numbers).tolist():
            node = Node(0, number)
            self._replace(store, node, by_slice(shards.filter(pa.array(numbers == number))))
            own.pieces[node] = Piece(0, 0, *self._bounds(store, node))

    # Accessors.

    @property
    def frontier(self) -> int:
        """Windows that end at or before it are closed; Spark's watermark begins at the epoch."""
        return 0 if self.index.frontier is None else self.index.frontier

    def satisfied(self, predicate: int) -> npt.NDArray[np.bool_]:
        """Which of the bucket's fragments satisfy a predicate."""
        known = self._satisfied.get(predicate)
        if known is None or len(known) != len(self.index.fragments):
            known = np.array([bool(int(s, 16) >> predicate & 1) for s in self.index.fragments])
            self._satisfied[predicate] = known
        return known


def _between(table: pa.Table, low: int, high: int) -> pa.Table:
    """The rows of slices that start in `[low, high)`; the table is in order of slices."""
    slices = flat(table, SLICE).to_numpy() if table.num_rows else np.empty(0, dtype=np.int64)
    first, last = np.searchsorted(slices, [low, high])
    return table.slice(int(first), int(last - first))


def _name(store: int, node: Node) -> str:
    return f"s{store}/{node.key}"
