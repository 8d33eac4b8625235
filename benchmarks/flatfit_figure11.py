"""FlatFIT figure 11: slides per second with every range at 100 million operations, counted."""

from __future__ import annotations

from benchmarks.support.draw import Picture
from benchmarks.support.harness import Claim, Rows, one
from benchmarks.support.operations import EVERY, every

PICTURE = Picture("window", "throughput", "structure", log="xy")


def run(full: bool) -> Rows:
    """Every structure with a counting MAX, its answers checked."""
    return [
        every(name, n)
        for n in (2, 4, 8, 16, 32, 64, *((128, 256) if full else ()))
        for name in EVERY
    ]


def claim(rows: Rows) -> Claim:
    """The order of the structures at the longest window."""
    most = max(row["window"] for row in rows)
    at = {name: one(rows, window=most, structure=name)["throughput"] for name in EVERY}
    return Claim(
        paper="n - 1 for FlatFIT, n log n for the trees, n^2 for Naive",
        ours=f"at {most}: " + ", ".join(f"{name} {value:,.3g}" for name, value in at.items()),
        holds=at["flatfit"] > at["flatfat"] > at["naive"],
    )
