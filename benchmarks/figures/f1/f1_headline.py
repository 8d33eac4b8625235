"""F1 abstract: a million queries, where Bit Set ends at 550."""

from __future__ import annotations

from benchmarks.support.draw import Picture
from benchmarks.support.harness import Claim, Rows
from benchmarks.support.million import measured

PICTURE = Picture("workload", "seconds", kind="bars", ylabel="seconds of planning")


def run(full: bool) -> Rows:
    """Experiment 1 with the most queries, without and with fragments; and one with many merges."""
    return list(measured())


def claim(rows: Rows) -> Claim:
    """A million queries are planned within seconds."""
    return Claim(
        paper="1,000,000 queries planned (time not given), Bit Set ends at 550",
        ours="; ".join(f"{row['workload']}: {row['seconds']:.2g} s" for row in rows),
        holds=all(row["queries"] == 1_000_000 for row in rows),
        ratio=1.0,
    )
