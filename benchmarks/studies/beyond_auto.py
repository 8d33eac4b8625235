"""Beyond the papers: how often auto is within a tenth of the fastest strategy."""

from __future__ import annotations

from benchmarks.support.draw import Picture
from benchmarks.support.harness import Bench, Claim, Rows, check
from benchmarks.support.loads import STRATEGIES

PICTURE = Picture("workload", "over_best", kind="points", ylabel="time of auto over the best")
WITHIN, WANTED, NOISE = 0.1, 0.9, 0.1
"""NOISE: seconds below which two times are the same on a machine that others use, too."""


def run(full: bool) -> Rows:
    """Use the results of `beyond_workloads`, which must have been run."""
    found = Bench("beyond_workloads").rows()
    rows: Rows = []
    for number in sorted({row["workload"] for row in found}):
        times = {
            row["strategy"]: row["seconds"]
            for row in found
            if row["workload"] == number and row["strategy"] in STRATEGIES
        }
        check(set(times) == set(STRATEGIES), f"workload {number} lacks a strategy")
        fastest = min(times, key=lambda name: times[name])
        rows.append(
            {
                "workload": number,
                "fastest": fastest,
                "best": times[fastest],
                "auto": times["auto"],
                "over_best": times["auto"] / times[fastest],
                "within": times["auto"] <= (1 + WITHIN) * times[fastest],
                "within_noise": times["auto"] <= (1 + WITHIN) * times[fastest] + NOISE,
            }
        )
    return rows


def claim(rows: Rows) -> Claim:
    """The share of workloads in which auto is within a tenth of the fastest."""
    within = sum(row["within"] for row in rows) / len(rows)
    noise = sum(row["within_noise"] for row in rows) / len(rows)
    worst = max(rows, key=lambda row: row["over_best"])
    return Claim(
        paper="none (our target: 90% of workloads)",
        ours=f"{within:.0%} of {len(rows)} workloads; {noise:.0%} where {NOISE:g} s may be noise",
        holds=within >= WANTED,
        ratio=within / WANTED,
        comment=f"at worst {worst['over_best']:.2f}x of {worst['fastest']} ({worst['auto']:.2f} s "
        f"to {worst['best']:.2f} s)",
    )
