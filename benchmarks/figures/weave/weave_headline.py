"""WeaveShare abstract: plans up to four orders of magnitude cheaper."""

from __future__ import annotations

from benchmarks.support.draw import Picture
from benchmarks.support.harness import Claim, Rows, check
from benchmarks.support.weaving import priced, workload

PICTURE = Picture("queries", ("no_share_over_weave", "shared_over_weave"), log="xy",
                  ylabel="cost over that of weave")  # fmt: skip


def run(full: bool) -> Rows:
    """Use a high rate, where sharing nothing is worst, and enough queries for the claim."""
    rows: Rows = []
    for queries in (100, 1_000, 10_000, 100_000, *((1_000_000,) if full else ())):
        table, cost = workload(queries, 1_000_000, overlap=2)
        weave, none = priced("weave", table, cost), priced("no_share", table, cost)
        shared = priced("share_all", table, cost)
        assert weave is not None
        assert none is not None
        assert shared is not None
        check(none.cost <= queries * weave.cost, "n queries cannot save more than n times")
        rows.append(
            {
                "queries": queries,
                "weave": weave.cost,
                "trees": weave.trees,
                "no_share_over_weave": none.cost / weave.cost,
                "shared_over_weave": shared.cost / weave.cost,
                "plan_s": weave.seconds,
            }
        )
    return rows


def claim(rows: Rows) -> Claim:
    """How many times cheaper than sharing nothing."""
    best = max(rows, key=lambda row: row["no_share_over_weave"])
    times = best["no_share_over_weave"]
    return Claim(
        paper="10,000x",
        ours=f"{times:,.0f}x at {best['queries']:,} queries, planned in {best['plan_s']:.2g} s",
        holds=times >= 10_000,
        ratio=times / 10_000,
        comment="against No Share, which n queries can beat n times at most: it takes over 10,000",
    )
