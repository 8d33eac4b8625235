"""WeaveShare footnote 1: weave against the best of all plans."""

from __future__ import annotations

from benchmarks.support.draw import Picture
from benchmarks.support.harness import Claim, Rows, check
from benchmarks.support.weaving import priced, workload
from weft.plan.search import SEARCHES

PICTURE = Picture(
    "queries",
    ("weave_over_best", "polished_over_best", "shared_over_best"),
    kind="points",
    ylabel="cost over the cheapest",
)
POINTS = ((200, 5), (300, 10), (400, 15))
"""Rows per second and queries, as in the footnote; with our slides one tree is best in all."""
HARDER = ((1, 5), (1, 10), (3, 10), (3, 15), (10, 15))
"""Rates at which several trees are best."""


def run(full: bool) -> Rows:
    """Price every partition of the queries; none may be cheaper than the exhaustive search's."""
    rows: Rows = []
    for rate, queries in (*POINTS, *HARDER):
        for fragments in (False, True):
            for seed in range(20 if full else 3):
                table, cost = workload(queries, rate, seed=seed, fragments=fragments)
                best = priced("exhaustive", table, cost)
                weave, shared = priced("weave", table, cost), priced("share_all", table, cost)
                polished = priced("local_search", table, cost, start=SEARCHES["weave"](table, cost))
                assert best is not None
                assert weave is not None
                assert shared is not None
                assert polished is not None
                check(weave.cost >= best.cost * (1 - 1e-9), "weave is cheaper than the cheapest")
                rows.append(
                    {
                        "rate": rate,
                        "queries": queries,
                        "fragments": fragments,
                        "seed": seed,
                        "trees": best.trees,
                        "weave_over_best": weave.cost / best.cost,
                        "polished_over_best": polished.cost / best.cost,
                        "shared_over_best": shared.cost / best.cost,
                    }
                )
    return rows


def claim(rows: Rows) -> Claim:
    """Weave finds the optimal plan in the footnote's settings, and comes close in harder ones."""
    own = [row for row in rows if (row["rate"], row["queries"]) in POINTS]
    harder = [row for row in rows if row not in own]

    def optimal(some: Rows, column: str = "weave_over_best") -> str:
        return f"{sum(row[column] < 1 + 1e-9 for row in some)} of {len(some)}"

    worst = {
        column: max(row[column] for row in harder) - 1
        for column in ("weave_over_best", "polished_over_best", "shared_over_best")
    }
    return Claim(
        paper="optimal in its settings but once, then 3% above (Shared: 32%)",
        ours=f"optimal in {optimal(own)}; where several trees are best in {optimal(harder)}, at "
        f"most {worst['weave_over_best']:.1%} above (Shared {worst['shared_over_best']:.0%}); "
        f"polished by local search, as auto does, in {optimal(harder, 'polished_over_best')}, at "
        f"most {worst['polished_over_best']:.1%}",
        holds=all(row["weave_over_best"] < 1.03 for row in own)
        and worst["weave_over_best"] < worst["shared_over_best"]
        and worst["polished_over_best"] < 0.1,
        comment="our target of 10% where several trees are best, which the paper does not look at, "
        "is that of the polished plans, which weft runs"
        + ("" if worst["weave_over_best"] < 0.1 else "; weave alone misses it"),
    )
