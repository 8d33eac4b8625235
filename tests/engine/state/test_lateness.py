"""Queries with different lateness in one tree: each as if alone, with that much more delay."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_bucket import Definition, Stream, batches, program, service

from weft.engine.finals.registry import STRUCTURES
from weft.engine.program import Program
from weft.engine.query_windows import FAR, QueryWindows
from weft.engine.state import bucket as bucket_module
from weft.engine.state.bucket import Bucket
from weft.engine.state.lanes import lane_name

DELAY = 20
Row = tuple[int, str, int]
SITUATIONS = {
    "the same windows": [service(1, 10, 10), service(2, 10, 10, lateness=30)],
    "several latenesses": [
        service(1, 25, 5, 2),
        service(2, 25, 5, 2, lateness=17),
        service(3, 40, 20, lateness=60),
    ],
    "late only": [service(1, 12, 4, lateness=25), service(2, 30, 10, lateness=25)],
    "gaps": [service(1, 3, 10, lateness=40), service(2, 4, 7, 5)],
    "predicates": [
        service(1, 12, 4, predicate=3, lateness=33),
        service(2, 12, 4, predicate=3),
        service(3, 12, 6, lateness=5),
    ],
    "long beside short": [service(1, 900, 10), service(2, 10, 10, lateness=200)],
}


class Alone:
    """Each query separately, by definition: its lateness adds to the watermark's delay."""

    def __init__(self, services: list[QueryWindows], delay: int = DELAY) -> None:
        self.each = [
            Definition(program([replace(one, lateness=0)]), delay + one.lateness)
            for one in services
        ]

    def run(self, rows: list[Row]) -> None:
        for one in self.each:
            one.run(rows)

    @property
    def answers(self) -> dict[tuple[int, int, str], tuple[int, int]]:
        return {place: value for one in self.each for place, value in one.answers.items()}

    @property
    def late(self) -> dict[int, int]:
        return {query: count for one in self.each for query, count in one.late.items()}

    @property
    def changing(self) -> dict[tuple[int, int, str], tuple[int, int]]:
        """The latest answer of update mode for every window, including open ones."""
        still = {p: (sum(v), len(v)) for one in self.each for p, v in one.open.items()}
        return self.answers | still


def same_at_every_micro_batch(plan: Program, made: list[list[Row]]) -> Alone:
    stream, alone = Stream(plan, DELAY), Alone(list(plan.stores[0].services))
    for rows in made:
        stream.run(rows)
        alone.run(rows)
        assert stream.late == alone.late
        assert stream.answers == (alone.answers if plan.mode == "append" else alone.changing)
    return alone


@pytest.mark.parametrize("finals", ["auto", "blocks", *STRUCTURES])
@pytest.mark.parametrize("name", SITUATIONS)
def test_each_query_is_answered_as_by_itself(name, finals, monkeypatch):
    monkeypatch.setattr(bucket_module, "TARGET", 400)  # many small pieces, several levels
    plan = program(SITUATIONS[name], finals=finals)
    alone = same_at_every_micro_batch(plan, batches(1, count=24, step=25, jitter=150))
    assert len(alone.answers) > 30
    assert sum(alone.late.values()) > 20


@pytest.mark.parametrize("name", SITUATIONS)
def test_early_answers_take_late_rows_as_long_as_each_query_does(name, monkeypatch):
    monkeypatch.setattr(bucket_module, "TARGET", 400)
    plan = program(SITUATIONS[name], mode="update")
    same_at_every_micro_batch(plan, batches(2, count=12, step=25, jitter=150))


def test_calm_streams_keep_a_structure_for_each_lateness():
    services = [service(1, 400, 10), service(2, 400, 10, lateness=70)]
    plan = program(services, buckets=1, finals="auto")
    stream, alone = Stream(plan, DELAY), Alone(services)
    for number in range(120):
        late = [(number * 10 - 95, "a", 3), (number * 10 - 25, "b", 2)]
        rows = [(number * 10 + at, "abcdefg"[at], at) for at in range(7)] + late
        stream.run(rows)
        alone.run(rows)
        assert (stream.answers, stream.late) == (alone.answers, alone.late)
    kept = Bucket(plan, stream.states[0]).index.sliding
    assert [name for name in kept if "finals" in kept[name]] == ["f1/0:", "f1/0:+70"]


def test_a_lane_without_lateness_is_called_as_it_always_was():
    (tree,) = program(SITUATIONS["predicates"]).stores
    assert [lane_name(tree, lane) for lane in tree.lanes] == ["f1/0:3+33", "f1/0:3", "f1/0:+5"]


def test_the_frontier_of_a_query_begins_at_the_epoch():
    late = service(1, 10, 5, lateness=30)
    assert [late.own_frontier(at) for at in (0, 10, 30, 31, 100)] == [0, 0, 0, 1, 70]
    assert late.own_frontier(-FAR) == -FAR
    assert late.next_start(32) == -5
    assert late.is_late(np.array([-20, -5, 0, 5]), 35).tolist() == [True, True, False, False]


@st.composite
def trees(draw: st.DrawFn) -> list[QueryWindows]:
    made = []
    for query in range(1, draw(st.integers(2, 4)) + 1):
        slide = draw(st.integers(1, 12))
        made.append(
            service(
                query,
                draw(st.integers(1, 40)),
                slide,
                draw(st.integers(0, 11)),
                predicate=draw(st.sampled_from([None, 3])),
                lateness=draw(st.sampled_from([0, 0, 1, 7, 30, 90])),
            )
        )
    return made


@st.composite
def late_rows(draw: st.DrawFn) -> list[list[Row]]:
    """Micro-batches at an uneven pace, with rows up to 160 behind it."""
    now, made = 0, []
    row = st.tuples(st.integers(-160, 10), st.sampled_from("abc"), st.integers(-9, 20))
    for _ in range(draw(st.integers(3, 12))):
        now += draw(st.sampled_from([0, 3, 10, 40, 150]))
        made.append([(now + t, k, v) for t, k, v in draw(st.lists(row, max_size=8))])
    return [*made, [(now + 5000, "z", 1)], []]


@settings(max_examples=150, deadline=None)
@given(trees(), late_rows(), st.sampled_from(["auto", "blocks", *STRUCTURES]))
def test_any_latenesses_in_one_tree(services, made, finals):
    same_at_every_micro_batch(program(services, finals=finals), made)


@settings(max_examples=60, deadline=None)
@given(trees(), late_rows())
def test_any_latenesses_in_update_mode(services, made):
    same_at_every_micro_batch(program(services, mode="update"), made)
