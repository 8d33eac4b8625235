"""FlatFIT figure 9: slides per second with one range at 100 million operations, counted."""

from __future__ import annotations

from benchmarks.support.draw import Picture
from benchmarks.support.harness import Claim, Rows, one
from benchmarks.support.operations import ONE, single

PICTURE = Picture("window", "throughput", "structure", log="xy")


def run(full: bool) -> Rows:
    """Every structure with a counting MAX, its answers checked."""
    return [
        single(name, n)
        for n in (2, 4, 8, 16, 32, 64, 128, 256, *((512, 1024) if full else ()))
        for name in ONE
    ]


def claim(rows: Rows) -> Claim:
    """The order of the structures at the longest window."""
    most = max(row["window"] for row in rows)
    at = {name: one(rows, window=most, structure=name)["throughput"] for name in ONE}
    return Claim(
        paper="constant for FlatFIT, log n for FlatFAT and B-Int, n for Naive",
        ours=f"at {most}: " + ", ".join(f"{name} {value:,.3g}" for name, value in at.items()),
        holds=at["flatfit"] > at["flatfat"] > at["naive"],
    )
