"""Factor windows figure 15: costs of window sets by RandomGraphGen, general and tumbling."""

from __future__ import annotations

from benchmarks.support.covering import PANELS, both_kinds, compared_ways
from benchmarks.support.generators import graph_windows
from benchmarks.support.harness import Claim, Rows

PICTURE = PANELS


def run(full: bool) -> Rows:
    """Ten sets (a hundred in the full form) of each kind."""
    return both_kinds(graph_windows, full)


def claim(rows: Rows) -> Claim:
    """How the ways compare on both kinds of sets."""
    return compared_ways(
        rows,
        "BL and UP worst, WCG-FW no worse than WCG, sometimes as SP",
    )
