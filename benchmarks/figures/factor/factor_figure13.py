"""Factor windows figure 13: costs of window sets by ChainGen, general and tumbling."""

from __future__ import annotations

from benchmarks.support.covering import PANELS, both_kinds, compared_ways
from benchmarks.support.generators import chain_windows
from benchmarks.support.harness import Claim, Rows

PICTURE = PANELS


def run(full: bool) -> Rows:
    """Ten sets (a hundred in the full form) of each kind."""
    return both_kinds(chain_windows, full, count=5)


def claim(rows: Rows) -> Claim:
    """How the ways compare on both kinds of sets."""
    return compared_ways(
        rows,
        "WCG between UP and BL on general sets, WCG-FW at SP's level; on "
        "tumbling sets WCG as good as both",
    )
