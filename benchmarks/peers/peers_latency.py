"""Peers, latency: 20,000 rows a second, from when a window could be closed to its delivery."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from benchmarks.peers import oracle, workload
from benchmarks.peers.job import DELAY, Job
from benchmarks.peers.live_feed import RATE, SETTLE, SPEED, feed_for
from benchmarks.peers.trial import engine_module, try_out
from benchmarks.support.draw import Picture
from benchmarks.support.harness import CannotRun, Claim, Row, Rows, WrongAnswer, noted, one, pick

PICTURE = Picture("engine", ("p50", "p99"), panel="queries", kind="bars", log="y",
                  ylabel="seconds")  # fmt: skip
FULL = {
    "weft": (16, 256), "weft_eager": (16, 256), "flink": (16, 256), "spark": (4, 16, 256),
    "bytewax": (1, 16, 256),
}  # fmt: skip
"""Numbers of queries; an engine that has fallen behind is not tried with more."""
QUICK = {"weft": (16, 256), "weft_eager": (16,), "flink": (16,), "spark": (4,), "bytewax": (1,)}
TARGET = 1.0
"""The target for weft's median latency, in seconds."""


def run(full: bool) -> Rows:
    """Run the engines, in the quick form fewer and shorter; the first part of a run is ignored."""
    seconds, warm, limit = (180, 70, 300.0) if full else (45, 20, 90.0)
    with tempfile.TemporaryDirectory(prefix="weft-peers-", ignore_cleanup_errors=True) as name:
        return noted(_rows(Path(name), FULL if full else QUICK, seconds, warm, limit))


def _rows(
    folder: Path, engines: Mapping[str, Sequence[int]], seconds: int, warm: int, limit: float
) -> Iterator[Row]:
    for engine, counts in engines.items():
        behind = False
        for count in counts:
            if behind:
                yield {"engine": engine, "queries": count, "tried": False}
                continue
            try:
                row = measured(engine, count, folder / f"{engine}-{count}", seconds, warm, limit)
            except (CannotRun, WrongAnswer) as error:
                if isinstance(error, WrongAnswer) and engine.startswith("weft"):
                    raise
                # A wrong answer of a peer is reported in its row, and does not end the benchmark.
                row = {"engine": engine, "queries": count, "cannot": str(error), "kept_up": False}
            behind = not row["kept_up"]
            yield row


def measured(engine: str, count: int, folder: Path, seconds: int, warm: int, limit: float) -> Row:
    """Measure one engine with some number of queries: compare answers, take latency percentiles.

    A window that could have been closed but was not answered counts as infinitely late.
    """
    windows = workload.windows(count)
    table = workload.rows(RATE * seconds, SPEED * seconds)
    job = Job(engine, "live", windows, str(folder / "rows"), str(folder / "job"))
    kind = getattr(engine_module(engine), "FEED", "socket")
    with feed_for(kind, table, job) as feed:
        trial = try_out(replace(job, port=feed.port), limit + SETTLE + seconds)
    row = trial.row() | {"tried": True, "rows": table.num_rows}
    for name in ("seconds", "first_seconds", "warm"):  # these would be of the feed
        row.pop(name)
    try:
        found = engine_module(engine).delivered(trial.job)
    except (FileNotFoundError, pa.ArrowInvalid):
        found = None
    if feed.began is None or found is None or found.num_rows == 0:
        return row | {"kept_up": False, "delivered": 0.0}
    held = oracle.cells(table)
    row["answers"] = oracle.compare(found, held, windows, 0.0, f"{engine}, live")
    late = _latencies(found, held, windows, feed.began, warm, seconds)
    shutil.rmtree(folder, ignore_errors=True)
    there = np.isfinite(late)
    row |= {"windows": len(late), "delivered": float(there.mean())}
    # Behind: answers are missing, or the latest hundredth is late by a tenth of the run or more.
    row["kept_up"] = bool(there.all()) and float(np.percentile(late, 99)) < seconds / 10
    for name, part in (("p50", 50), ("p90", 90), ("p99", 99), ("most", 100)):
        value = float(np.percentile(late, part, method="higher"))
        row[name] = value if np.isfinite(value) else None
    return row


def _latencies(
    found: pa.Table,
    held: oracle.Cells,
    windows: tuple[tuple[int, int], ...],
    began: float,
    warm: int,
    seconds: int,
) -> npt.NDArray[np.float64]:
    """For each window that could be closed after `warm`, the seconds until its last key arrived.

    They are infinite if an answer is missing.
    """
    columns = {name: found[name].to_numpy() for name in ("q", "start", "at")}
    late = []
    for q, (range_, slide) in enumerate(windows):
        right = held.window(range_, slide)
        mine = columns["q"] == q
        for start, keys in zip(*np.unique(right["start"], return_counts=True), strict=True):
            end = int(start) // oracle.MICROS + range_
            closable = (end + DELAY - workload.START) / SPEED
            if not warm <= closable < seconds:
                continue
            at = columns["at"][mine & (columns["start"] == start)]
            late.append(at.max() - began - closable if len(at) == keys else np.inf)
    return np.array(late)


def claim(rows: Rows) -> Claim:
    """The target: half of weft's windows within a second, with 16 and with 256 queries."""
    medians = [one(rows, engine="weft", queries=count)["p50"] for count in (16, 256)]
    flink = one(rows, engine="flink", queries=16).get("p50")
    return Claim(
        paper="none",
        ours="; ".join(_told(rows, count) for count in (16, 256)),
        holds=all(median is not None and median < TARGET for median in medians),
        ratio=flink / medians[0] if flink and medians[0] else None,
        comment=f"p50 and p99 from when a row that closes a window was due to its delivery; "
        f"{RATE:,} rows/s, a minute of event time in a second; target: p50 under {TARGET:g} s; "
        "ratio: Flink's median over weft's at 16 queries",
        also=tuple(_told(rows, count) for count in (1, 4)),
    )


def _told(rows: Rows, queries: int) -> str:
    said = [f"{row['engine']} {cell(row)}" for row in pick(rows, queries=queries)]
    return f"{queries} queries: " + ", ".join(said)


def cell(row: Row) -> str:
    """The text of a table cell."""
    if row.get("cannot"):
        return "cannot run here"
    if not row["tried"]:
        return "not tried"
    if row["over"] and not row["delivered"]:
        return f"no answer ({row['over']})"
    if not row["kept_up"]:
        late = f": p50 {row['p50']:.1f} s" if row["p50"] is not None else ""
        return f"behind ({row['delivered']:.0%} delivered{late})"
    return f"{row['p50']:.2f} s, {row['p99']:.2f} s"
