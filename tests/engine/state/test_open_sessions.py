"""Sessions of a bucket over a simulated stream, without Spark; they match the plain definition."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_bucket import Stream as Slices
from test_bucket import batches

from weft.algebra.part import Part
from weft.engine.fragments.fragments import plan_fragments
from weft.engine.parcel import Parcel
from weft.engine.program import Program, RowColumns, TreeProgram
from weft.engine.query_windows import FAR, QueryWindows
from weft.engine.shards import NumberedKey, NumberedPart, ShardSchema
from weft.engine.state import sessions as sessions_module
from weft.engine.state.bucket import Bucket
from weft.engine.state.session_answers import session_answers
from weft.errors import CheckpointError

PARTS = (
    NumberedPart(0, Part("sum", ("x",)), (pa.int64(),)),
    NumberedPart(1, Part("count"), (pa.int64(),)),
)


def sessions(query: int, gap: int, **more) -> QueryWindows:
    given = {"since": -FAR, "until": FAR, "keys": (0,), "predicate": None, "parts": (0, 1), **more}
    return QueryWindows(query, gap, gap, 0, session=True, **given)


def program(services: list[QueryWindows], buckets: int = 2) -> Program:
    store = TreeProgram(
        number=1,
        schema=ShardSchema((NumberedKey(0, pa.string()),), PARTS),
        progressions=((0, 1),),
        predicates=(3,),
        fragments=plan_fragments(["x > 5"], lambda _: {"x": "bigint"}),
        services=tuple(services),
        columns=RowColumns(("big",), "h", ("k",), ((("x",), None), ((), None))),
    )
    return Program(1, (store,), buckets, 1, "append")


class Stream(Slices):
    """A stream of micro-batches through all buckets, whose answers are sessions."""

    def __init__(self, plan: Program, delay: int) -> None:
        super().__init__(plan, delay)
        self.answers: list[tuple] = []

    def _bucket(self, state: dict, parcel: Parcel) -> None:
        bucket = Bucket(self.plan, state)
        (store,) = self.plan.stores
        shards, counts = None, np.empty(0, dtype=np.int64)
        for shipment in parcel.shipments:
            shards, counts = shipment.split()
            numbers = [bucket.index.fragment(s) for s in shipment.signatures]
            renamed = pa.array(np.array(numbers)[shards.column("fragment").to_numpy()])
            shards = store.schema.conform(shards.set_column(1, "fragment", renamed))
        for some in session_answers(bucket, store, shards, counts, self.watermark):
            columns = [some.start, some.end, some.keys[0].to_pylist() if some.keys else []]
            if not some.keys:
                columns[2] = [None] * len(some.start)
            columns += [part[0].to_pylist() for part in some.parts]
            for start, end, *values in zip(*columns, strict=True):
                self.answers += [(q, int(start), int(end), *values) for q in some.asked[0][0]]
        bucket.index.frontier = self.watermark
        bucket.evict(store)
        bucket.save()
        for query, count in bucket.index.late.items():
            self.late[query] = self.late.get(query, 0) + count


class Definition:
    """Sessions by Spark's rules: open sessions, the watermarks of this batch and of the last."""

    def __init__(self, plan: Program, delay: int) -> None:
        self.plan, self.delay, self.watermark, self.before = plan, delay, 0, 0
        self.open: dict[tuple[int, str], list[list[tuple[int, int]]]] = {}
        self.answers: list[tuple] = []
        self.late: dict[int, int] = {}

    def run(self, rows: list[tuple[int, str, int]]) -> None:
        for service in self.plan.stores[0].services:
            gap = service.range
            for t, key, value in rows:
                if (service.predicate is not None and value <= 5) or t < service.since:
                    continue
                if t + gap <= self.before:
                    self.late[service.query] = self.late.get(service.query, 0) + 1
                    continue
                place = (service.query, key if service.keys else None)
                touched, apart = [(t, value)], []
                for session in self.open.get(place, []):
                    first, last = min(session)[0], max(session)[0]
                    near = first <= t + gap and t <= last + gap
                    touched, apart = (
                        ([*touched, *session], apart) if near else (touched, [*apart, session])
                    )
                self.open[place] = [*apart, touched]
            for (query, key), found in self.open.items():
                if query == service.query:
                    due = [s for s in found if max(s)[0] + gap <= self.watermark]
                    self.open[query, key] = [s for s in found if s not in due]
                    for session in due:
                        values = [value for _, value in session]
                        bounds = (min(session)[0], max(session)[0] + gap)
                        self.answers.append((query, *bounds, key, sum(values), len(values)))
        self.before = self.watermark
        if rows:
            self.watermark = max(self.watermark, max(t for t, _, _ in rows) - self.delay)


