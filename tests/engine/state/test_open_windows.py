"""Open windows of a simulated stream, read after each micro-batch, match plain definitions."""

from __future__ import annotations

import pytest
from test_bucket import SITUATIONS, Definition, Stream, batches, program, service

from weft.engine.program import Program
from weft.engine.state import bucket as bucket_module
from weft.engine.state.as_of import (
    Moment,
    ReadOnly,
    WindowAt,
    answers_at,
    asked_window,
    reading_program,
)
from weft.engine.state.bucket import Bucket


def read(stream: Stream, plan: Program, query: int, window: WindowAt) -> dict:
    found = {}
    for state in stream.states:
        kept = dict(state)
        bucket = Bucket(reading_program(plan, (query,)), ReadOnly(state))
        for some in answers_at(bucket, window):
            assert [queries for queries, _ in some.asked] == [(query,)]
            assert set(some.start.tolist()) == {window.start}
            parts = [part[0].to_pylist() for part in some.parts]
            found.update(zip(some.keys[0].to_pylist(), zip(*parts, strict=True), strict=True))
        assert dict(state) == kept  # reading changes nothing
    return found


@pytest.mark.parametrize("finals", ["auto", "blocks", "flatfit"])
@pytest.mark.parametrize("name", SITUATIONS)
def test_an_open_window_has_all_rows_so_far(name, finals, monkeypatch):
    monkeypatch.setattr(bucket_module, "TARGET", 400)  # many small pieces, several levels
    plan = program(SITUATIONS[name], finals=finals)
    stream, definition = Stream(plan, delay=20), Definition(plan, delay=20)
    compared = 0
    for rows in batches(5, count=14, step=25, jitter=60)[:-2]:
        stream.run(rows)
        definition.run(rows)
        for windows in plan.stores[0].services:
            starts = {place[1] for place in definition.open if place[0] == windows.query}
            for start in sorted(starts):
                expected = {
                    key: (sum(values), len(values))
                    for (query, begun, key), values in definition.open.items()
                    if (query, begun) == (windows.query, start)
                }
                window = WindowAt(start, start + windows.range)
                assert read(stream, plan, windows.query, window) == expected
                compared += 1
    assert compared > 10


def test_totals_above_a_late_row_are_not_taken(monkeypatch):
    """A structure answers the windows, so totals from earlier gathering are out of date."""
    monkeypatch.setattr(bucket_module, "TARGET", 400)
    gathered = program([service(1, 900, 10)], buckets=1, finals="blocks")
    stream = Stream(gathered, delay=500)
    for number in range(90):
        stream.run([(number * 10 + i, "abcdefg"[i], i) for i in range(7)])
    stream.run([(1500, "a", 0)])
    stream.run([])  # closes windows, which makes totals
    stream.plan = program([service(1, 900, 10)], buckets=1, finals="flatfit")
    before = read(stream, stream.plan, 1, WindowAt(180, 1080))
    stream.run([(255, "a", 1000)])  # far from both ends, where totals are used instead of slices
    after = read(stream, stream.plan, 1, WindowAt(180, 1080))
    assert after["a"] == (before["a"][0] + 1000, before["a"][1] + 1)


def test_which_window_is_meant():
    windows = service(1, 10, 5)
    moment = Moment(frontier=12, max_event_time=19)
    assert asked_window(windows, 19, None, moment) == WindowAt(5, 15)
    assert asked_window(windows, 20, None, moment) == WindowAt(10, 20)
    assert asked_window(windows, None, None, moment) == WindowAt(10, 20)
    assert asked_window(windows, None, 15, moment) == WindowAt(15, 25)  # a query added late
    assert asked_window(windows, None, None, Moment(0, None)) is None
