"""A micro-batch of a bucket: takes parcels, returns answers and metrics."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from weft.engine.answer import Combined
from weft.engine.lowering import Lowerings
from weft.engine.parcel import Parcel, Shipment, greatest
from weft.engine.program import Program, TreeProgram
from weft.engine.query_windows import FAR
from weft.engine.shards import FRAGMENT, SLICE, flat
from weft.engine.state.bucket import Bucket, KeyValue
from weft.engine.state.due import changed_answers, closing_answers
from weft.engine.state.session_answers import session_answers
from weft.sinks.wire import FIGURES, to_wire
from weft.stream.deployment import Lookup
from weft.stream.losses import lost_figures

_TOLD = 64
"""The number of a query's windows for which a bucket reports the groups."""


class MicroBatches:
    """Merges new shards, answers due windows, and removes state that no window needs any more.

    The program is looked up for every micro-batch.
    """

    program: Program
    lowerings: Lowerings
    slides: dict[int, int]
    timer: int | None
    """When the bucket was due to be called again, as set before this micro-batch."""

    def __init__(self, programs: Lookup) -> None:
        self.programs = programs
        self.batch = -1

    def run(
        self,
        batch: int,
        number: int,
        came: Iterable[bytes],
        state: KeyValue,
        milliseconds: int,
    ) -> pd.DataFrame | None:
        """The output of a bucket in a micro-batch; `milliseconds` is Spark's watermark.

        None if the bucket was called already in this micro-batch, and there is no new input.
        """
        began = time.perf_counter()
        parcels = [Parcel.from_bytes(data) for data in came]
        if self.batch != batch:
            self.program, self.lowerings = self.programs.at(batch)
            self.slides = {
                w.query: w.slide if w.scale.is_even else 1
                for tree in self.program.stores
                for w in tree.services
                if not w.session
            }
            self.batch = batch
        bucket = Bucket(self.program, state)
        index = bucket.index
        if not parcels and index.timer is not None and index.timer > milliseconds:
            return None  # its windows were closed with the input of this micro-batch
        frontier, late = bucket.frontier, dict(index.late)
        watermark = self._watermark(milliseconds, bucket)
        index.max_event_time = greatest(
            [index.max_event_time, *(parcel.max_event_time for parcel in parcels)]
        )
        tick = greatest(parcel.tick for parcel in parcels)
        latest = greatest([index.max_event_time, tick])
        # It never goes back: after an eager run Spark's watermark may be behind what was answered.
        watermark = max(watermark, self._eager(latest), bucket.frontier)
        ahead = sum(parcel.ahead for parcel in parcels)
        index.ahead += ahead
        merging: dict[int, float] = {}
        answering: dict[int, float] = {}
        output = _Output(number)
        self._take_histories(bucket, number)
        for store in self.program.stores:
            started = time.perf_counter()
            shipments = [s for p in parcels for s in p.shipments if s.store == store.number]
            shards, rows = self._received(bucket, store, shipments)
            delta = None
            if shards is not None and not store.is_session:
                delta = bucket.absorb(store, shards, rows)
            merged = time.perf_counter()
            merging[store.number] = merged - started
            if store.is_session:
                found = session_answers(bucket, store, shards, rows, watermark)
            elif self.program.mode == "append":
                found = closing_answers(bucket, store, watermark)
            else:
                found = changed_answers(bucket, store, delta)
            for combined in found:
                self._lower(combined, output)
            answering[store.number] = time.perf_counter() - merged
        index.frontier = watermark
        for store in self.program.stores:
            bucket.evict(store)
        self.timer = index.timer
        index.timer = milliseconds + 1
        bucket.save()
        output.figures(
            {
                **bucket_metrics(bucket, parcels, merging, answering),
                **lost_figures(frontier, late, index.late, ahead),
                "bucket": output.bucket,
                "watermark": watermark,
                "tick": tick,
                "answers": {str(query): output.rows(query) for query in output.tables},
                "groups": {str(query): most_of(counts) for query, counts in output.groups.items()},
                "seconds": time.perf_counter() - began,
            }
        )
        return output.frame()

    def _take_histories(self, bucket: Bucket, number: int) -> None:
        """Merge the history of stores that have one which this bucket has not merged yet."""
        for store in self.program.stores:
            if store.history is None or store.number in bucket.index.histories:
                continue
            parcel = Parcel.from_bytes(self.programs.history(store.history, number))
            own = [shipment for shipment in parcel.shipments if shipment.store == store.number]
            shards, rows = self._received(bucket, store, own)
            if shards is not None:
                bucket.absorb(store, shards, np.zeros_like(rows))  # none of them is late
            bucket.index.histories.append(store.number)

    def _watermark(self, milliseconds: int, bucket: Bucket) -> int:
        """The watermark: windows that end at or before it are closed.

        On an integer axis it is computed here, because Spark's watermark is a timestamp: every
        bucket gets the greatest time of every micro-batch. Like Spark's, it depends on the earlier
        micro-batches only and begins at zero.
        """
        if self.program.delay is None:
            return milliseconds * self.program.units_per_ms
        seen = bucket.index.max_event_time
        return max(bucket.frontier, 0 if seen is None else seen - self.program.delay)

    def _eager(self, latest: int | None) -> int:
        """The watermark after this micro-batch, if windows are closed eagerly.

        Every bucket knows the latest time by now, because each task sends a parcel to all of them.
        """
        if self.program.eager is None or latest is None:
            return -FAR
        unit = self.program.units_per_ms  # rounded to milliseconds, as in Spark
        return latest // unit * unit - self.program.eager

    def _lower(self, combined: Combined, output: _Output) -> None:
        """Add the answers of each query; queries that differ only in name share one table."""
        bounds, low = self.program.bounds, 0
        for queries, count in combined.asked:
            slide, starts = self.slides.get(queries[0]), combined.start[low : low + count]
            low += count
            groups = {} if slide is None else by_window(starts, slide)  # a session has one group
            for query in queries:
                bounds.check_own(query, "groups", output.count(query, groups))
        for queries, table in self.lowerings.answers(combined):
            for query in queries:
                output.add(query, table)
                bounds.check_own(query, "answers", output.rows(query))

    def _received(
        self, bucket: Bucket, store: TreeProgram, shipments: list[Shipment]
    ) -> tuple[pa.Table | None, npt.NDArray[np.int64]]:
        """A tree's shards with the bucket's fragment numbers, and the row count of each shard."""
        tables, counts = [], []
        for shipment in shipments:
            shards, rows = shipment.split()
            numbers = [bucket.index.fragment(signature) for signature in shipment.signatures]
            renamed = np.array(numbers, dtype=np.int64)[flat(shards, FRAGMENT).to_numpy()]
            at = shards.column_names.index(FRAGMENT)
            shards = shards.set_column(at, FRAGMENT, pa.array(renamed))
            tables.append(store.schema.conform(shards))
            counts.append(rows)
        if not tables:
            return None, np.empty(0, dtype=np.int64)
        return pa.concat_tables(tables).combine_chunks(), np.concatenate(counts)


