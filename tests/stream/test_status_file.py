"""What a stream writes for its dashboard: distinct runs, and marks of events."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from weft.stream.status import QueryStatus, Status
from weft.stream.status_file import MARKED, NAMED, Board, marks_of, read_board

SINK = {"kind": "ParquetSink", "path": "/out"}
STATUS = Status(True, 0, 5, 2.5, 2.0, None, 9, None, 0, 0, 0, 0, 0, 1, (), ())


def query(name: str, number: int = 1) -> QueryStatus:
    return QueryStatus(name, number, None, 0, 0, 0.0, (1,))


def test_samples_know_their_run_and_a_restart_is_marked(tmp_path: Path) -> None:
    for batches in ((0, 1), (2, 3)):
        board = Board(str(tmp_path), SINK)
        for batch in batches:
            board.post(replace(STATUS, batch=batch))
        board.post(replace(STATUS, batch=batches[-1], active=False))
    posted = read_board(str(tmp_path))
    assert posted is not None
    assert [(one["batch"], one["run"]) for one in posted["history"]] == [
        (0, 1), (1, 1), (2, 2), (3, 2),
    ]  # fmt: skip
    marks = [mark["event"] for mark in posted["marks"]]
    assert marks == ["started", "stopped", "started", "stopped"]


def test_changes_of_many_queries_are_one_mark() -> None:
    many = tuple(query(f"q{number}", number) for number in range(9))
    (added,) = marks_of(STATUS, replace(STATUS, queries=many, changes=2), 7.0)
    assert (added["event"], added["count"], added["at"]) == ("added", 9, 7.0)
    assert added["queries"] == [one.name for one in many[:NAMED]]
    (dropped,) = marks_of(replace(STATUS, queries=many), replace(STATUS, queries=many[1:]), 8.0)
    assert (dropped["event"], dropped["queries"]) == ("dropped", ["q0"])


def test_a_failure_is_marked_with_its_reason_cut_short() -> None:
    before = replace(STATUS, queries=(query("q"),))
    after = replace(STATUS, queries=(replace(query("q"), failed="divide by zero " * 99),))
    (mark,) = marks_of(before, after, 1.0)
    assert mark["event"] == "failed"
    assert mark["text"].startswith("divide by zero")
    assert len(mark["text"]) == 200
    (stopped,) = marks_of(STATUS, replace(STATUS, active=False, error="gone", failed=True), 1.0)
    assert (stopped["event"], stopped["text"]) == ("stopped", "gone")


def test_marks_do_not_pile_up(tmp_path: Path) -> None:
    board = Board(str(tmp_path), SINK)
    for number in range(2 * MARKED):
        queries = (query("q", number),) if number % 2 else ()
        board.post(replace(STATUS, batch=number, queries=queries))
    posted = read_board(str(tmp_path))
    assert posted is not None
    assert len(posted["marks"]) == MARKED