SITUATIONS = {
    "one gap": [sessions(1, 10)],
    "many gaps": [sessions(at, gap) for at, gap in enumerate((1, 2, 3, 7, 8, 30, 200), start=1)],
    "predicate beside none": [
        sessions(1, 12, predicate=3), sessions(2, 12), sessions(3, 40, predicate=3),
    ],
    "fewer keys": [sessions(1, 5), sessions(2, 3, keys=()), sessions(3, 6, keys=())],
    "one part": [sessions(1, 9, parts=(0, 1)), sessions(2, 9), sessions(3, 4)],
    "came later": [sessions(1, 20), sessions(2, 20, since=140), sessions(3, 5, since=140)],
}  # fmt: skip


def same(plan: Program, fed: list[list[tuple[int, str, int]]], delay: int) -> None:
    buckets = 1 if any(not s.keys for s in plan.stores[0].services) else plan.buckets
    plan = replace(plan, buckets=buckets)
    stream, definition = Stream(plan, delay), Definition(plan, delay)
    for rows in fed:
        stream.run(rows)
        definition.run(rows)
        assert sorted(stream.answers, key=repr) == sorted(definition.answers, key=repr)
        assert stream.late == definition.late
    for state in stream.states:  # only the last row is left, because no later row closes it
        kept = Bucket(plan, state).index.sessions.values()
        assert all(known["stretches"] == 1 for known in kept)


@pytest.mark.parametrize("name", SITUATIONS)
@pytest.mark.parametrize("seed", range(3))
def test_closed_sessions_are_those_of_the_definition(name, seed, monkeypatch):
    monkeypatch.setattr(sessions_module, "PIECE", 300)  # several pieces
    same(program(SITUATIONS[name]), batches(seed, count=20, step=25, jitter=60), delay=20)


ROW = st.tuples(st.integers(-20, 120), st.sampled_from("ab"), st.integers(0, 9))


@settings(max_examples=150, deadline=None)
@given(
    gaps=st.lists(st.integers(1, 40), min_size=1, max_size=4, unique=True),
    fed=st.lists(st.lists(ROW, max_size=12), min_size=1, max_size=8),
    delay=st.integers(0, 30),
    predicates=st.booleans(),
)
def test_random_rows_make_the_sessions_of_the_definition(gaps, fed, delay, predicates):
    services = [sessions(at, gap) for at, gap in enumerate(gaps, start=1)]
    if predicates:
        services += [sessions(100 + s.query, s.range, predicate=3) for s in services]
    same(program(services), [*fed, [(5000, "z", 1)], []], delay)


def test_gaps_come_and_go_while_sessions_are_open():
    """An added query begins with later rows; dropping one leaves the others unchanged."""
    first, second = sessions(1, 30), sessions(2, 10, since=101)
    stream, definition = Stream(program([first]), 0), Definition(program([first]), 0)
    fed = [[(90, "a", 1)], [(100, "a", 2)], [(105, "a", 4), (112, "a", 8)], [(400, "b", 1)], [], []]
    both = [first, second]
    plans = [[first], [first], both, both, both, [second]]
    for rows, services in zip(fed, plans, strict=True):
        stream.plan = definition.plan = program(services)
        stream.run(rows)
        definition.run(rows)
    mine = sorted(answer for answer in stream.answers if answer[3] == "a")
    assert mine == sorted(answer for answer in definition.answers if answer[3] == "a")
    assert mine == [(1, 90, 142, "a", 15, 4), (2, 105, 122, "a", 12, 2)]


@pytest.mark.parametrize("last", [[(41, "a", 8)], []])
def test_the_largest_gap_goes_while_it_alone_is_open(last):
    """The state that only it needed is freed, whether or not rows arrive."""
    small, large = sessions(1, 10), sessions(2, 100)
    stream = Stream(program([small, large], buckets=1), 0)
    for rows in ([(5, "a", 1)], [(30, "b", 2)], [(40, "a", 4)]):
        stream.run(rows)
    stream.plan = program([small], buckets=1)
    stream.run(last)
    stream.run([(400, "c", 1)])
    stream.run([])
    found = sorted(answer for answer in stream.answers if answer[3] != "c")
    a = (1, 40, 51, "a", 12, 2) if last else (1, 40, 50, "a", 4, 1)
    assert found == [(1, 5, 15, "a", 1, 1), (1, 30, 40, "b", 2, 1), a]
    (known,) = Bucket(stream.plan, stream.states[0]).index.sessions.values()
    assert known["stretches"] == 1


def test_a_piece_of_another_version_is_noticed():
    stream = Stream(program([sessions(1, 10)], buckets=1), 0)
    stream.run([(5, "a", 1)])
    (name,) = [name for name in stream.states[0] if name.startswith("w")]
    old = stream.states[0][name]
    stream.run([(9, "a", 1)])
    stream.states[0][name] = old
    with pytest.raises(CheckpointError, match="another version"):
        stream.run([(10, "a", 1)])


def test_state_is_not_read_while_nothing_can_close():
    stream = Stream(program([sessions(1, 1000)], buckets=1), 0)
    stream.run([(5, "a", 1)])
    bucket = Bucket(stream.plan, stream.states[0])
    (store,) = stream.plan.stores
    before = bucket.traffic.reads
    assert list(session_answers(bucket, store, None, np.empty(0, dtype=np.int64), 900)) == []
    assert bucket.traffic.reads == before
