"""Debian's chromium, a dashboard and a stream, each in a separate process, for browser tests."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import weft as weft_package

CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
FLAGS = [
    "--no-sandbox",  # CI runs as root
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
ARTEFACTS = Path(__file__).parent.parent / "artefacts" / "dashboard"
# Use the weft under test, even if PYTHONPATH finds it by a path relative to this directory.
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(weft_package.__file__).parents[1])}
MINUTE = 60_000_000
START = 1_700_000_000 * 1_000_000
JOB = """
source:
  format: parquet
  path: in
  schema: ts TIMESTAMP, symbol STRING, price DOUBLE, volume BIGINT
  watermark: 1 minute
  options: {maxFilesPerTrigger: 1}
queries:
  - name: hourly
    sql: SELECT symbol, max(price) AS hi FROM trades GROUP BY window(ts, '1 hour'), symbol
  - {name: all, aggs: {n: count(*)}, range: 10 minutes}
sink: {kind: parquet, path: out}
checkpoint: ck
trigger: 200 milliseconds
spark: {spark.master: "local[2]", spark.sql.session.timeZone: UTC, spark.ui.enabled: "false"}
"""


def write_minutes(folder: Path, first: int, last: int, rows: int = 600) -> None:
    """Write trades between two minutes to a file that appears atomically."""
    random = np.random.default_rng(first)
    times = START + np.sort(random.integers(first * MINUTE, last * MINUTE, rows))
    columns = {
        "ts": pa.array(times, pa.timestamp("us", "UTC")),
        "symbol": [f"s{i}" for i in random.integers(0, 3, rows)],
        "price": random.normal(100, 5, rows),
        "volume": random.integers(1, 1000, rows),
    }
    folder.mkdir(exist_ok=True)
    pq.write_table(pa.table(columns), folder / f".{first}")
    (folder / f".{first}").rename(folder / f"{first:06d}.parquet")


@contextmanager
def weft(*args: str, cwd: Path) -> Iterator[subprocess.Popen[str]]:
    """A weft command in a process group of its own, stopped at the end."""
    with (cwd / f"{args[0]}.err").open("w") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "weft.cli", *args],
            cwd=cwd, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=errors, text=True,
            start_new_session=True,
        )  # fmt: skip
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait(30)
            assert process.stdout is not None
            process.stdout.close()


@contextmanager
def dashboard(target: str, *args: str, cwd: Path) -> Iterator[str]:
    """The address of a dashboard, with its token if it generated one."""
    with weft("serve", target, "--port", "0", *args, cwd=cwd) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("weft dashboard: http://127.0.0.1:"), (cwd / "serve.err").read_text()
        yield line.split(": ", 1)[1].strip()


@contextmanager
def stream(cwd: Path) -> Iterator[None]:
    """A stream that has finished its first micro-batch."""
    with weft("stream", "job.yaml", "--json", cwd=cwd) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if json.loads(line)["event"] == "batch":
                break
        else:
            raise AssertionError((cwd / "stream.err").read_text())
        yield
