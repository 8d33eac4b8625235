"""Beyond the papers: random workloads on Spark by every strategy, time beside predicted cost."""

from __future__ import annotations

from benchmarks.support.draw import Picture
from benchmarks.support.harness import Bench, Claim, Rows, pick
from benchmarks.support.loads import STRATEGIES, measured, random_load
from benchmarks.support.sparks import time_left

PICTURE = Picture("predicted", "seconds", "strategy", kind="points", log="xy",
                  xlabel="predicted seconds of one core")  # fmt: skip
QUICK, FULL = 3, 100
WARM = 5
"""Workloads run first and discarded, because the JVM gets faster as it compiles hot code."""


def run(full: bool) -> Rows:
    """Run, and compare every answer with the plain one. An interrupted full run is resumed."""
    mine = Bench("beyond_workloads")
    rows: Rows = []
    if full and mine.file.exists():
        rows = pick(mine.rows(), form="full")
    done, left = {row["workload"] for row in rows}, time_left()
    for number in range(FULL, FULL + (WARM if full else 1)):
        measured(*random_load(number), STRATEGIES)
    for number in range(FULL if full else QUICK):
        if number not in done and left():
            rows_, keys, asked = random_load(number)
            rows += [
                {"workload": number, **row} for row in measured(rows_, keys, asked, STRATEGIES)
            ]
    return rows


def claim(rows: Rows) -> Claim:
    """How often sharing is faster than the plain queries in whichever form."""
    numbers = sorted({row["workload"] for row in rows})
    wins, gains = 0, []
    for number in numbers:
        here = pick(rows, workload=number)
        plain = pick(here, strategy="plain")[0]["seconds"]
        auto = pick(here, strategy="auto")[0]["seconds"]
        wins += auto < plain
        gains.append(plain / auto)
    return Claim(
        paper="none: the papers simulate",
        ours=f"auto beats the plain queries in {wins} of {len(numbers)} workloads, "
        f"{min(gains):.2g}x to {max(gains):.2g}x",
        holds=wins >= 0.9 * len(numbers),
        comment="2 to 12 queries, 20,000 to 500,000 rows, 1 to 1,000 keys; all answers equal"
        + ("" if len(numbers) >= FULL else f"; {len(numbers)} of {FULL} workloads measured"),
    )
