"""Factor windows figure 12: costs of tumbling window sets by RandomGen, three rates."""

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
        for row in studied(random_windows, rate, tumbling=True, full=full, count=5)
    ]


def claim(rows: Rows) -> Claim:
    """UP is no better than BL; with factor windows, WCG is as good as shared pairs."""
    up = gain(rows, "BL", "UP", rate=100.0)
    wcg = gain(rows, "WCG", "WCG-FW greedy", rate=100.0)
    ours = gain(rows, "SP", "WCG-FW greedy", rate=100.0)
    return Claim(
        paper="UP as BL or worse; WCG-FW well below WCG, like SP",
        ours=f"rate 100: BL {geometric_mean(up):.2f}x UP, WCG {geometric_mean(wcg):.1f}x WCG-FW, "
        f"SP {geometric_mean(ours):.2f}x WCG-FW",
        holds=geometric_mean(up) <= 1 + 1e-9
        and geometric_mean(wcg) > 1.2
        and geometric_mean(ours) > 0.5,
        ratio=geometric_mean(ours),
        comment="ratio: cost of shared pairs over ours",
    )
