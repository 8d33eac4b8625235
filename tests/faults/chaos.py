"""A stream that is killed repeatedly: `chaos(kills)` checks that no window is lost or doubled.

The driver runs in a separate process (`python -m tests.faults.chaos <folder>`). While it runs,
queries are added and dropped, and one fails. It is killed at random moments together with its JVM
and workers, and restarted on the same checkpoint. At the end, every query's rows are compared with
the batch answer.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from weft.errors import EngineError
from weft.query.query import Query
from weft.query.window import Window
from weft.sinks.files import Folder
from weft.sinks.manifests import Manifests

SCHEMA = "ts timestamp, k string, x long"
MINUTE = 60_000_000
START = 1_700_000_000_000_000 // (60 * MINUTE) * 60 * MINUTE
WATERMARK = "5 minutes"
FAILS, FATAL = "fails", 99
"""A query, and the value of x on which it fails; one row in the middle of the feed has it."""
ROOT = Path(__file__).resolve().parents[2]
"""The directory in which `python -m tests.faults.chaos` can be run."""


@dataclass(frozen=True)
class Step:
    """A change of queries, made once a number of micro-batches are done."""

    batch: int
    add: Query | None = None
    drop: str | None = None
    backfill: bool = False


def first_queries() -> list[Query]:
    """The queries that the stream begins with."""
    aggs = {"n": "count(*)", "s": "sum(x)"}
    return [
        Query("minute", aggs=aggs, window=Window(range="1 minute"), by=["k"]),
        Query("sliding", aggs=aggs, window=Window(range="5 minutes", slide="2 minutes"), by=["k"]),
        Query("big", aggs=aggs, window=Window(range="3 minutes", slide="1 minute"), where="x > 5"),
        Query("patient", aggs=aggs, window=Window(range="2 minutes"), by=["k"],
              lateness="7 minutes"),
        Query(FAILS, aggs={"r": f"sum(1000 DIV (x - {FATAL}))"}, window=Window(range="1 minute")),
    ]  # fmt: skip


def steps() -> list[Step]:
    """The queries that are added and dropped while it runs."""
    n, hi = {"n": "count(*)"}, {"hi": "max(x)", "n": "count(*)"}
    window = Window(range="4 minutes", slide="1 minute")
    return [
        Step(3, add=Query("filled", aggs=n, window=window, by=["k"]), backfill=True),
        Step(6, drop="sliding"),
        Step(9, add=Query("later", aggs=hi, window=Window(range="90 seconds"), by=["k"])),
        Step(12, drop="big"),
    ]


def write_feed(folder: Path, files: int, seed: int = 0) -> None:
    """Write files of two minutes each, with rows up to three minutes late, and a closing one."""
    draw = np.random.default_rng(seed)
    folder.mkdir(parents=True)
    for number in range(files + 1):
        times = START + number * 2 * MINUTE + draw.integers(-3 * MINUTE, 2 * MINUTE, 200)
        if number == files:
            times = np.array([START + 100_000 * MINUTE])
        keys, x = draw.integers(0, 6, len(times)), draw.integers(0, 12, len(times))
        if number == files // 2:
            x[0] = FATAL
        table = pa.table(
            {
                "ts": pa.array(times, pa.timestamp("us", "UTC")),
                "k": pa.array([f"k{i}" for i in keys]),
                "x": pa.array(x, pa.int64()),
            }
        )
        path = folder / f"{number:05d}.parquet"
        pq.write_table(table, path)
        os.utime(path, (1_000_000 + number, 1_000_000 + number))


def session(master: str = "local[2]") -> Any:
    """A small Spark session."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    spark = (
        SparkSession.builder.master(master)
        .config("spark.ui.enabled", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.driver.memory", "1g")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    return spark


def drive(folder: Path, master: str = "local[2]") -> None:
    """Start or continue the stream, make the changes that are due, and run it to its end."""
    from weft.plan.time_axis import TimeAxis
    from weft.spark.streaming.starting import start
    from weft.stream.catalogue_files import CatalogueFiles

    checkpoint = str(folder / "ck")
    new = CatalogueFiles(checkpoint).latest() is None
    spark = session(master)
    reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    running = start(
        reader.parquet(str(folder / "in")),
        TimeAxis("ts"),
        str(folder / "out"),
        checkpoint=checkpoint,
        watermark=WATERMARK,
        queries=first_queries() if new else (),
        trigger="available_now",
    )
    left = steps()
    while not running.await_termination(0.2) or left:
        names = {query.name for query in running.queries}
        for step in [step for step in left if running.progress.batch >= step.batch]:
            left.remove(step)
            if step.add is not None and step.add.name not in names:
                running.add(step.add, backfill=step.backfill)
            elif step.drop in names:
                running.drop(step.drop)
        if not running.is_active and all(running.progress.batch < step.batch for step in left):
            break
    (folder / "done").write_text("done")


def driver_command(folder: Path, master: str = "local[2]") -> list[str]:
    """The command that runs `drive` in a separate process; run it in the directory `ROOT`."""
    return [sys.executable, "-m", "tests.faults.chaos", str(folder.resolve()), master]


@dataclass(frozen=True)
class Report:
    """How a run with kills ended."""

    kills: int
    rows: int
    """Rows compared."""
    seconds: float


def chaos(
    folder: Path,
    kills: int,
    *,
    executors: int = 0,
    files: int = 24,
    seed: int = 0,
    timeout: float = 3600.0,
) -> Report:
    """Run the stream and kill it `kills` times at random moments; raise an error if rows differ.

    With `executors`, it runs on a `local-cluster`, and this many executors are killed as well.
    """
    master = "local-cluster[2,1,1024]" if executors else "local[2]"
    began, draw = time.monotonic(), random.Random(seed)
    write_feed(folder / "in", files, seed)
    done, killed = folder / "done", 0
    ready = 20.0  # until a driver has made progress; measured with the first
    while not done.exists():
        if time.monotonic() - began > timeout:
            raise EngineError(f"chaos: not done within {timeout:g} s, after {killed} kills")
        with (folder / f"driver-{killed}.log").open("ab") as log:
            driver = subprocess.Popen(
                driver_command(folder, master),
                cwd=ROOT,
                stdout=log,
                stderr=log,
                start_new_session=True,  # so that its JVM and workers can be killed with it
            )
            started, before = time.monotonic(), _entries(folder)
            early = killed < kills and draw.random() < 0.25
            if early:  # while it starts or recovers; a full start is not known before the first
                _wait(driver, draw.uniform(0.0, ready))
            else:
                _wait(driver, timeout, folder, before + 1)
                ready = time.monotonic() - started
            if executors:
                executors -= _kill_executor(driver.pid, draw)
            if killed < kills:
                if not early:  # somewhere in this micro-batch or the next
                    _wait(driver, timeout, folder, _entries(folder) + draw.randint(0, 1))
                    _wait(driver, draw.uniform(0.0, 1.0))
                if driver.poll() is None:
                    os.killpg(driver.pid, signal.SIGKILL)
                    killed += 1
                    driver.wait()
                    continue
            if driver.wait(timeout) != 0:
                text = (folder / f"driver-{killed}.log").read_text(errors="replace")
                raise EngineError(f"chaos: the driver failed:\n{text[-4000:]}")
    if killed < kills:
        raise EngineError(f"chaos: the stream ended after {killed} of {kills} kills: more files")
    return Report(killed, compare(folder), time.monotonic() - began)


def _wait(
    driver: subprocess.Popen[bytes], seconds: float, folder: Path | None = None, entries: int = 0
) -> None:
    """Wait for some seconds, or until the driver has ended or has reached a number of entries."""
    ends = time.monotonic() + seconds
    while driver.poll() is None and time.monotonic() < ends:
        if folder is not None and _entries(folder) >= entries:
            return
        time.sleep(0.05)


def _kill_executor(group: int, draw: random.Random) -> int:
    """Kill one executor in a driver's process group; return how many were killed."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                words = (process / "cmdline").read_bytes()
                mine = os.getpgid(int(process.name)) == group
            except OSError:  # it has just ended
                continue
            if mine and b"CoarseGrainedExecutorBackend" in words:
                found.append(int(process.name))
    if not found:
        return 0
    os.kill(draw.choice(found), signal.SIGKILL)
    return 1


def _entries(folder: Path) -> int:
    """A driver's progress: the number of micro-batches in its log."""
    names = Manifests(Folder(str(folder / "out"))).names()
    return int(names[-1].partition(".")[0].rpartition("-")[2]) + 1 if names else 0


def compare(folder: Path) -> int:
    """Compare every query's rows with the batch answer; return how many were compared."""
    from weft.plan.time_axis import TimeAxis
    from weft.sinks import read_results
    from weft.spark.verify.native import native
    from weft.stream.catalogue_files import CatalogueFiles

    spark = session()
    batch = spark.read.schema(SCHEMA).parquet(str(folder / "in"))
    catalogue = CatalogueFiles(str(folder / "ck")).latest()
    assert catalogue is not None
    asked = {query.name: query for query in first_queries()}
    asked |= {step.add.name: step.add for step in steps() if step.add is not None}
    live = {entry.query.name: entry for entry in catalogue.entries}
    failed = [failure.query.name for failure in catalogue.failed]
    if failed != [FAILS]:
        raise EngineError(f"chaos: failed are {failed}, and not the one that was to fail")
    total = 0
    for name, query in asked.items():
        # A failed query is compared over the rows that it can be asked of.
        given = batch.where(f"x <> {FATAL}") if name == FAILS else batch
        rows = read_results(spark, str(folder / "out"), name)
        found = Counter(tuple(row) for row in rows.collect())
        expected = native(given, TimeAxis("ts"), query).where("window.end <= '2023-12-31'")
        if name in live and live[name].complete_from is not None:
            since = live[name].complete_from
            expected = expected.where(f"window.start >= timestamp_micros({since})")
        right = Counter(tuple(row) for row in expected.collect())
        if name not in live:  # dropped or failed: its earlier answers must be right, each once
            right = right & found
        if found != right:
            missing, extra = right - found, found - right
            raise EngineError(
                f"chaos: {name}: {sum(missing.values())} rows missing, {sum(extra.values())} too "
                f"many, such as {next(iter(missing or extra))}"
            )
        if not found:
            raise EngineError(f"chaos: {name} has no rows")
        total += sum(found.values())
    return total


def main(arguments: list[str]) -> None:
    """`--kills 20 [--executors 2] [--seed 0]` runs everything; with a folder, one driver."""
    if not arguments[0].startswith("--"):
        drive(Path(arguments[0]), *arguments[1:])
        return
    given = dict(zip(arguments[::2], map(int, arguments[1::2]), strict=True))
    kills, executors = given.get("--kills", 20), given.get("--executors", 0)
    with tempfile.TemporaryDirectory(prefix="weft-chaos-") as folder:
        report = chaos(
            Path(folder) / "run",
            kills,
            executors=executors,
            files=max(16, 4 * kills),
            seed=given.get("--seed", 0),
        )
    print(
        f"{report.kills} kills of the driver and {executors} of executors in "
        f"{report.seconds:.0f} s: {report.rows:,} rows, each once, equal to the batch answer"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