def by_window(starts: npt.NDArray[np.int64], slide: int) -> dict[int, int]:
    """How often each window start occurs.

    >>> by_window(np.array([5, 5, 9, 5]), slide=2)
    {5: 3, 9: 1}
    """
    if not len(starts):
        return {}
    low, high = int(starts.min()), int(starts.max())
    if (high - low) // slide > 4 * len(starts):
        found, counts = np.unique(starts, return_counts=True)
    else:
        every = np.bincount((starts - low) // slide)
        places = np.flatnonzero(every)
        found, counts = low + places * slide, every[places]
    return dict(zip(found.tolist(), counts.tolist(), strict=True))


def most_of(counts: Counter[int]) -> dict[str, int]:
    """The windows with the most groups, for the driver to add up over the buckets."""
    return {str(start): count for start, count in counts.most_common(_TOLD)}


class _Output:
    """Collects rows of the operator's output."""

    def __init__(self, bucket: int) -> None:
        self.bucket = bucket
        self.tables: dict[int, list[pa.Table]] = {}
        self.groups: dict[int, Counter[int]] = {}
        """By query, the number of groups in each window, by its start."""
        self.extra: list[bytes] = []

    def count(self, query: int, groups: dict[int, int]) -> int:
        """Add groups by window; return the most groups so far in any of these windows."""
        known = self.groups.setdefault(query, Counter())
        known.update(groups)
        return max((known[start] for start in groups), default=0)

    def add(self, query: int, table: pa.Table) -> None:
        self.tables.setdefault(query, []).append(table)

    def rows(self, query: int) -> int:
        return sum(table.num_rows for table in self.tables[query])

    def figures(self, values: dict[str, Any]) -> None:
        self.extra.append(json.dumps(values).encode())

    def frame(self) -> pd.DataFrame:
        queries, rows, payloads = [], [], []
        written: dict[tuple[int, ...], bytes] = {}
        for query, tables in self.tables.items():
            same = tuple(map(id, tables))  # queries with the same answers share their tables
            if same not in written:
                written[same] = to_wire(pa.concat_tables(tables))
            queries.append(query)
            rows.append(self.rows(query))
            payloads.append(written[same])
        for extra in self.extra:
            queries.append(FIGURES)
            rows.append(0)
            payloads.append(extra)
        return pd.DataFrame(
            {
                "query": np.array(queries, dtype=np.int32),
                "bucket": np.full(len(queries), self.bucket, dtype=np.int32),
                "rows": np.array(rows, dtype=np.int64),
                "payload": pd.Series(payloads, dtype=object),
            }
        )


def bucket_metrics(
    bucket: Bucket,
    parcels: list[Parcel],
    merging: dict[int, float],
    answering: dict[int, float],
) -> dict[str, Any]:
    """What a bucket did in a micro-batch and what its state holds after it, as JSON values."""
    traffic = bucket.traffic
    came = [shipment for parcel in parcels for shipment in parcel.shipments]
    numbers = {*bucket.index.stores, *merging}
    stores = {}
    for number in sorted(numbers):
        store = bucket.index.stores.get(number)
        pieces = store.pieces if store else {}
        named = bucket.index.sessions.items()
        sessions = [known for name, known in named if name.startswith(f"w{number}/")]
        slices = sum(piece.slices for node, piece in pieces.items() if node.level == 0)
        kept = [piece.size for piece in pieces.values()]
        kept += [size for known in sessions for size, _ in known["pieces"]]
        stores[str(number)] = {
            "slices": slices + sum(known["stretches"] for known in sessions),
            "pieces": len(kept),
            "bytes": sum(kept),
            "shards": sum(s.shards.num_rows for s in came if s.store == number),
            "cuts": sum(len(s.shards.column(SLICE).unique()) for s in came if s.store == number),
            "merging": merging.get(number, 0.0),
            "answering": answering.get(number, 0.0),
        }
    return {
        "high": bucket.index.max_event_time,
        "rows": sum(parcel.rows for parcel in parcels),
        "late": {str(query): count for query, count in bucket.index.late.items()},
        "ahead": bucket.index.ahead,
        "stores": stores,
        "fragments": len(bucket.index.fragments),
        "reads": traffic.reads,
        "read_bytes": traffic.read_bytes,
        "writes": traffic.writes,
        "written_bytes": traffic.written_bytes,
    }
