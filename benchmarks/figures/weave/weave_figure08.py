"""WeaveShare figure 8: cost over that of Shared as the input rate grows."""

from __future__ import annotations

from benchmarks.support.draw import Picture
from benchmarks.support.harness import Claim, Rows, one, pick
from benchmarks.support.weaving import normalised

PICTURE = Picture("rate", "normalised", "queries", log="x", ylabel="cost of weave / Shared")
RATES = (50, 300, 1000, 2000, 3000, 10_000)


def run(full: bool) -> Rows:
    """Plan with weave and share_all."""
    rows: Rows = []
    for queries in (250, 500, 1000, 2000):
        for rate in RATES:
            weave, shared, ratio, trees = normalised(queries, rate, seeds=5 if full else 1)
            rows.append({"queries": queries, "rate": rate, "weave": weave, "shared": shared,
                         "normalised": ratio, "trees": trees})  # fmt: skip
    return rows


def claim(rows: Rows) -> Claim:
    """The gain falls as the rate grows; with more queries it falls at higher rates."""
    gain = {
        (q, r): 1 - one(rows, queries=q, rate=r)["normalised"]
        for q, r in ((250, 50), (250, 2000), (250, 3000), (1000, 10_000), (2000, 10_000))
    }
    falls = all(
        [row["normalised"] for row in some] == sorted(row["normalised"] for row in some)
        for some in (pick(rows, queries=q) for q in (250, 500, 1000, 2000))
    )
    return Claim(
        paper="250 queries: 80%, 24%, 6% at 50, 2,000, 3,000 rows/s; 10,000 rows/s: 12%, 24% at "
        "1,000, 2,000 queries",
        ours="; ".join(f"{q} at {r:,}: {value:.0%}" for (q, r), value in gain.items()),
        holds=falls and gain[2000, 10_000] >= gain[1000, 10_000],
        ratio=gain[250, 50] / 0.8,
    )
