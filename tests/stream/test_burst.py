"""Changes requested together are made as one, or not at all if any of them is wrong."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from weft.errors import CheckpointError, WeftError
from weft.query.finish import Finish
from weft.query.query import Query
from weft.query.window import Window
from weft.stream.between import Between
from weft.stream.burst import Burst, NeedsRestart
from weft.stream.catalogue import Failure, Settings, complete_by
from weft.stream.evolve import first_catalogue
from weft.stream.handling import Handling
from weft.stream.planning import stream_plan
from weft.stream.progress import Progress
from weft.stream.tree_schema import TreeSchema


def query(name: str, minutes: int = 1) -> Query:
    return Query(name, aggs={"n": "count(*)"}, window=Window(range=f"{minutes} minutes"))


def add(name: str, minutes: int = 1, backfill: bool = False) -> dict:
    return {"op": "add", "query": query(name, minutes).to_dict(), "backfill": backfill}


def drop(name: str) -> dict:
    return {"op": "drop", "name": name}


SETTINGS = Settings("ts", "timestamp", "5 minutes", (3, 4), 2, "append")
RUNNING = first_catalogue(stream_plan([query("a"), query("b")]), SETTINGS)


def made(asked, since=RUNNING, batch=7):
    return Burst.of(since, asked).made_of(since, Progress(batch=batch), {})


@pytest.mark.parametrize(
    ("asked", "left"),
    [
        ([add("c"), add("d")], {"a": 1, "b": 1, "c": 1, "d": 1}),
        ([drop("A"), add("c", 2)], {"b": 1, "c": 2}),
        ([drop("a"), add("a", 5)], {"a": 5, "b": 1}),
        ([add("c"), drop("c"), add("c", 3)], {"a": 1, "b": 1, "c": 3}),
        ([add("c"), drop("a"), drop("b")], {"c": 1}),
        ([{"op": "all", "changes": [drop("a"), add("c")]}, drop("b")], {"c": 1}),
    ],
)
def test_what_is_left(asked, left):
    catalogue = made(asked)
    assert {q.name: q.window.range // 60_000_000 for q in catalogue.queries} == left
    assert (catalogue.number, catalogue.batch) == (RUNNING.number + 1, 8)


def test_what_comes_and_goes_is_no_change():
    assert not Burst.of(RUNNING, [add("c"), drop("c")]).changes(RUNNING)


def test_backfill_is_that_of_the_last_time_it_was_added():
    asked = [add("c", backfill=True), drop("c"), add("c"), add("d", backfill=True)]
    assert Burst.of(RUNNING, asked).backfill == ("d",)


def test_pausing_is_part_of_a_change():
    both = made([add("c"), {"op": "pause", "name": "A"}])
    assert (both.number, both.batch) == (RUNNING.number + 1, 8)
    assert {entry.query.name: entry.paused for entry in both.entries} == {
        "a": 8,
        "b": None,
        "c": None,
    }
    again = made([{"op": "resume", "name": "a"}], both, batch=9)
    assert again.entry("a").paused is None
    with pytest.raises(WeftError, match="'b' is not paused"):
        made([{"op": "resume", "name": "b"}])
    with pytest.raises(WeftError, match="'a' is paused already"):
        made([{"op": "pause", "name": "a"}], both)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ([add("c"), add("A")], "query 'A' runs already; drop it first"),
        ([drop("a"), drop("b")], "the last query of the stream"),
        ([drop("nobody"), add("c")], "no query 'nobody' on this checkpoint; it has 'a', 'b'"),
        ([{"op": "all", "changes": [drop("a"), drop("nobody")]}], "no query 'nobody'"),
        ([{"op": "add"}, add("c")], "query"),
        ([{"op": "plan", "plan": {}}], "op='plan'"),
        ([{"op": "pause", "name": "a"}, {"op": "pause", "name": "a"}], "twice"),
    ],
)
def test_one_amiss_and_nothing_is_done(asked, message):
    with pytest.raises((WeftError, KeyError), match=message):
        made(asked)


def test_replacing_every_query_at_once_is_refused():
    with pytest.raises(WeftError, match="this would replace every query"):
        made([drop("a"), add("a", 2), drop("b"), add("b", 3)])


class Replies:
    """Requests as `Handling` knows them, in memory."""

    def __init__(self) -> None:
        self.waiting: list = []
        self.told: dict[str, str | None] = {}

    def pending(self):
        waiting, self.waiting = self.waiting, []
        return waiting

    def take(self, ticket) -> bool:
        return True

    def reply(self, ticket, error, made=None) -> None:
        self.told[ticket] = error


class Stream:
    """A stream that knows which change is wrong, and which needs a restart."""

    def __init__(self) -> None:
        self.between = Between()
        self.changes: list[int] = []
        self.restarts: list[int] = []
        self.soon = self.between.soon

    def fits(self, asked) -> bool:
        if any(one["op"] == "wrong" for one in asked):
            raise CheckpointError("amiss")
        return not any(one["op"] == "beyond" for one in asked)

    def look(self, asked) -> None:
        pass

    def needs(self, asked) -> list[str]:
        return [] if self.fits(asked) else ["y"]

    def change(self, asked):
        if any(one["op"] == "late" for one in asked):
            raise NeedsRestart
        self.changes.append(len(asked))
        return {}

    def restart(self, asked):
        self.restarts.append(len(asked))
        return {}


def test_a_wrong_request_among_many_is_told_and_the_rest_is_few_changes():
    replies, stream = Replies(), Stream()
    handling = Handling(stream, replies, str)
    replies.waiting = [(f"{n:04d}", {"op": "wrong" if n == 137 else "drop"}) for n in range(1000)]
    asked = list(replies.waiting)
    handling.carry_out()
    assert sorted(replies.told) == [ticket for ticket, _ in asked]
    assert [ticket for ticket, error in replies.told.items() if error] == ["0137"]
    assert sum(stream.changes) == 999
    assert len(stream.changes) < 15
    handling.carry_out()


def test_while_changes_wait_what_comes_is_looked_at_now_and_then():
    replies, stream = Replies(), Stream()
    handling = Handling(stream, replies, str)
    with stream.between.micro_batch():
        for n in range(5):
            replies.waiting.append((str(n), {"op": "drop"}))
            handling.carry_out()
        assert len(replies.waiting) == 4
    assert stream.changes == [1]
    handling.carry_out()
    assert stream.changes == [1, 4]


def test_what_comes_during_a_micro_batch_is_one_change_at_its_end(monkeypatch):
    monkeypatch.setattr("weft.stream.handling._PAUSE", 0.0)
    monkeypatch.setattr("weft.stream.handling._REST", 0.0)
    replies, stream = Replies(), Stream()
    handling = Handling(stream, replies, str)
    with stream.between.micro_batch():
        for n in range(5):
            replies.waiting = [(str(n), {"op": "drop"})]
            handling.carry_out()
        assert replies.told == {}
    assert stream.changes == [5]
    assert replies.told == {}  # the next micro-batch does not wait for that
    handling.carry_out()
    assert replies.told == {str(n): None for n in range(5)}


def test_what_is_not_projected_restarts_once_for_all():
    replies, stream = Replies(), Stream()
    handling = Handling(stream, replies, str)
    replies.waiting = [(str(n), {"op": "beyond"}) for n in range(4)]
    handling.carry_out()
    assert stream.restarts == [4]
    replies.waiting = [("late", {"op": "late"})]  # it no longer fits when its turn comes
    handling.carry_out()
    assert "late" not in replies.told
    handling.carry_out()
    assert stream.restarts == [4, 1]
    assert replies.told["late"] is None


def test_work_between_micro_batches_is_done_before_the_next_one_begins():
    turns, order = Between(), []

    def micro_batch(number: int) -> None:
        with turns.micro_batch():
            order.append(number)
            begun.set()
            go_on.wait(10)

    begun, go_on = threading.Event(), threading.Event()
    thread = threading.Thread(target=micro_batch, args=(1,))
    thread.start()
    assert begun.wait(10)
    change = turns.soon(lambda: order.append("change"))
    failing = turns.soon(lambda: 1 // 0)
    assert not change.done()
    go_on.set()
    thread.join(10)
    micro_batch(2)
    assert order == [1, "change", 2]
    with pytest.raises(ZeroDivisionError):
        failing.result(0)


def test_a_halted_stream_is_changed_by_the_thread_that_halted_it():
    turns, order = Between(), []
    begun, go_on = threading.Event(), threading.Event()

    def micro_batch() -> None:
        with turns.micro_batch():
            begun.set()
            go_on.wait(10)
            order.append("batch")

    def change() -> None:
        with turns.still():
            order.append(threading.current_thread().name)

    running = threading.Thread(target=micro_batch)
    running.start()
    assert begun.wait(10)
    changing = threading.Thread(target=change, name="change")
    changing.start()
    changing.join(0.2)
    assert order == []
    go_on.set()
    running.join(10)
    changing.join(10)
    assert order == ["batch", "change"]


def test_a_new_tree_takes_the_hash_that_is_there():
    by = [Query("q", aggs={"n": "count(*)"}, window=Window(range="1 minute"), by=["a", "b"])]
    assert TreeSchema.of(1, by, "ts", 0).bucket_keys == ("a", "b")
    assert TreeSchema.of(1, by, "ts", 0, hashed=[("b",), ("c",), ("b", "c")]).bucket_keys == ("b",)
    assert TreeSchema.of(1, by, "ts", 0, hashed=[("c",)]).bucket_keys == ("a", "b")


def test_a_preview_changes_nothing():
    replies, stream = Replies(), Stream()
    made = {}
    replies.reply = lambda ticket, error, found=None: made.update({ticket: (error, found)})
    handling = Handling(stream, replies, str)
    replies.waiting = [
        (op, {"op": "preview", "changes": [{"op": op}]}) for op in ("drop", "beyond", "wrong")
    ]
    handling.carry_out()
    assert made == {
        "drop": (None, {"needs": []}),
        "beyond": (None, {"needs": ["y"]}),
        "wrong": ("amiss", None),
    }
    assert stream.changes == stream.restarts == []


WHOLE = query("whole").finished(Finish("SELECT 1", ("part",)))
STATEMENT = first_catalogue(stream_plan([WHOLE, query("part"), query("b")]), SETTINGS)


def failure(name: str) -> dict:
    entry = STATEMENT.entry(name)
    return {"op": "fail", "failure": Failure(entry.number, entry.query, 3, "it fails", "")}


def test_the_queries_of_a_statement_go_together():
    assert [q.name for q in made([drop("Whole")], STATEMENT).queries] == ["b"]
    with pytest.raises(WeftError, match="'part' is a part of 'whole': drop that one"):
        made([drop("part")], STATEMENT)


def test_they_pause_and_resume_together():
    paused = made([{"op": "pause", "name": "whole"}], STATEMENT)
    assert [e.query.name for e in paused.entries if e.paused is not None] == ["whole", "part"]
    resumed = made([{"op": "resume", "name": "whole"}], paused)
    assert not any(entry.paused is not None for entry in resumed.entries)
    over = [{"op": "pause", "name": n, "why": "too many groups"} for n in ("part", "whole")]
    assert sum(e.paused is not None for e in made(over, STATEMENT).entries) == 2


@pytest.mark.parametrize("guilty", [["part"], ["whole"], ["part", "whole"]])
def test_they_fail_together_and_come_back_together(guilty):
    failed = made([failure(name) for name in guilty], STATEMENT)
    assert [q.name for q in failed.queries] == ["b"]
    numbers = {f.query.name: f.number for f in failed.failed}
    assert numbers == {name: STATEMENT.entry(name).number for name in ("whole", "part")}
    back = made([{"op": "resume", "name": "whole"}], failed)
    assert {q.name for q in back.queries} == {"whole", "part", "b"}
    assert made([drop("whole")], failed).failed == ()


def test_they_have_one_limit():
    limited = made([{"op": "limit", "name": "whole", "limits": {"groups": 5}}], STATEMENT)
    assert [q.name for q in limited.queries if q.limits is not None] == ["whole", "part"]


def told(name: str, **finish: object) -> dict:
    return {"op": "add", "query": {**query(name).to_dict(), "finish": finish}}


@pytest.mark.parametrize(
    "asked",
    [
        [told("thief", sql="SELECT 1", parts=["b"])],
        [told("thief", sql="SELECT 1", parts=["part"])],
        [told("thief", sql="SELECT 1", parts=["nobody"])],
        [add("c"), told("d", sql="SELECT 1", parts=["c"]), told("e", sql="SELECT 1", parts=["c"])],
        [told("d", sql="SELECT 1", parts=["e"]), told("e", sql="SELECT 1", parts=[])],
    ],
)
def test_a_statement_takes_no_query_of_another(asked):
    with pytest.raises(WeftError, match=r"no part of its statement|which does not run"):
        made(asked, STATEMENT)
    both = [add("c"), told("d", sql="SELECT 1", parts=["c"])]
    assert {q.name for q in made(both, STATEMENT).queries} >= {"c", "d"}


def test_a_statement_is_complete_when_all_of_its_queries_are():
    since = (None, 0, 600_000_000)
    entries = [replace(e, complete_from=at) for e, at in zip(STATEMENT.entries, since, strict=True)]
    assert complete_by(entries[:1]) is None
    assert complete_by(entries[:2]) == 60_000_000
    assert complete_by(entries) == 660_000_000
