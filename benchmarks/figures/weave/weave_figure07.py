"""WeaveShare figure 7: number of trees as queries grow, three input rates."""

from __future__ import annotations

from benchmarks.support.draw import Picture
from benchmarks.support.harness import Claim, Rows, check, one
from benchmarks.support.weaving import HIGH, LOW, MEDIUM, priced, workload

PICTURE = Picture("queries", "trees", "rate", log="xy")
COUNTS = (50, 100, 250, 500, 1000)


def run(full: bool) -> Rows:
    """The trees of weave, and the most trees that No Share could have."""
    rows: Rows = []
    for rate in (LOW, MEDIUM, HIGH):
        for queries in (*COUNTS, 2000, 5000) if full else COUNTS:
            table, cost = workload(queries, rate)
            plan = priced("weave", table, cost)
            assert plan is not None
            check(1 <= plan.trees <= queries, f"{plan.trees} trees of {queries} queries")
            rows.append({"rate": rate, "queries": queries, "trees": plan.trees})
    return rows


def claim(rows: Rows) -> Claim:
    """Trees increase with queries and decrease with the rate; even the highest has several."""
    trees = {
        rate: [one(rows, rate=rate, queries=n)["trees"] for n in COUNTS]
        for rate in (LOW, MEDIUM, HIGH)
    }
    few_to_many = all(some[0] <= some[-1] for some in trees.values())
    falls = all(a >= b >= c for a, b, c in zip(*trees.values(), strict=True))
    return Claim(
        paper="more with queries, fewer with rate; over 1 at 10,000 rows/s from 100 queries on",
        ours=f"1,000 queries: {trees[LOW][-1]}, {trees[MEDIUM][-1]}, {trees[HIGH][-1]} trees at "
        f"50, 300, 10,000 rows/s",
        holds=few_to_many and falls and trees[HIGH][-1] > 1,
    )
