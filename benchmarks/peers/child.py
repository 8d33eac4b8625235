"""`python -m benchmarks.peers.child JOB`: starts an engine, times it, and writes a report."""

from __future__ import annotations

import json
import sys
import time
from contextlib import AbstractContextManager
from importlib import import_module
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.peers.job import Job, long_table

WARM = 60.0
"""Seconds: a batch that took no longer is timed again, warm."""


def main(path: str, began: float) -> None:
    """`began`: when the process was started, in seconds since the epoch."""
    job = Job.load(path)
    engine = import_module(f"benchmarks.peers.engines.{job.engine}")
    form: AbstractContextManager[Any] = getattr(engine, job.form)(job)
    with form as run:
        told: dict[str, Any] = {"version": engine.version(), "start_seconds": time.time() - began}
        job.ready.touch()
        first, found = _timed(run)
        told |= {"seconds": first, "first_seconds": first, "warm": False}
        if job.form != "batch":
            told |= found or {}
        else:
            _keep(job, found)
        # Inside the context: an engine may fail to shut down, or take too long for it.
        _report(job, told)
        if job.form == "batch" and first <= WARM:
            told["seconds"], found = _timed(run)
            _keep(job, found)
            _report(job, told | {"warm": True})


def _keep(job: Job, found: list[pa.Table]) -> None:
    whole = job.out.with_suffix(".new")
    pq.write_table(long_table(found), whole)
    whole.rename(job.out)


def _report(job: Job, told: dict[str, Any]) -> None:
    whole = job.report.with_suffix(".new")
    whole.write_text(json.dumps(told))
    whole.rename(job.report)


def _timed(run: Any) -> tuple[float, Any]:
    began = time.perf_counter()
    found = run()
    return time.perf_counter() - began, found


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
