"""Sessions with a maximum over a simulated stream, without Spark, compared with a small model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from test_open_sessions import ROW, Definition, Stream, program, sessions

from weft.engine.program import Program
from weft.engine.query_windows import FAR, QueryWindows
from weft.engine.state.as_of import ReadOnly, open_sessions, reading_program
from weft.engine.state.bucket import Bucket
from weft.engine.state.session_answers import session_answers
from weft.engine.state.sessions import session_lanes, sessions_name

Rows = list[tuple[int, str, int]]


class Model:
    """Rows that are in no answer yet; a group's rows in order of time make its sessions."""

    def __init__(self, plan: Program, delay: int) -> None:
        self.plan, self.delay, self.watermark, self.before = plan, delay, 0, 0
        self.open: dict[tuple[int, str | None], list[tuple[int, int]]] = {}
        self.checked: dict[tuple[int, str | None], int] = {}
        """The last time of the latest session that a check ended."""
        self.answers: list[tuple] = []
        self.late: dict[int, int] = {}

    def run(self, rows: Rows) -> None:
        for service in self.plan.stores[0].services:
            for t, key, value in rows:
                if (service.predicate is not None and value <= 5) or t < service.since:
                    continue
                if t + service.range <= self.before:
                    self.late[service.query] = self.late.get(service.query, 0) + 1
                    continue
                place = (service.query, key if service.keys else None)
                self.open.setdefault(place, []).append((t, value))
            for place in [place for place in self.open if place[0] == service.query]:
                self._close(place, service)
        self.before = self.watermark
        if rows:
            self.watermark = max(self.watermark, max(t for t, _, _ in rows) - self.delay)

    def _close(self, place: tuple[int, str | None], service: QueryWindows) -> None:
        kept, gap, maximum = [], service.range, service.maximum
        before = self.checked.get(place)
        found = chain(self.open[place], gap, maximum, before)
        if before is not None and any(
            start == before // maximum * maximum + maximum
            and min(session[-1][0] + gap, cap(start, maximum)) <= self.watermark
            for start, session in found
        ):
            del self.checked[place]  # the session that began at the check is answered
        for start, session in found:
            last = session[-1][0]
            end = min(last + gap, cap(start, maximum))
            if end <= self.watermark:
                values = [value for _, value in session]
                query, key = place
                self.answers.append((query, start, end, key, sum(values), len(values)))
                if last + gap >= cap(start, maximum):
                    self.checked[place] = max(last, self.checked.get(place, last))
            else:
                kept += session
        self.open[place] = kept


