"""A stream is rescaled up and down; it and the rescaling are killed; answers equal the batch's.

This file is also the process that is killed: `python THIS_FILE stream|rescale FOLDER NUMBER`.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.faults.chaos import ROOT, SCHEMA, WATERMARK, session, write_feed
from weft.query.query import Query
from weft.query.window import Window

pytestmark = pytest.mark.integration
QUERIES = [
    Query("minute", aggs={"n": "count(*)", "s": "sum(x)"}, window=Window(range="1 minute"), by="k"),
    Query("sliding", aggs={"n": "count(*)", "m": "max(x)"}, by="k",
          window=Window(range="9 minutes", slide="2 minutes"), where="x > 2"),
]  # fmt: skip
BUCKETS = 6


def started(folder: Path, trigger: str):
    from weft.spark.loom import Loom

    reader = session().readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    loom = Loom(reader.parquet(str(folder / "in")), time="ts", watermark=WATERMARK)
    for query in QUERIES:
        loom.add(query)
    given = {"checkpoint": str(folder / "ck"), "trigger": trigger, "buckets": BUCKETS}
    return loom.start(str(folder / "out"), **given)


def stream(folder: Path, batches: int) -> None:
    """Run the stream for a number of micro-batches, then stop it; 0: to its end."""
    running = started(folder, "available_now")
    until = running.progress.batch + batches
    while not running.await_termination(0.05):
        if batches and running.progress.batch >= until:
            running.stop()
            return


def rescale(folder: Path, partitions: int) -> None:
    import weft
    from weft.stream.rescaling import is_unfinished

    if is_unfinished(str(folder / "ck")):
        started(folder, "once").await_termination()
    weft.rescale(session(), str(folder / "ck"), partitions=partitions)


def process(what: str, folder: Path, number: int) -> subprocess.Popen[bytes]:
    with (folder / f"{what}-{time.monotonic_ns()}.log").open("wb") as log:
        return subprocess.Popen(
            [sys.executable, __file__, what, str(folder), str(number)],
            cwd=ROOT, env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip


def whole(what: str, folder: Path, number: int) -> None:
    assert process(what, folder, number).wait(300) == 0, _last_log(folder)


def killed(what: str, folder: Path, number: int, begun: Path, seconds: float) -> None:
    """Run it, and kill it some seconds after a file has changed, which shows that it works."""
    before = begun.stat().st_mtime_ns if begun.exists() else None
    running = process(what, folder, number)
    ends = time.monotonic() + 300
    while (begun.stat().st_mtime_ns if begun.exists() else None) == before:
        assert running.poll() is None, _last_log(folder)
        assert time.monotonic() < ends, "it does not begin"
        time.sleep(0.01)
    time.sleep(seconds)
    if running.poll() is None:
        os.killpg(running.pid, signal.SIGKILL)
    running.wait()


def _last_log(folder: Path) -> str:
    logs = sorted(folder.glob("*.log"), key=lambda path: path.stat().st_mtime)
    return logs[-1].read_text(errors="replace")[-3000:]


def test_rescaled_up_and_down_between_kills(tmp_path: Path):
    from weft.plan.time_axis import TimeAxis
    from weft.sinks import read_results
    from weft.spark.verify.native import native
    from weft.stream import rescaling
    from weft.stream.catalogue_files import CatalogueFiles

    folder, draw = tmp_path / "run", random.Random(19)
    write_feed(folder / "in", 20, 19)
    progress, marker = folder / "ck/weft/progress.json", folder / "ck/weft/rescale.json"
    seen = []
    killed("stream", folder, 0, progress, draw.uniform(0, 1))
    for partitions in (5, 1):
        # Killed while it ran; the next start of the stream finds the old partitions or the new.
        killed("rescale", folder, partitions, marker, draw.uniform(0, 3))
        whole("stream", folder, 1)
        seen.append(rescaling.written(str(folder / "ck")).partitions)
        whole("rescale", folder, partitions)
        killed("stream", folder, 0, progress, draw.uniform(0, 1))
        assert rescaling.written(str(folder / "ck")).partitions == partitions
        assert CatalogueFiles(str(folder / "ck")).latest().settings.partitions == partitions
    whole("stream", folder, 0)
    print("partitions after the kills:", seen)
    spark = session()
    batch = spark.read.schema(SCHEMA).parquet(str(folder / "in"))
    for query in QUERIES:
        expected = native(batch, TimeAxis("ts"), query).where("window.end <= '2023-12-31'")
        right = Counter(tuple(row) for row in expected.collect())
        found = Counter(
            tuple(row) for row in read_results(spark, str(folder / "out"), query.name).collect()
        )
        assert sum(right.values()) > 50
        assert found == right, query.name


if __name__ == "__main__":
    {"stream": stream, "rescale": rescale}[sys.argv[1]](Path(sys.argv[2]), int(sys.argv[3]))
