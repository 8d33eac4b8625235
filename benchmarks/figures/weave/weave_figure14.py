"""WeaveShare figure 14: what its three optimisations save, 250 queries at 100 rows/s."""

from __future__ import annotations

import itertools

from benchmarks.support.draw import Picture
from benchmarks.support.harness import Claim, Rows
from benchmarks.support.planning import figure_14

PICTURE = Picture("variant", "comparisons", kind="bars", log="y")


def run(full: bool) -> Rows:
    """Add the paper's optimisations to its algorithm one by one; the plan must not change."""
    return list(figure_14(full))


def claim(rows: Rows) -> Claim:
    """Each optimisation saves about an order of magnitude."""
    counts = [row["comparisons"] for row in rows]
    saved = [a / b for a, b in itertools.pairwise(counts)]
    return Claim(
        paper="about 10x each, 1,000x in all (250 queries)",
        ours=" x ".join(f"{times:.3g}" for times in saved)
        + f" = {rows[-1]['fewer']:,.0f}x ({rows[0]['queries']} queries)",
        holds=all(times > 1 for times in saved),
        ratio=rows[-1]["fewer"] / 1000,
        comment="comparisons counted; the paper does not say which slides it had (ours: to 16)",
    )
