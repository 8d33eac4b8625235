"""WeaveShare figure 5: cost of every policy over the number of queries, 300 rows/s."""

from __future__ import annotations

from benchmarks.support.draw import Picture
from benchmarks.support.harness import Claim, Rows
from benchmarks.support.policies import costs, told
from benchmarks.support.weaving import MEDIUM

PICTURE = Picture(
    "queries", "cost", "policy", log="xy", where={"fragments": False}, ylabel="operations/s"
)


def run(full: bool) -> Rows:
    """Plan by every policy; edge rates are counted anew."""
    return costs(MEDIUM, full)


def claim(rows: Rows) -> Claim:
    """Weave is the cheapest, No Share and Random the most expensive."""
    return told(rows, "weave cheapest, No Share and Random worst; 10,000x over Shared at 1,000")
