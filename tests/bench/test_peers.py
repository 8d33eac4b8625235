"""The peers: rows, right answers and comparisons, the feed, and a trial from end to end."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks.peers import live_feed, oracle, tables, workload
from benchmarks.peers.job import Job
from benchmarks.peers.sweep import LABELS, Size, cell, sweep, told
from benchmarks.peers.trial import try_out
from benchmarks.support.harness import CannotRun, WrongAnswer
from benchmarks.support.page import BEGIN, END

FOREVER = 1e18


def right(table: pa.Table, windows: tuple[tuple[int, int], ...]) -> pa.Table:
    """The oracle's own answers, in the form in which an engine gives them."""
    held = oracle.cells(table)
    parts = []
    for q, window in enumerate(windows):
        found = held.window(*window)
        parts.append(pa.table({"q": np.full(len(found["k"]), q), **found}))
    whole = pa.concat_tables(parts)
    mean = whole["total"].to_numpy() / whole["n"].to_numpy()
    return whole.append_column("mean", pa.array(mean))


def test_the_oracle_counts_rows_in_windows_one_by_one() -> None:
    table = workload.rows(3_000)
    range_, slide = 600, 90
    times = table["ts"].cast(pa.int64()).to_numpy() // oracle.MICROS
    keys, values = table["k"].to_numpy(), table["v"].to_numpy()
    expected: dict[tuple[int, int], list[int]] = {}
    for at, key, value in zip(times, keys, values, strict=True):
        for start in range(int(at) // slide * slide, int(at) - range_, -slide):
            expected.setdefault((start * oracle.MICROS, int(key)), []).append(int(value))
    found = oracle.cells(table).window(range_, slide)
    columns = (found[name].tolist() for name in ("start", "k", "n", "total", "hi"))
    answers = {(start, k): (n, total, hi) for start, k, n, total, hi in zip(*columns, strict=True)}
    assert answers == {of: (len(v), sum(v), max(v)) for of, v in expected.items()}


def test_answers_are_compared_in_any_order_and_to_the_row() -> None:
    table, windows = workload.rows(2_000), workload.windows(3)
    held, answers = oracle.cells(table), right(table, windows)
    turned = answers.take(np.random.default_rng(0).permutation(answers.num_rows))
    assert oracle.compare(turned, held, windows, FOREVER, "here") == answers.num_rows
    # Windows that are still open may be missing; closed windows may not.
    early = answers.filter(answers["start"].to_numpy() < workload.START * oracle.MICROS)
    assert oracle.compare(early, held, windows, 0.0, "here") == early.num_rows
    for wrong, said in (
        (answers.slice(1), "expected"),
        (pa.concat_tables([answers, answers.slice(0, 1)]), "twice"),
        (answers.set_column(3, "n", pa.array(answers["n"].to_numpy() + 1)), "values of n"),
        (answers.set_column(6, "mean", pa.array(answers["mean"].to_numpy() * 2)), "mean"),
    ):
        with pytest.raises(WrongAnswer, match=said):
            oracle.compare(wrong, held, windows, FOREVER, "here")


def test_a_job_comes_back_from_its_file(tmp_path: Path) -> None:
    job = Job("weft", "live", workload.windows(2), "rows", str(tmp_path), ("a.jar",), 7)
    assert Job.load(str(job.save())) == job


def test_engines_in_processes_of_their_own_agree() -> None:
    engines = ("duckdb", "duckdb_cells", "polars")
    rows = list(sweep("batch", engines, Size(2_000, 1, 600.0)))
    assert [row["engine"] for row in rows] == [name for name in engines for _ in workload.COUNTS]
    assert len({row["answers"] for row in rows}) == len(workload.COUNTS)
    assert all(row["seconds"] > 0 and row["peak_mib"] > 10 and row["version"] for row in rows)
    assert "polars" in told(rows, 256)


def test_an_engine_that_takes_too_long_is_stopped_and_not_tried_with_more() -> None:
    rows = list(sweep("batch", ("polars",), Size(2_000, 1, 0.0)))
    assert [row["tried"] for row in rows] == [True, False, False]
    assert {cell(row) for row in rows} == {"over 0 s"}


def test_an_engine_that_fails_says_why(tmp_path: Path) -> None:
    rows = tmp_path / "rows"
    workload.write_rows(rows, workload.rows(10), 1)
    (rows / "whole" / "rows.parquet").unlink()
    job = Job("polars", "batch", workload.windows(1), str(rows), str(tmp_path / "job"))
    with pytest.raises(CannotRun, match="FileNotFoundError"):
        try_out(job, 60.0)


def test_every_engine_has_a_file_and_a_label() -> None:
    folder = Path(workload.__file__).parent / "engines"
    assert {path.stem for path in folder.glob("[a-z]*.py")} == set(LABELS)


def test_the_page_is_made_from_the_results_that_are_there() -> None:
    inside = tables.PAGE.read_text(encoding="utf-8").split(BEGIN)[1].split(END)[0]
    assert inside.lstrip("\n") == tables.tables().lstrip("\n"), "python -m benchmarks draw"


def test_the_feed_sends_every_row_at_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_feed, "SETTLE", 0.0)
    table = workload.rows(4_000, 12)
    job = Job("a", "live", (), str(tmp_path / "rows"), str(tmp_path))
    with (
        live_feed.SocketFeed(table, job) as feed,
        socket.create_connection(("127.0.0.1", feed.port)) as reader,
    ):
        text = b"".join(iter(lambda: reader.recv(1 << 16), b"")).decode()
        _until(job.fed.exists)
    lines = [tuple(map(int, line.split(","))) for line in text.splitlines()]
    milliseconds = table["ts"].cast(pa.int64()).to_numpy() // 1000
    expected = zip(milliseconds, table["k"].to_pylist(), table["v"].to_pylist(), strict=True)
    assert lines == list(expected)

    job.fed.unlink()
    with live_feed.FileFeed(table, job):
        assert not list(job.batches.iterdir())
        job.ready.touch()
        _until(job.fed.exists)
    assert pq.read_table(job.batches).equals(table)


def _until(true: Callable[[], bool]) -> None:
    ends = time.monotonic() + 30
    while not true():
        assert time.monotonic() < ends
        time.sleep(0.02)
