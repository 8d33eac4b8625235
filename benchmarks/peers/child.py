"""`python -m benchmarks.peers.child JOB`: brings an engine up, times it, and writes a report."""

from __future__ import annotations

import json
import sys
import time
from contextlib import AbstractContextManager
from importlib import import_module
from typing import Any

import pyarrow.parquet as pq

from benchmarks.peers.job import Job, long_table

WARM = 20.0
"""A batch that took no longer is timed again, warm."""


def main(path: str, began: float) -> None:
    """`began`: when the process was started, in seconds since the epoch."""
    job = Job.load(path)
    engine = import_module(f"benchmarks.peers.engines.{job.engine}")
    form: AbstractContextManager[Any] = getattr(engine, job.form)(job)
    with form as run:
        told: dict[str, Any] = {"version": engine.version(), "start_seconds": time.time() - began}
        job.ready.touch()
        first, found = _timed(run)
        told |= {"seconds": first, "first_seconds": first}
        if job.form == "batch":
            if first <= WARM:
                told["seconds"], found = _timed(run)
            pq.write_table(long_table(found), job.out)
        else:
            told |= found or {}
        # Inside: an engine may not come down cleanly, and its answers are there.
        job.report.write_text(json.dumps(told))


def _timed(run: Any) -> tuple[float, Any]:
    began = time.perf_counter()
    found = run()
    return time.perf_counter() - began, found


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
