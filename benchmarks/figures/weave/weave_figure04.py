"""WeaveShare figure 4: cost of every policy over the number of queries, 50 rows/s."""

from __future__ import annotations

from benchmarks.support.draw import Picture
from benchmarks.support.harness import Claim, Rows
from benchmarks.support.policies import costs, told
from benchmarks.support.weaving import LOW

PICTURE = Picture(
    "queries", "cost", "policy", log="xy", where={"fragments": False}, ylabel="operations/s"
)


def run(full: bool) -> Rows:
    """Plan by every policy; edge rates are counted anew."""
    return costs(LOW, full)


def claim(rows: Rows) -> Claim:
    """Weave is the cheapest, No Share and Random the most expensive."""
    return told(rows, "weave cheapest, No Share and Random worst; 1,000x over the next at 1,000")
