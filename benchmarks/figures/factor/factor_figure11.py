"""Factor windows figure 11: costs of general window sets by RandomGen, three rates."""

from __future__ import annotations

from statistics import geometric_mean

from benchmarks.support.covering import gain, studied
from benchmarks.support.draw import Picture
from benchmarks.support.generators import random_windows
from benchmarks.support.harness import Claim, Rows

PICTURE = Picture("set", "cost", "way", panel="rate", log="y", ylabel="cost per unit of time")
RATES = (1.0, 10.0, 100.0)


def run(full: bool) -> Rows:
    """Ten sets of five windows (a hundred in the full form)."""
    return [
        row
        for rate in RATES
        for row in studied(random_windows, rate, tumbling=False, full=full, count=5)
    ]


def claim(rows: Rows) -> Claim:
    """Factor windows bring the cost to the level of shared pairs."""
    par = gain(rows, "SP", "WCG-FW", rate=100.0)
    ours = gain(rows, "SP", "WCG-FW greedy", rate=100.0)
    up = gain(rows, "BL", "UP", rate=100.0)
    return Claim(
        paper="UP far below BL, WCG helps little, WCG-FW like SP",
        ours=f"rate 100: BL {geometric_mean(up):.1f}x UP; SP {geometric_mean(par):.2f}x WCG-FW as "
        f"published, {geometric_mean(ours):.2f}x with our search",
        holds=geometric_mean(up) > 1.5 and 0.5 < geometric_mean(ours) < 2,
        ratio=geometric_mean(ours),
        comment="ratio: cost of shared pairs over ours",
    )
