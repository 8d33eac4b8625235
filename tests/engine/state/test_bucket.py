"""A bucket over a simulated stream, without Spark: closed windows match plain definitions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from weft.algebra.part import Part
from weft.engine.finals.registry import STRUCTURES
from weft.engine.fragments.fragments import plan_fragments
from weft.engine.parcel import Parcel
from weft.engine.preaggregate import Preaggregate
from weft.engine.program import Program, RowColumns, TreeProgram
from weft.engine.query_windows import FAR, QueryWindows
from weft.engine.shards import NumberedKey, NumberedPart, ShardSchema
from weft.engine.state import bucket as bucket_module
from weft.engine.state.bucket import Bucket, Traffic
from weft.engine.state.due import changed_answers, closing_answers

PARTS = (
    NumberedPart(0, Part("sum", ("x",)), (pa.int64(),)),
    NumberedPart(1, Part("count"), (pa.int64(),)),
)


class Memory(dict):
    """A state store in memory."""

    def put(self, name: str, value: bytes) -> None:
        self[name] = value

    def remove(self, name: str) -> None:
        self.pop(name, None)


def service(query: int, range_: int, slide: int, phase: int = 0, **more) -> QueryWindows:
    given = {"since": -FAR, "until": FAR, "keys": (0,), "predicate": None, "parts": (0, 1), **more}
    return QueryWindows(query, range_, slide, phase % slide, **given)


def program(
    services: list[QueryWindows], buckets: int = 2, mode: str = "append", finals: str = "auto"
) -> Program:
    edges = {
        edge
        for s in services
        for edge in ((s.phase, s.slide), ((s.phase + s.range) % s.slide, s.slide))
    }
    store = TreeProgram(
        number=1,
        schema=ShardSchema((NumberedKey(0, pa.string()),), PARTS),
        progressions=tuple(sorted(edges)),
        predicates=(3,),
        fragments=plan_fragments(["x > 5"], lambda _: {"x": "bigint"}),
        services=tuple(services),
        columns=RowColumns(("big",), "h", ("k",), ((("x",), None), ((), None))),
    )
    return Program(1, (store,), buckets, 1, mode, finals=finals)


def rows_table(rows: list[tuple[int, str, int]], buckets: int) -> pa.RecordBatch:
    times, keys, values = zip(*rows, strict=True)
    return pa.RecordBatch.from_pydict(
        {
            "t": pa.array(times, pa.int64()),
            "k": pa.array(keys, pa.string()),
            "x": pa.array(values, pa.int64()),
            "big": pa.array([value > 5 for value in values]),
            "h": pa.array([ord(key) % buckets for key in keys], pa.int32()),
        }
    )


class Stream:
    """A stream of micro-batches through all buckets, with a watermark delay of `delay`."""

    def __init__(self, plan: Program, delay: int) -> None:
        self.plan, self.delay = plan, delay
        self.states = [Memory() for _ in range(plan.buckets)]
        self.watermark = 0
        self.answers: dict[tuple[int, int, str], tuple[int, int]] = {}
        self.traffic: list[Traffic] = []
        self.late: dict[int, int] = {}

    def run(self, rows: list[tuple[int, str, int]]) -> None:
        parcels = [Parcel(None, 0)] * self.plan.buckets
        if rows:
            (batch,) = Preaggregate(self.plan)(iter([rows_table(rows, self.plan.buckets)]))
            parcels = [Parcel.from_bytes(data) for data in batch.column("parcel").to_pylist()]
        self.late = {}
        for state, parcel in zip(self.states, parcels, strict=True):
            self._bucket(state, parcel)
        if rows:
            self.watermark = max(self.watermark, max(t for t, _, _ in rows) - self.delay)

    def _bucket(self, state: Memory, parcel: Parcel) -> None:
        bucket = Bucket(self.plan, state)
        (store,) = self.plan.stores
        delta = None
        bucket.index.max_event_time = max(
            bucket.index.max_event_time or -FAR, parcel.max_event_time or -FAR
        )
        for shipment in parcel.shipments:
            shards, counts = shipment.split()
            numbers = [bucket.index.fragment(s) for s in shipment.signatures]
            renamed = pa.array(np.array(numbers)[shards.column("fragment").to_numpy()])
            shards = shards.set_column(1, "fragment", renamed)
            delta = bucket.absorb(store, store.schema.conform(shards), counts)
        found = (
            closing_answers(bucket, store, self.watermark)
            if self.plan.mode == "append"
            else changed_answers(bucket, store, delta)
        )
        for queries, some in (one for together in found for one in together.each()):
            columns = [
                some.start,
                some.keys[0].to_pylist(),
                *(p[0].to_pylist() for p in some.parts),
            ]
            for start, key, total, count in zip(*columns, strict=True):
                for query in queries:
                    place = (query, int(start), key)
                    assert self.plan.mode == "update" or place not in self.answers
                    self.answers[place] = (total, count)
        bucket.index.frontier = self.watermark
        bucket.evict(store)
        bucket.save()
        self.traffic.append(bucket.traffic)
        for query, count in bucket.index.late.items():
            self.late[query] = self.late.get(query, 0) + count


class Definition:
    """The same by definition: a window accepts rows until it is closed."""

    def __init__(self, plan: Program, delay: int) -> None:
        self.plan, self.delay, self.watermark, self.closed = plan, delay, 0, 0
        self.open: dict[tuple[int, int, str], list[int]] = {}
        self.answers: dict[tuple[int, int, str], tuple[int, int]] = {}
        self.late: dict[int, int] = {}

    def run(self, rows: list[tuple[int, str, int]]) -> None:
        services = self.plan.stores[0].services
        ranges = {s.query: s.range for s in services}
        for s in services:
            for t, key, value in rows:
                if s.predicate is not None and value <= 5:
                    continue
                latest = t - (t - s.phase) % s.slide
                starts = range(latest, t - s.range, -s.slide)
                taken = [start for start in starts if start + s.range > self.closed]
                for start in taken:
                    self.open.setdefault((s.query, start, key), []).append(value)
                if starts and not taken:
                    self.late[s.query] = self.late.get(s.query, 0) + 1
        for place in [p for p in self.open if p[1] + ranges[p[0]] <= self.watermark]:
            values = self.open.pop(place)
            self.answers[place] = (sum(values), len(values))
        self.closed = self.watermark
        if rows:
            self.watermark = max(self.watermark, max(t for t, _, _ in rows) - self.delay)


def batches(seed: int, count: int, step: int, jitter: int) -> list[list[tuple[int, str, int]]]:
    random = np.random.default_rng(seed)
    made = []
    for number in range(count):
        times = number * step + random.integers(-jitter, step, 30)
        made.append(
            [(int(t), "abcdefg"[random.integers(7)], int(random.integers(-9, 20))) for t in times]
        )
        if random.random() < 0.2:
            made.append([])
    return [*made, [(count * step + 5000, "z", 1)], []]


SITUATIONS = {
    "one tumbling": [service(1, 10, 10)],
    "sliding and offset": [service(1, 10, 3, 1), service(2, 25, 5, 2)],
    "gaps": [service(1, 3, 10), service(2, 4, 7, 5)],
    "predicate beside none": [service(1, 12, 4, predicate=3), service(2, 12, 6)],
    "predicate alone": [service(1, 12, 4, predicate=3)],
    "long beside short": [service(1, 900, 10), service(2, 10, 10)],
}


@pytest.mark.parametrize("finals", ["auto", "blocks", *STRUCTURES])
@pytest.mark.parametrize("name", SITUATIONS)
def test_closed_windows_are_those_of_the_definition(name, finals, monkeypatch):
    monkeypatch.setattr(bucket_module, "TARGET", 400)  # many small pieces, several levels
    plan = program(SITUATIONS[name], finals=finals)
    stream, definition = Stream(plan, delay=20), Definition(plan, delay=20)
    for rows in batches(0, count=24, step=25, jitter=60):
        stream.run(rows)
        definition.run(rows)
        assert stream.late == definition.late
        assert stream.answers == definition.answers
    assert len(definition.answers) > 30


@pytest.mark.parametrize("name", SITUATIONS)
def test_early_answers_end_up_as_the_final_ones(name, monkeypatch):
    monkeypatch.setattr(bucket_module, "TARGET", 400)
    plan = program(SITUATIONS[name])
    early, definition = Stream(replace(plan, mode="update"), 20), Definition(plan, 20)
    for rows in batches(3, count=10, step=25, jitter=60):
        early.run(rows)
        definition.run(rows)
    assert {p: early.answers[p] for p in definition.answers} == definition.answers


def test_a_long_window_touches_few_pieces_in_steady_state(monkeypatch):
    monkeypatch.setattr(bucket_module, "TARGET", 400)
    plan = program([service(1, 2000, 10)], buckets=1)
    stream = Stream(plan, delay=10)
    for number in range(480):
        stream.run([(number * 10 + i, "abcdefg"[i], i) for i in range(7)])
    (bucket,) = [Bucket(plan, state) for state in stream.states]
    held = sum(
        piece.size for store in bucket.index.stores.values() for piece in store.pieces.values()
    )
    steady = stream.traffic[240:]
    assert max(t.reads for t in steady) < 40
    assert np.mean([t.read_bytes for t in steady]) < held / 4
    halves = [np.mean([t.read_bytes for t in half]) for half in (steady[:120], steady[120:])]
    assert halves[1] < 1.2 * halves[0]


def test_pieces_too_large_are_cut_smaller(monkeypatch):
    monkeypatch.setattr(bucket_module, "MOST", 3000)
    plan = program([service(1, 500, 10)], buckets=1)
    stream, definition = Stream(plan, delay=20), Definition(plan, delay=20)
    for rows in batches(5, count=24, step=25, jitter=60):
        stream.run(rows)
        definition.run(rows)
    assert stream.answers == definition.answers


@pytest.mark.parametrize("finals", ["auto", "blocks", *STRUCTURES])
def test_a_backfilled_query_joins_a_structure_that_begins_later(finals):
    """Another predicate has kept the slices; the structure began without them."""
    old = [
        service(9, 200, 10, predicate=3),
        service(1, 100, 10, since=1000),
        service(2, 10, 10, since=1000),
    ]
    stream = Stream(program(old, buckets=1, finals=finals), delay=20)
    definition = Definition(program([service(3, 100, 10)]), delay=20)
    for number in range(120):
        if number == 105:
            stream.plan = program([*old, service(3, 100, 10, since=930)], buckets=1, finals=finals)
        rows = [(number * 10 + i, "abcdefg"[i], i + 3) for i in range(7)]
        stream.run(rows)
        definition.run(rows)
    found = {place: value for place, value in stream.answers.items() if place[0] == 3}
    assert found == {place: value for place, value in definition.answers.items() if place[1] >= 930}
