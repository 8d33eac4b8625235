"""One engine with one number of queries in a separate process: time, time limit, peak memory."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.peers.job import Job
from benchmarks.support.beside import python_with
from benchmarks.support.harness import ROOT, CannotRun, Row
from benchmarks.support.memory import peak_memory
from weft.errors import EngineError
from weft.job.maven import Jar, fetch
from weft.spark.connectors import cache

START = 120.0
"""Seconds that an engine may take to start and load its rows."""


@dataclass(frozen=True)
class Trial:
    """The outcome of a job; `told` is None if the time limit ended it."""

    job: Job
    told: dict[str, Any] | None
    peak: int
    limit: float

    def answers(self) -> pa.Table:
        """All answers: q, start (microseconds), k, n, total, hi, mean."""
        if self.job.form == "batch":
            return pq.read_table(self.job.out)
        found: pa.Table = engine_module(self.job.engine).answers(self.job)
        return found

    def row(self) -> Row:
        """The columns that every trial's row has."""
        told = self.told or {}
        over = f"over {self.limit:.0f} s" if self.told is None else None
        return {
            "engine": self.job.engine,
            "version": told.get("version"),
            "queries": len(self.job.windows),
            "seconds": told.get("seconds"),
            "over": over,
            "queries_done": self.job.done() if over else None,
            "start_seconds": told.get("start_seconds"),
            "first_seconds": told.get("first_seconds"),
            "warm": told.get("warm"),
            "planning_seconds": told.get("planning_seconds"),
            "peak_mib": round(self.peak / 2**20),
        }


def engine_module(name: str) -> Any:
    """Import the module of an engine."""
    return import_module(f"benchmarks.peers.engines.{name}")


def try_out(job: Job, limit: float) -> Trial:
    """Run a job until it is done or out of time, not counting the start of the engine."""
    Path(job.folder).mkdir(parents=True)
    engine = engine_module(job.engine)
    needed = getattr(engine, "NEEDS", ())
    job = replace(job, jars=jars(getattr(engine, "JARS", ())))
    python = str(python_with(*needed)) if needed else sys.executable
    command = [python, "-m", "benchmarks.peers.child", str(job.save()), repr(time.time())]
    process = subprocess.Popen(
        command, cwd=ROOT, env=_environment(bool(needed)), stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip
    listener = Thread(target=_listen, args=(process, job.said), daemon=True)
    listener.start()
    try:
        with peak_memory(process.pid) as peak:
            ended = _wait(process, job, limit)
    finally:
        _end(process)
        listener.join(5.0)
    if job.report.exists():
        told = json.loads(job.report.read_text())
        return Trial(job, told if told["seconds"] <= limit else None, peak.bytes, limit)
    if ended:
        said = job.said.read_text(errors="replace").splitlines()
        why = [line for line in said if "Error" in line or "Exception" in line] or said
        text = "; ".join(line.partition(" ")[2].strip() for line in why[-3:])
        raise CannotRun(f"{job.engine}: the process ended with {process.returncode}: {text}")
    return Trial(job, None, peak.bytes, limit)


def jars(wanted: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """The files of jars by module and version, from weft's cache or otherwise from Maven."""
    try:
        found = fetch([Jar(module, (version,)) for module, version in wanted], cache())
    except EngineError as error:
        raise CannotRun(f"jars that it takes a working mvn to get: {error}") from error
    return tuple(map(str, found))


def _listen(process: subprocess.Popen[bytes], path: Path) -> None:
    """Record a process's output; each line is preceded by its time in seconds."""
    assert process.stdout is not None
    rest = b""
    with path.open("wb") as file:
        while some := os.read(process.stdout.fileno(), 1 << 16):
            *lines, rest = (rest + some).split(b"\n")
            now = b"%.3f " % time.time()
            file.writelines(now + line + b"\n" for line in lines)
        file.write(b"%.3f " % time.time() + rest + b"\n")


def _wait(process: subprocess.Popen[bytes], job: Job, limit: float) -> bool:
    """Wait for a process; return whether it ended by itself."""
    began, most = time.monotonic(), START + limit
    while time.monotonic() < began + most:
        if most > limit and job.ready.exists():
            began, most = time.monotonic(), limit
        try:
            process.wait(0.1)
        except subprocess.TimeoutExpired:
            continue
        return True
    return False


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process and all processes that it started, which are in one session."""
    for how in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, how)
        except ProcessLookupError:
            break
        try:
            process.wait(3.0)
        except subprocess.TimeoutExpired:
            continue
    process.wait()


def _environment(alone: bool) -> dict[str, str]:
    """Variables with which another Python finds this repository, but not weft's environment."""
    environ = os.environ | {"TZ": "UTC"}
    if alone:
        paths = str(ROOT)
        for name in ("SPARK_HOME", "PYSPARK_PYTHON", "VIRTUAL_ENV"):
            environ.pop(name, None)
    else:
        paths = os.pathsep.join(filter(None, (str(ROOT), environ.get("PYTHONPATH"))))
    return environ | {"PYTHONPATH": paths}
