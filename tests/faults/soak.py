"""A long run in which queries are added and dropped: memory and state must stay flat.

`python -m tests.faults.soak --minutes 60 [--write docs/reliability.md]`
"""

from __future__ import annotations

import argparse
import os
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from statistics import median

from benchmarks.support.memory import Memory, memory
from tests.faults.chaos import MINUTE, START
from tests.faults.outcome import Wrong, write_between
from tests.faults.rig import CLOSED, QUERIES, Case, Rig
from weft.query.query import Query
from weft.query.window import Window

ROWS = 2000
"""Rows per file; there is a file every second."""
CHANGE = 15.0
"""Seconds between two changes of queries."""
SLACK = 1.25
"""How much more the last quarter may have than the second; the first one is for warming up."""
MEGABYTES = 48.0
"""Growth by less than this is noise, whatever the total."""
WARM = 10.0
"""A run shorter than this many minutes shows nothing about memory: workers still start and grow."""
MARKER = "soak"


@dataclass(frozen=True)
class Sample:
    """The measurements at one moment."""

    memory: Memory
    state_bytes: int
    slices: int


@dataclass(frozen=True)
class Soak:
    """The outcome of a run."""

    minutes: float
    files: int
    changes: int
    rows: int
    """The number of rows of answers that were equal to the batch answer."""
    samples: Sequence[Sample]

    def quarters(self, name: str) -> tuple[float, float]:
        """The median of a measurement in the second quarter of the run and in the last."""
        values = [float(getattr(s.memory, name, getattr(s, name, 0))) for s in self.samples]
        quarter = max(1, len(values) // 4)
        return median(values[quarter : 2 * quarter] or values), median(values[-quarter:])

    def check(self) -> None:
        """Fail if memory or state grew, provided that the run was long enough to tell."""
        if self.minutes < WARM:
            return
        for name, unit in (("driver", 1e6), ("workers", 1e6), ("state_bytes", 1e6)):
            before, after = (value / unit for value in self.quarters(name))
            if after > before * SLACK and after - before > MEGABYTES:
                raise Wrong(f"soak: {name} grew from {before:.0f} MB to {after:.0f} MB")

    def text(self) -> str:
        """The figures, in Markdown."""
        lines = [
            f"Run on {datetime.now(timezone.utc).date()}: {self.minutes:g} minutes, "
            f"{self.files:,} files of {ROWS:,} rows, {self.changes} changes of queries, "
            f"{self.rows:,} rows of answers equal to the batch answer.\n",
            "| median of | second quarter | last quarter |",
            "|---|---|---|",
        ]
        for title, name in (
            ("driver (Python), MB", "driver"),
            ("JVM, MB", "jvm"),
            ("Python workers together, MB", "workers"),
            ("state, MB", "state_bytes"),
        ):
            before, after = self.quarters(name)
            lines.append(f"| {title} | {before / 1e6:.1f} | {after / 1e6:.1f} |")
        before, after = self.quarters("slices")
        lines.append(f"| slices held | {before:,.0f} | {after:,.0f} |")
        return "\n".join(lines) + "\n"


def passing(number: int) -> Query:
    """A query that runs for a while."""
    window = Window(range=f"{2 + number % 5} minutes", slide=f"{1 + number % 2} minutes")
    aggs = {"n": "count(*)", "hi": "max(x)"}
    return Query(f"p{number}", aggs=aggs, window=window, by=["k"], where=f"x > {number % 9}")


def soak(folder: Path, minutes: float, seed: int = 0) -> Soak:
    """Run the stream; fail if answers differ, or memory or state grew."""
    rig = Rig(folder, seed)
    case = rig.case("soak")
    case.per_batch = 50  # everything that has arrived since the last micro-batch
    stop = threading.Event()
    feeder = threading.Thread(target=_feed, args=(case, stop), daemon=True)
    feeder.start()
    running = case.start(trigger="1 second")
    samples: list[Sample] = []
    changes = 0
    try:
        began = changed = time.monotonic()
        while time.monotonic() - began < minutes * 60:
            time.sleep(min(5.0, minutes * 2))
            status = running.status()
            if not status.active:
                raise Wrong(f"soak: the stream ended: {status.error}")
            samples.append(Sample(memory(), status.state_bytes, status.slices))
            if time.monotonic() - changed > min(CHANGE, minutes * 10):
                changed = time.monotonic()
                running.add(passing(changes), backfill=changes % 2 == 0)
                if changes >= 3:
                    running.drop(f"p{changes - 3}")
                changes += 1
        stop.set()
        feeder.join()
        case.end()
        ends = time.monotonic() + max(120.0, minutes * 60)
        while (running.progress.frontier or 0) < CLOSED:
            if time.monotonic() > ends or not running.is_active:
                raise Wrong("soak: the stream did not come to its end")
            time.sleep(0.5)
    finally:
        stop.set()
        running.stop()
    since = {entry.query.name: entry.complete_from for entry in running.catalogue.entries}
    live = [query for query in running.queries if query.name.startswith("p")]
    found = Soak(minutes, case.files, changes, case.compare([*QUERIES, *live], since), samples)
    rig.close()
    found.check()
    return found


def _feed(case: Case, stop: threading.Event) -> None:
    """Write a file every second, with ten seconds of event time; some rows are a minute late."""
    number = 0
    while not stop.is_set():
        first = START + number * MINUTE // 6
        behind = case.random.integers(0, MINUTE, ROWS) * (case.random.random(ROWS) < 0.1)
        case.put(first + case.random.integers(0, MINUTE // 6, ROWS) - behind)
        number += 1
        stop.wait(1.0)


def main(arguments: list[str] | None = None) -> None:
    """Run it and print the outcome."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", type=Path, metavar="PAGE", help="put the figures into a page")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="weft-soak-") as folder:
        found = soak(Path(folder), given.minutes, given.seed)
    print(found.text())
    if given.write:
        write_between(given.write, MARKER, found.text())


if __name__ == "__main__":
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    main()
