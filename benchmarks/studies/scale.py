"""How far one machine goes: time, memory and state over rows, keys and queries; cores, executors.

Each point runs in a separate process with a heap of 5 GiB; its peak memory is that of the driver,
its JVM and all Python workers together. A sample of queries is compared with plain Spark by the
number of answers and by the sums of their counts and maxima.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.studies.scale_trial import DELAY
from benchmarks.support.draw import Picture
from benchmarks.support.harness import ROOT, CannotRun, Claim, Row, Rows, check, noted, pick
from benchmarks.support.loads import HOUR, SECOND, START
from benchmarks.support.memory import peak_memory
from benchmarks.support.sparks import time_left

PICTURE = Picture("size", ("seconds", "peak_gib"), panel="curve", log="xy", ylabel="seconds, GiB")
MOST = 12.0
"""Memory limit of every point, in GiB."""
LIMIT = 1500.0
"""Time limit of a point, in seconds."""
FILES = 20
MICRO_BATCHES = 10


def run(full: bool) -> Rows:
    """Run all points; the quick form goes a tenth as far."""
    return noted(_rows(1 if full else 10))


def _rows(less: int) -> Iterator[Row]:
    left = time_left()
    with tempfile.TemporaryDirectory(prefix="weft-scale-", ignore_cleanup_errors=True) as folder:
        place = Place(Path(folder))
        for curve, size, options in _points(less):
            if not left():
                return
            try:
                yield place.point(curve, size, **options)
            except CannotRun as error:
                yield {"curve": curve, "size": size, "cannot": str(error)}


def _points(less: int) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Curve, size and options of every point, those on the same rows one after the other."""
    million, most = 1_000_000 // less, 100_000_000 // less
    ten: dict[str, Any] = {"rows": 10 * million, "keys": million, "count": 4}
    for rows in (million, 10 * million, most):
        yield "batch: rows", rows, ten | {"rows": rows}
    for keys in (million // 1000, million // 30, million):
        yield "stream: keys", keys, ten | {"keys": keys}
        yield "batch: keys", keys, ten | {"keys": keys}
    for count in (100 // less, 1000 // less, 10_000 // less):
        yield "stream: queries", count, ten | {"keys": 100, "count": count}
    for cores in (1, 2):
        at = f"local[{cores}]"
        yield "stream: cores", cores, ten | {"keys": 1000, "count": 100, "at": at}
    for cores in (1, 2):
        yield "batch: cores", cores, ten | {"at": f"local[{cores}]"}
    for executors in (1, 2, 4):
        at = f"local-cluster[{executors},1,1536]"
        yield "stream: executors", executors, ten | {"keys": 1000, "count": 100, "at": at}


class Place:
    """The folder of rows, answers and checkpoints; rows and plain answers are computed once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.expected: dict[tuple[Any, ...], dict[str, Any]] = {}

    def point(
        self, curve: str, size: int, *, rows: int, keys: int, count: int, at: str = "local[2]"
    ) -> Row:
        """Run one point and compare its answers."""
        form = curve.partition(":")[0]
        folder = self._rows(rows, keys)
        options: dict[str, Any] = {"folder": str(folder), "count": count}
        if form == "stream":
            options["at_once"] = FILES // MICRO_BATCHES
        told, peak = trial(what=form, master=at, **options)
        for name in ("out", "ck"):
            subprocess.run(["rm", "-rf", f"{folder}-{name}"], check=True)
        sums = told.pop("sums")
        plain = self._expected(folder, count, form)
        for name, expected in plain["sums"].items():
            check(
                sums.get(name) == expected,
                f"{curve} {size}, {name}: {sums.get(name)}, plain Spark has {expected}",
            )
        return {
            "curve": curve,
            "size": size,
            "rows": rows,
            "keys": keys,
            "queries": count,
            **told,
            "answers": sum(one[0] for one in sums.values()),
            "peak_gib": peak / 2**30,
            "plain_s": plain["seconds"] / len(plain["sums"]),
        }

    def _rows(self, rows: int, keys: int) -> Path:
        folder = self.folder / f"rows-{rows}-{keys}"
        if not folder.exists():
            for old in self.folder.glob("rows-*"):  # a hundred million rows are two gigabytes
                subprocess.run(["rm", "-rf", str(old)], check=True)
            trial(
                what="rows", master="local[2]", folder=str(folder), count=rows, keys=keys,
                files=FILES,
            )  # fmt: skip
        return folder

    def _expected(self, folder: Path, count: int, form: str) -> dict[str, Any]:
        """Plain Spark's answers to the first and the last query, and its time."""
        key = (folder.name, count, form)
        if key not in self.expected:
            sample = ["q1", f"q{count}"]
            end = START + HOUR * SECOND
            # The last row is a step before the hour's end; a stream's watermark is in
            # milliseconds.
            rows = int(folder.name.split("-")[1])
            latest = START + int((rows - 1) * (HOUR * SECOND / rows))
            closed = (latest - DELAY * SECOND) // 1000 * 1000 if form == "stream" else 2 * end
            self.expected[key], _ = trial(
                what="plain", master="local[2]", folder=str(folder), count=count, sample=sample,
                closed=closed,
            )  # fmt: skip
        return self.expected[key]


def trial(**options: Any) -> tuple[dict[str, Any], int]:
    """A trial's results and its peak memory."""
    return trial_of("benchmarks.studies.scale_trial", **options)


def trial_of(module: str, **options: Any) -> tuple[dict[str, Any], int]:
    """The results of a module that takes options as JSON and prints JSON; and its peak memory."""
    command = [sys.executable, "-m", module, json.dumps(options)]
    process = subprocess.Popen(
        command, cwd=ROOT, env=os.environ | {"TZ": "UTC"}, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    with peak_memory(process.pid) as peak:
        try:
            out, said = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            process.terminate()
            process.communicate()
            raise CannotRun(f"{options} was not done within {LIMIT:.0f} s") from None
    if process.returncode:
        why = " ".join(said.strip().splitlines()[-3:])[-800:]
        raise CannotRun(f"{options} ended with {process.returncode}: {why}")
    found: dict[str, Any] = json.loads(out.strip().splitlines()[-1])
    return found, peak.bytes


def claim(rows: Rows) -> Claim:
    """Every point is complete and within the memory limit."""
    cannot = [row for row in rows if row.get("cannot")]
    done = [row for row in rows if not row.get("cannot")]
    worst = max(row["peak_gib"] for row in done)
    full = max(row["size"] for row in pick(rows, curve="batch: rows")) >= 100_000_000
    missing = len(list(_points(1 if full else 10))) - len(rows)
    said = [f"{row['curve']} {row['size']:,}: {row['cannot']}" for row in cannot]
    said += [f"{missing} points were not tried, for want of time"] if missing else []
    for curve in dict.fromkeys(row["curve"] for row in done):
        some = pick(done, curve=curve)
        if curve.endswith(("cores", "executors")):
            gain = some[0]["seconds"] / some[-1]["seconds"]
            said.append(f"{curve}: {gain:.2f}x as fast with {some[-1]['size']} as with 1")
            continue
        first, last = some[0], some[-1]
        state = f", state {last['state_bytes'] / 2**20:,.0f} MiB" if last.get("state_bytes") else ""
        said.append(
            f"{curve} {first['size']:,} to {last['size']:,}: {first['seconds']:.1f} s to "
            f"{last['seconds']:.1f} s, {last['peak_gib']:.1f} GiB{state}, "
            f"{last['answers']:,} answers; one plain query {last['plain_s']:.1f} s"
        )
    return Claim(
        paper=f"none (our target: every point within {MOST:g} GiB)",
        ours=f"at most {worst:.1f} GiB; " + "; ".join(said),
        holds=worst <= MOST and not cannot and not missing,
        also=tuple(said),
    )
