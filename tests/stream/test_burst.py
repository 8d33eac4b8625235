"""Requests that come together are one change, or none if any of them is amiss."""

from __future__ import annotations

import pytest

from weft.errors import CheckpointError, WeftError
from weft.query.query import Query
from weft.query.window import Window
from weft.spark.streaming.starting import stream_plan
from weft.stream.burst import Burst
from weft.stream.handling import Handling


def query(name: str, minutes: int = 1) -> Query:
    return Query(name, aggs={"n": "count(*)"}, window=Window(range=f"{minutes} minutes"))


def add(name: str, minutes: int = 1, backfill: bool = False) -> dict:
    return {"op": "add", "query": query(name, minutes).to_dict(), "backfill": backfill}


def drop(name: str) -> dict:
    return {"op": "drop", "name": name}


RUNNING = [query("a"), query("b")]


@pytest.mark.parametrize(
    ("asked", "left"),
    [
        ([add("c"), add("d")], {"a": 1, "b": 1, "c": 1, "d": 1}),
        ([drop("A"), add("c", 2)], {"b": 1, "c": 2}),
        ([drop("a"), add("a", 5)], {"a": 5, "b": 1}),
        ([add("c"), drop("c"), add("c", 3)], {"a": 1, "b": 1, "c": 3}),
        ([add("c"), drop("a"), drop("b")], {"c": 1}),
        ([add("c"), drop("c")], {"a": 1, "b": 1}),
    ],
)
def test_what_is_left(asked, left):
    burst = Burst.of(RUNNING, asked)
    plan = burst.applied(stream_plan(RUNNING)) if burst.changes else stream_plan(RUNNING)
    assert {q.name: q.window.range // 60_000_000 for q in plan.queries} == left


def test_backfill_is_that_of_the_last_time_it_was_added():
    asked = [add("c", backfill=True), drop("c"), add("c"), add("d", backfill=True)]
    assert Burst.of(RUNNING, asked).backfill == ("d",)


@pytest.mark.parametrize(
    "asked",
    [
        [add("c"), add("A")],
        [drop("a"), drop("b")],
        [drop("nobody"), add("c")],
        [add("c"), {"op": "pause", "name": "a"}],
        [{"op": "add"}, add("c")],
    ],
)
def test_one_amiss_and_they_go_one_by_one(asked):
    with pytest.raises((WeftError, KeyError)):
        Burst.of(RUNNING, asked)


def test_replacing_every_query_at_once_goes_one_by_one():
    burst = Burst.of(RUNNING, [drop("a"), add("a", 2), drop("b"), add("b", 3)])
    with pytest.raises(WeftError, match="every query of the plan is replaced"):
        burst.applied(stream_plan(RUNNING))


def test_a_wrong_request_among_many_is_told_and_the_rest_is_still_few_changes():
    replies: dict[str, str | None] = {}
    changes: list[int] = []

    class Replies:
        def reply(self, ticket: str, error: str | None) -> None:
            replies[ticket] = error

    class Stream:
        queries = RUNNING

        def apply(self, asked) -> None:
            if any(one["op"] == "wrong" for one in asked):
                raise CheckpointError("amiss")
            changes.append(len(asked))

        def drop(self, name: str) -> None:
            changes.append(1)

        add = pause = resume = drop

    handling = Handling(Stream(), Replies(), str)
    asked = [
        (f"{n:04d}", {"op": "wrong" if n == 137 else "drop", "name": "a"}) for n in range(1000)
    ]
    handling._all(asked)
    assert list(replies) == [ticket for ticket, _ in asked], "in their order"
    assert [ticket for ticket, error in replies.items() if error] == ["0137"]
    assert len(changes) < 15
    handling._all([])
