"""WeaveShare figure 10: cost over that of Shared as slides get skewed to long ones."""

from __future__ import annotations

from benchmarks.support.draw import Picture
from benchmarks.support.harness import Claim, Rows, pick
from benchmarks.support.weaving import normalised

PICTURE = Picture("skew", "normalised", "queries", ylabel="cost of weave / Shared")
SKEWS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
COUNTS = (250, 500, 1000, 2000)


def run(full: bool) -> Rows:
    """Plan with weave and share_all, at 100 rows/s and overlap factors up to 10."""
    rows: Rows = []
    for queries in COUNTS:
        for skew in SKEWS:
            weave, shared, ratio, trees = normalised(
                queries, 100, skew=skew, overlap=10, seeds=3 if full else 1
            )
            rows.append({"queries": queries, "skew": skew, "weave": weave, "shared": shared,
                         "normalised": ratio, "trees": trees})  # fmt: skip
    return rows


def claim(rows: Rows) -> Claim:
    """The gain rises to a maximum and then vanishes; with more queries, the maximum is larger."""
    gains = {n: [1 - row["normalised"] for row in pick(rows, queries=n)] for n in COUNTS}
    best = {n: max(some) for n, some in gains.items()}
    bends = all(some[-1] < 0.05 and max(some) > some[-1] for some in gains.values())
    return Claim(
        paper="gain rises to a maximum, then falls to none; the maximum grows with queries",
        ours=", ".join(f"{n}: {gain:.0%}" for n, gain in best.items())
        + f" at most; {max(some[-1] for some in gains.values()):.0%} at skew {SKEWS[-1]:g}",
        holds=bends and best[2000] >= best[250],
    )
