"""Planning a million queries; each workload runs in a separate process to measure its memory."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from time import process_time

from benchmarks.support.harness import ROOT, Row
from benchmarks.support.weaving import check_rates
from benchmarks.support.workloads import EXPERIMENTS, Setting
from weft.plan.cost import LinearCost
from weft.plan.search.weave import search as weave

WORKLOADS = {
    "experiment 1": EXPERIMENTS[0].settings(False)[-1],
    "with fragments": EXPERIMENTS[0].settings(True)[-1],
    "heavy merging": Setting(1_000_000, max_slide=5_000, rate=10_000, skew=0.5, max_overlap=10),
}
"""The workloads; the last has 5,000 distinct edge sets, nearly all of which merge."""


def measured() -> Iterator[Row]:
    """A row for each workload; edge rates are recounted."""
    for name, setting in WORKLOADS.items():
        command = [sys.executable, "-m", "benchmarks.support.million", json.dumps(asdict(setting))]
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
        yield {"workload": name, **json.loads(done.stdout)}


def planned(setting: Setting) -> Row:
    """Plan a workload; return its processor seconds, warm, and the peak memory of the process."""
    table = setting.table()
    cost = LinearCost(setting.rate, 0.0, table.overlap)
    weave.search(table, cost)
    began = process_time()
    grouping = weave.search(table, cost)
    seconds = process_time() - began
    peak = _peak()
    check_rates(table, cost, grouping, "a million queries")
    return {"queries": len(table), "trees": len(grouping), "seconds": seconds,
            "exact": grouping.report.exact, "peak_gib": peak}  # fmt: skip


def _peak() -> float | None:
    """Peak memory in GiB, if known; getrusage would include the parent's memory."""
    status = Path("/proc/self/status")
    if not status.exists():
        return None
    words = status.read_text().split()
    return int(words[words.index("VmHWM:") + 1]) / 2**20


if __name__ == "__main__":
    print(json.dumps(planned(Setting(**json.loads(sys.argv[1])))))
