"""Factor windows figure 13: costs of window sets by ChainGen, general and tumbling."""

from __future__ import annotations

from statistics import geometric_mean

from benchmarks.support.covering import gain, studied
from benchmarks.support.draw import Picture
from benchmarks.support.harness import Claim, Rows
from weft.plan.coverage.generators import chain_windows

PICTURE = Picture("set", "cost", "way", panel="tumbling", log="y", ylabel="cost per unit of time")
RATE = 100.0


def run(full: bool) -> Rows:
    """Ten sets (a hundred in the full form) of each kind."""
    return [
        row
        for tumbling in (False, True)
        for row in studied(chain_windows, RATE, tumbling=tumbling, full=full, count=5)
    ]


def claim(rows: Rows) -> Claim:
    """How the ways compare on both kinds of sets."""
    said, best = [], []
    for tumbling in (False, True):
        against = {
            way: geometric_mean(gain(rows, way, "WCG-FW greedy", tumbling=tumbling))
            for way in ("BL", "UP", "WCG", "SP")
        }
        best.append(against)
        kind = "tumbling" if tumbling else "general"
        times = ", ".join(f"{way} {value:.2f}x" for way, value in against.items())
        said.append(f"{kind}: {times} of WCG-FW")
    return Claim(
        paper="WCG between UP and BL on general sets, WCG-FW at SP's level; on "
        "tumbling sets WCG as good as both",
        ours="; ".join(said),
        holds=all(a["BL"] > 1 and a["UP"] > 1 and a["WCG"] >= 1 and a["SP"] > 0.5 for a in best),
        ratio=min(against["SP"] for against in best),
        comment="ratio: cost of shared pairs over ours, the worse of the two kinds",
    )
