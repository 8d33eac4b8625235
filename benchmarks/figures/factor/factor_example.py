"""Factor windows examples 6 and 7: 480 to 150, and 360 to 246 to 150 with a factor window."""

from __future__ import annotations

from benchmarks.support.draw import Picture
from benchmarks.support.harness import Claim, Rows, check, one
from weft.plan.coverage import weave_coverage
from weft.query.window import Window

PICTURE = Picture("example", ("unshared", "graph", "factor"), kind="bars", ylabel="cost in 120")
RANGES = {"10, 20, 30, 40": (10, 20, 30, 40), "20, 30, 40": (20, 30, 40)}


def run(full: bool) -> Rows:
    """The paper's tumbling windows, with costs in its own units."""
    rows: Rows = []
    for name, ranges in RANGES.items():
        windows = [Window(range=length) for length in ranges]
        plans = [
            weave_coverage(windows, rate=1.0, semantics="partitioned", factors=factors)
            for factors in (False, True)
        ]
        found = [plan.per_period() for plan in plans]
        check({int(cost.period) for cost in found} == {120}, "the period is not 120")
        rows.append({"example": name, "unshared": int(found[0].unshared),
                     "graph": int(found[0].total), "factor": int(found[1].total)})  # fmt: skip
    return rows


def claim(rows: Rows) -> Claim:
    """Our costs are exactly the paper's."""
    first, second = (one(rows, example=name) for name in RANGES)
    less = [1 - row["factor"] / row["unshared"] for row in (first, second)]
    right = (first["unshared"], first["graph"]) == (480, 150)
    right &= (second["unshared"], second["graph"], second["factor"]) == (360, 246, 150)
    return Claim(
        paper="480 to 150 (said to be 62.5% less); 360 to 246 to 150",
        ours=f"{first['unshared']} to {first['graph']}: {less[0]:.2%} less; "
        f"{second['unshared']} to {second['graph']} to {second['factor']}: {less[1]:.1%} less",
        holds=right,
        ratio=less[0] / 0.625,
        comment="the paper's costs to the last digit; its percentage is not that of its costs",
    )
