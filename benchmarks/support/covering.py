"""FactorWindows' study: the costs per unit of time of five ways to evaluate a set of windows."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from math import ceil, fsum
from statistics import geometric_mean

from benchmarks.support.draw import Picture
from benchmarks.support.harness import Claim, Rows, check, pick
from weft.plan.coverage import weave_coverage
from weft.plan.edges import edge_rate
from weft.query.window import Window

WAYS = ("BL", "UP", "SP", "WCG", "WCG-FW", "WCG-FW greedy")
"""The ways: baseline, unshared and shared pairs, the graph without factor windows, with them as
published, and with our greedy search afterwards."""
SETS = 10


def costs(windows: Sequence[Window], rate: float, *, tumbling: bool) -> dict[str, float]:
    """What each way costs per unit of time (the paper's numbers over its common period)."""
    semantics = "partitioned" if tumbling else "covered"
    plans = {
        "WCG": weave_coverage(
            windows, rate=rate, semantics=semantics, factors=False, instances="all"
        ),
        "WCG-FW": weave_coverage(
            windows, rate=rate, semantics=semantics, factors=True, instances="all", search="paper"
        ),
        "WCG-FW greedy": weave_coverage(windows, rate=rate, semantics=semantics, factors=True),
    }
    overlap = fsum(window.range / window.slide for window in windows)
    found = {
        "BL": rate * overlap,
        "UP": rate * len(windows)
        + fsum(ceil(2 * window.range / window.slide) / window.slide for window in windows),
        "SP": rate + edge_rate(windows) * overlap,
        **{name: plan.cost for name, plan in plans.items()},
    }
    check(abs(plans["WCG"].cost_without_sharing / found["BL"] - 1) < 1e-9, "BL is not the same")
    order = [found[name] for name in ("WCG-FW greedy", "WCG-FW", "WCG", "BL")]
    check(
        all(a <= b * (1 + 1e-9) for a, b in itertools.pairwise(order)),
        f"a plan with more freedom costs more: {order}",
    )
    return found


def studied(
    make: Callable[..., Sequence[Window]],
    rate: float,
    *,
    tumbling: bool,
    full: bool,
    **options: int,
) -> Rows:
    """Price every way on random sets from a generator."""
    rows: Rows = []
    for number in range(10 * SETS if full else SETS):
        windows = make(seed=number, tumbling=tumbling, **options)
        for way, cost in costs(windows, rate, tumbling=tumbling).items():
            rows.append({"rate": rate, "tumbling": tumbling, "set": number + 1,
                         "windows": len(windows), "way": way, "cost": cost})  # fmt: skip
    return rows


def gain(rows: Rows, slow: str, fast: str, **where: object) -> list[float]:
    """For each set, the ratio of one way's cost to another's."""
    mine = pick(rows, **where)
    pairs = zip(pick(mine, way=slow), pick(mine, way=fast), strict=True)
    return [a["cost"] / b["cost"] for a, b in pairs]


PANELS = Picture("set", "cost", "way", panel="tumbling", log="y", ylabel="cost per unit of time")
"""A picture of general sets next to tumbling ones."""
PANEL_RATE = 100.0


def both_kinds(make: Callable[..., Sequence[Window]], full: bool, **options: int) -> Rows:
    """Price general and tumbling sets of one generator: ten each, a hundred in the full form."""
    return [
        row
        for tumbling in (False, True)
        for row in studied(make, PANEL_RATE, tumbling=tumbling, full=full, **options)
    ]


def compared_ways(rows: Rows, paper: str) -> Claim:
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
        paper=paper,
        ours="; ".join(said),
        holds=all(a["BL"] > 1 and a["UP"] > 1 and a["WCG"] >= 1 and a["SP"] > 0.5 for a in best),
        ratio=min(against["SP"] for against in best),
        comment="ratio: cost of shared pairs over ours, the worse of the two kinds",
    )
