"""What `weft stream` prints of micro-batches, and of queries added, dropped, paused and failed."""

from __future__ import annotations

import json
import re
import threading
from dataclasses import replace
from typing import Any

from weft.cli.stream import differences, follow, lines, sentence
from weft.stream.batch_log import BatchDone, BatchLog
from weft.stream.status import QueryStatus, Status

EMPTY = Status(True, -1, 0, 0.0, 0.0, None, None, 1.0, 0, 0, 0, 0, 0, 1, (), ())


def status(*queries: QueryStatus, **more: Any) -> Status:
    return replace(EMPTY, queries=queries, **more)


def query(name: str, number: int = 1, **more: Any) -> QueryStatus:
    return QueryStatus(name, number, None, 0, 0, 0.0, (), **more)


def said(known: Status, now: Status) -> list[str]:
    return [sentence(*found) for found in differences(known, now)]


def report(batch: int, rows: int, milliseconds: int) -> dict[str, Any]:
    time = {"addBatch": milliseconds - 10, "triggerExecution": milliseconds}
    at = f"2026-01-01T00:00:{batch:02d}.000Z"
    return {"batchId": batch, "timestamp": at, "numInputRows": rows, "durationMs": time}


def test_each_change_of_a_query_is_one_line():
    first = status(query("a"), query("b"), query("c"))
    second = status(query("a"), query("b", paused=True), query("d"), query("c", failed="c failed"))
    third = status(query("a"), query("b"), query("c"))
    assert said(first, second) == ["paused: query 'b'", "added: query 'd'", "c failed"]
    assert said(second, third) == [
        "resumed: query 'b'", "resumed: query 'c'", "dropped: query 'd'",
    ]  # fmt: skip
    assert said(third, third) == []


def test_a_query_replaced_under_its_name_and_one_with_other_limits():
    known = status(query("a"), query("b"))
    now = status(query("a", number=7), query("b", limits={"groups": 5, "over": "fail"}), changes=2)
    assert said(known, now) == ["replaced: query 'a'", "limits: query 'b': groups=5, over=fail"]
    assert said(now, replace(known, changes=3))[1] == "limits: query 'b': none"


def test_a_query_over_its_limit_is_paused_with_the_reason():
    now = status(query("a", paused=True, why="12 groups: its limit is 5"))
    assert said(status(query("a")), now) == ["paused: query 'a' (12 groups: its limit is 5)"]


def test_a_new_plan_is_a_line_and_so_is_an_error_that_is_no_query_s():
    known = status(query("a"))
    assert said(known, replace(known, changes=2)) == ["replanned: change 2, 0 trees"]
    worker = replace(known, error="Python worker failed to connect back")
    assert said(known, worker) == ["error: Python worker failed to connect back"]
    assert said(worker, worker) == []
    failed = status(query("a", failed="a failed"), error="a failed", changes=2)
    assert said(known, failed) == ["a failed"]


class Stream:
    """A stream that ends after some polls; at each, micro-batches are delivered and reported."""

    def __init__(self, *steps: list[Any]) -> None:
        self.log, self.steps = BatchLog(), list(steps)

    def await_termination(self, timeout: float) -> bool:
        for step in self.steps.pop(0):
            if isinstance(step, BatchDone):
                self.log.delivered(step)
            else:
                self.log.reported(step)
        return not self.steps

    def status(self) -> Status:
        return status(query("a"), batch=99)

    def batches(self, *, last: bool = False) -> list[BatchDone]:
        return self.log.take(last=last)


def test_every_micro_batch_has_a_line_with_its_own_rows_and_seconds(capsys):
    done = [
        BatchDone(n, 0.0, 0, 0.0, slices=3, state_bytes=1_500_000, answers=10 * n) for n in range(4)
    ]
    # Reports come after the delivery, two of them at one poll, and the last one never. A report of
    # a look at the source that found no rows is not one of a micro-batch.
    nothing = {**report(1, 0, 5), "durationMs": {"latestOffset": 4, "triggerExecution": 5}}
    stream = Stream([done[0]], [report(0, 500, 1200), nothing],
                    [done[1], done[2], report(1, 7, 250)],
                    [report(2, 8, 300), done[3]])  # fmt: skip
    follow(stream, threading.Event(), lines(as_json=False))
    told = capsys.readouterr().out.splitlines()
    found = [re.match(r"\S+ batch (\d): (\d+) rows in (\S+) s, .* (\d+) answers", t) for t in told]
    assert [one and one.groups() for one in found] == [
        ("0", "500", "1.20", "0"), ("1", "7", "0.25", "10"), ("2", "8", "0.30", "20"),
        ("3", "0", "0.00", "30"),
    ]  # fmt: skip
    assert told[0].startswith("2026-01-01T00:00:01Z batch 0")
    assert "3 slices, 1.5 MB held" in told[0]


def test_json_lines_have_the_time_too(capsys):
    say = lines(as_json=True)
    say("stopping", {})
    say("batch", {"at": 86_400.0, "batch": 1})
    first, second = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", first["at"])
    assert second == {"event": "batch", "at": "1970-01-02T00:00:00Z", "batch": 1}
