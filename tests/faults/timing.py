"""A clock that goes back, and rows that are repeated, out of order or years ahead."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from tests.faults.chaos import MINUTE, START
from tests.faults.outcome import RIGHT, STOPPED, Outcome, Wrong, stopped_by
from tests.faults.rig import Rig
from weft.stream.progress import ProgressFile

DAY = 24 * 60 * MINUTE


def clock_back(rig: Rig) -> Iterator[Outcome]:
    """At the last micro-batch, the clock was ten days later than it is now."""
    case = rig.case("clock")
    case.minutes(0, 4)
    case.run()
    file = ProgressFile(str(case.checkpoint))
    right = file.read()
    file.write(replace(right, clock=time.time_ns() // 1000 + 10 * DAY))
    case.minutes(4, 8)
    case.end()
    said = stopped_by(case.stop_of(), "the clock says", "start the stream again")
    file.write(right)  # as if the clock had never shown a later time than now
    case.run()
    yield Outcome("clock ten days back, then set", said, STOPPED, case.compare())


def repeats(rig: Rig) -> Iterator[Outcome]:
    """The last micro-batch is run again, as after a crash before its commit."""
    case = rig.case("repeats")
    for minute in (0, 2, 4):
        case.minutes(minute, minute + 2)
    case.end()
    case.run()
    before = case.compare()
    commits = sorted(case.checkpoint.glob("commits/[0-9]*"), key=lambda path: int(path.name))
    for path in commits[-1:]:
        path.unlink()
        path.with_name(f".{path.name}.crc").unlink(missing_ok=True)
    case.run()
    after = case.compare()
    if before != after:
        raise Wrong(f"repeats: {before} rows before, {after} after")
    yield Outcome(
        "the last micro-batch comes again", "its files and manifest replaced", RIGHT, after
    )


def reorders(rig: Rig) -> Iterator[Outcome]:
    """Rows twice and in any order, within the watermark, give a plain query's answers."""
    case = rig.case("reorders")
    case.watermark = "1 hour"
    draw = case.random
    times = START + draw.integers(0, 30 * MINUTE, 600)
    keys, values = np.array([f"k{i}" for i in draw.integers(0, 6, 600)]), draw.integers(0, 12, 600)
    for first, last in ((0, 200), (200, 400), (100, 300), (400, 600)):
        rows = draw.permutation(np.arange(first, last))
        case.put(times[rows], keys[rows], values[rows])
    case.end()
    case.run()
    yield Outcome(
        "rows out of order by up to 30 minutes, 200 of them twice",
        "counted as they came, like a plain query's",
        RIGHT,
        case.compare(),
    )


def years_ahead(rig: Rig) -> Iterator[Outcome]:
    """One row with a time three years ahead, between two files of ordinary rows."""
    case = rig.case("ahead")
    case.minutes(0, 4)
    far = time.time_ns() // 1000 + 3 * 365 * DAY
    case.put([far, 2**63 - 1, -(2**63)])
    case.minutes(4, 8)
    case.end()
    running = case.run()
    status = running.status()
    if status.ahead_rows != 2:
        raise Wrong(f"ahead: {status.ahead_rows} rows set aside instead of 2")
    rows = case.compare(rows=case.batch().where(f"unix_micros(ts) between 0 and {far - 1}"))
    yield Outcome(
        "rows at the ends of time, two of them years ahead",
        "2 set aside and counted; the one before 1970 counted late; no window closed by them",
        RIGHT,
        rows,
    )