def cap(start: int, maximum: int) -> int:
    return -(-start // maximum) * maximum + maximum


def chain(
    rows: list[tuple[int, int]], gap: int, maximum: int, checked: int | None = None
) -> list[tuple[int, list[tuple[int, int]]]]:
    """The sessions of some rows: the start of each, and its rows."""
    found: list[tuple[int, list[tuple[int, int]]]] = []
    for row in sorted(rows):
        at = row[0]
        if found and at - found[-1][1][-1][0] <= gap:
            if at < cap(found[-1][0], maximum):
                found[-1][1].append(row)
            else:
                found.append((cap(found[-1][0], maximum), [row]))
            continue
        start = at
        if checked is not None:
            check = checked // maximum * maximum + maximum
            start = check if check <= at <= checked + gap else at
        found.append((start, [row]))
    return found


def split(services: list[QueryWindows]) -> tuple[list[QueryWindows], list[QueryWindows]]:
    capped = [service for service in services if service.maximum]
    return capped, [service for service in services if not service.maximum]


def same(services: list[QueryWindows], fed: list[Rows], delay: int) -> None:
    """Compare all answers. Every micro-batch loads the state again, like a restart."""
    buckets = 1 if any(not service.keys for service in services) else 2
    plan = program(services, buckets)
    capped, plain = split(services)
    stream = Stream(plan, delay)
    models = [Model(program(capped), delay), Definition(program(plain), delay)]
    for rows in fed:
        stream.run(rows)
        for model in models:
            model.run(rows)
        expected = [answer for model in models for answer in model.answers]
        assert sorted(stream.answers, key=repr) == sorted(expected, key=repr)
        assert stream.late == {**models[0].late, **models[1].late}
    for state in stream.states:  # only the last row is left, because no later row closes it
        kept = Bucket(plan, state).index.sessions.values()
        assert all(known["stretches"] == 1 for known in kept)


ASKED = st.tuples(
    st.integers(1, 30), st.none() | st.integers(0, 60), st.booleans(), st.sampled_from([(0,), ()])
)


def services_of(asked):
    """Services for the drawn sessions, numbered from one."""
    return [
        sessions(
            at,
            gap,
            maximum=0 if more is None else gap + more,
            predicate=3 if big else None,
            keys=keys,
        )
        for at, (gap, more, big, keys) in enumerate(asked, start=1)
    ]


@settings(max_examples=300, deadline=None)
@given(
    asked=st.lists(ASKED, min_size=1, max_size=5),
    fed=st.lists(st.lists(ROW, max_size=12), min_size=1, max_size=8),
    delay=st.integers(0, 30),
)
def test_random_rows_make_the_sessions_of_the_model(asked, fed, delay):
    services = services_of(asked)
    same(services, [*fed, [(5000, "z", 9)], []], delay)


def test_rows_in_order_make_the_sessions_of_a_batch():
    """However rows are split into batches: none is late, so answers are those over all rows."""
    random = np.random.default_rng(7)
    times = np.sort(random.integers(0, 2200, 600)).tolist()
    rows = [(int(t), str(random.choice(["a", "b"])), int(random.integers(0, 9))) for t in times]
    asked = [sessions(1, 9, maximum=40), sessions(2, 9), sessions(3, 25, maximum=25, predicate=3)]
    for size in (7, 100):
        stream = Stream(program(asked), 1)
        for at in range(0, len(rows), size):
            stream.run(rows[at : at + size])
        stream.run([(9000, "z", 9)])
        stream.run([])
        for service in asked[::2]:
            expected = []
            for key in "ab":
                own = [(t, x) for t, k, x in rows if k == key and (service.query == 1 or x > 5)]
                for start, some in chain(own, service.range, service.maximum):
                    end = min(some[-1][0] + service.range, cap(start, service.maximum))
                    values = [x for _, x in some]
                    expected.append((service.query, start, end, key, sum(values), len(values)))
            mine = [answer for answer in stream.answers if answer[0] == service.query]
            assert sorted(mine) == sorted(expected)


def test_a_query_that_comes_later_begins_its_own_sessions():
    """A session's end depends on its first row, so a new query cannot use earlier sessions."""
    first, second = sessions(1, 10, maximum=20), sessions(2, 10, maximum=20, since=41)
    stream = Stream(program([first]), 0)
    stream.run([(t, "a", 1) for t in range(23, 41, 3)])
    stream.plan = program([first, second])
    stream.run([(t, "a", 1) for t in range(41, 90, 3)])
    stream.run([(900, "z", 1)])
    stream.run([])
    mine = sorted(answer[:3] for answer in stream.answers if answer[3] == "a")
    assert mine == [(1, 23, 60), (1, 60, 80), (1, 80, 99), (2, 41, 80), (2, 80, 99)]


def test_a_late_row_begins_a_session_that_goes_on():
    stream, model = (made(program([sessions(1, 10, maximum=20)]), 0) for made in (Stream, Model))
    fed = [[(t, "a", 1) for t in range(0, 24, 4)], [(24, "a", 1)], [], [(19, "a", 1)], []]
    for rows in [*fed, [(900, "z", 1)], []]:
        stream.run(rows)
        model.run(rows)
    mine = [answer[1:3] for answer in stream.answers if answer[3] == "a"]
    assert mine == [(0, 20), (19, 34)]
    assert stream.answers == model.answers


def test_rows_that_come_after_a_check_go_on_where_the_session_ended():
    """This holds even if the session was answered before the rows arrived."""
    stream = Stream(program([sessions(1, 10, maximum=20)], buckets=1), 0)
    for rows in ([(t, "a", 1) for t in (3, 12, 21, 30, 39)], [(41, "b", 1)], []):
        stream.run(rows)
    assert [answer[1:4] for answer in stream.answers] == [(3, 40, "a")]
    stream.run([(49, "a", 1), (58, "a", 1)])
    stream.run([(62, "a", 1), (80, "b", 1)])
    stream.run([(900, "z", 1)])
    stream.run([])
    mine = [answer[1:3] for answer in stream.answers if answer[3] == "a"]
    assert mine == [(3, 40), (40, 60), (60, 72)]


def test_open_sessions_are_answered_as_if_no_more_rows_came():
    asked = [sessions(1, 10, maximum=20), sessions(2, 10)]
    stream = Stream(program(asked, buckets=1), 1000)
    stream.run([(t, "a", 1) for t in range(3, 60, 4)])
    bucket = Bucket(stream.plan, ReadOnly(stream.states[0]))
    found = {
        query: sorted(zip(some.start.tolist(), some.end.tolist(), strict=True))
        for some in open_sessions(bucket)
        for query in some.asked[0][0]
    }
    assert found == {1: [(3, 40), (40, 60)], 2: [(3, 69)]}


def test_lanes_without_a_maximum_keep_their_names():
    """The state in older checkpoints is stored under these names."""
    asked = [sessions(1, 10), sessions(2, 30), sessions(3, 10, maximum=20)]
    (tree,) = program([*asked, replace(asked[2], query=4, since=5)]).stores
    names = [sessions_name(tree, lane) for lane in session_lanes(tree)]
    assert names == ["w1/0:", "w1/0:~10<20", "w1/0:~10<20@5"]


def test_state_is_not_read_before_the_next_multiple():
    stream = Stream(program([sessions(1, 100, maximum=1000)], buckets=1), 0)
    stream.run([(t, "a", 1) for t in range(805, 1000, 50)])
    bucket = Bucket(stream.plan, stream.states[0])
    (store,) = stream.plan.stores
    before = bucket.traffic.reads
    assert list(session_answers(bucket, store, None, np.empty(0, dtype=np.int64), 999)) == []
    assert bucket.traffic.reads == before


def still_open(stream: Stream, query: int) -> list[tuple]:
    """A query's open sessions, as `weft ask` reads them."""
    bucket = Bucket(reading_program(stream.plan, (query,)), ReadOnly(stream.states[0]))
    found: list[tuple] = []
    for some in open_sessions(bucket):
        keys = some.keys[0].to_pylist() if some.keys else [None] * len(some.start)
        columns = [some.start.tolist(), some.end.tolist(), keys]
        columns += [part[0].to_pylist() for part in some.parts]
        found += [(query, *row) for row in zip(*columns, strict=True)]
    return found


STEPS = st.lists(
    st.lists(st.tuples(st.integers(1, 25), st.sampled_from("ab"), st.integers(0, 9)), max_size=8),
    min_size=2,
    max_size=12,
)
"""Micro-batches of rows whose times are counted from the watermark of their arrival."""


@settings(max_examples=100, deadline=None)
@given(
    asked=st.lists(ASKED, min_size=1, max_size=4),
    fed=STEPS,
    delay=st.integers(0, 30),
    comes=st.integers(1, 6),
    goes=st.dictionaries(st.integers(1, 9), st.integers(0, 7), max_size=4),
)
def test_closed_and_open_sessions_are_those_of_a_batch_if_no_row_is_late(
    asked, fed, delay, comes, goes
):
    """Check after every micro-batch, as `weft ask` reads them; queries are added and dropped.

    At micro-batch `comes` all queries are added once more; at `goes` one of them is dropped.
    """
    services = services_of(asked)
    stream, seen, since = Stream(program(services, buckets=1), delay), [], -FAR
    for at, steps in enumerate(fed):
        if at == comes:
            since = max(t for t, _, _ in seen) + 1 if seen else -FAR
            services += [replace(one, query=100 + one.query, since=since) for one in services]
        if at in goes and len(services) > 1:
            del services[goes[at] % len(services)]
        stream.plan = program(services, buckets=1)
        watermark = stream.watermark
        rows = [(watermark + step, key, value) for step, key, value in steps]
        stream.run(rows)
        seen += rows
        assert not any(stream.late.values())
        for service in services:
            mine = [row for row in seen if row[0] >= service.since]
            if service.predicate is not None:
                mine = [row for row in mine if row[2] > 5]
            maximum, expected = service.maximum or 1 << 60, []
            for key in "ab" if service.keys else [None]:
                own = [(t, x) for t, k, x in mine if key in (k, None)]
                for start, some in chain(own, service.range, maximum):
                    end = min(some[-1][0] + service.range, cap(start, maximum))
                    values = [x for _, x in some]
                    expected.append((service.query, start, end, key, sum(values), len(values)))
            got = [answer for answer in stream.answers if answer[0] == service.query]
            got += still_open(stream, service.query)
            assert sorted(got, key=repr) == sorted(expected, key=repr)


def test_a_late_row_does_not_begin_at_a_check_whose_session_is_answered() -> None:
    stream = Stream(program([sessions(1, 5, maximum=10)], buckets=1), 0)
    first = [(0, "a", 1), (4, "a", 1), (9, "a", 1), (10, "a", 1)]
    for rows in (first, [(15, "b", 1)], [], [(12, "a", 1)], [(60, "b", 1)], []):
        stream.run(rows)
    bounds = [(start, end) for _, start, end, key, *_ in stream.answers if key == "a"]
    assert bounds == [(0, 10), (10, 15), (12, 17)]
