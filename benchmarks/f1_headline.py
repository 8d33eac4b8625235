"""F1 abstract: a million queries, where Bit Set ends at 550."""

from __future__ import annotations

from time import process_time

from benchmarks.support.draw import Picture
from benchmarks.support.harness import Claim, Rows, check
from benchmarks.support.weaving import check_rates
from weft.bench.plan import HEAVY, warm_up
from weft.bench.workloads import EXPERIMENTS
from weft.plan.cost import LinearCost
from weft.plan.search.weave import search as weave

PICTURE = Picture("workload", "seconds", kind="bars", ylabel="seconds of planning")


def run(full: bool) -> Rows:
    """Experiment 1 at its end, without and with fragments, and one where nearly all merge."""
    warm_up()
    rows: Rows = []
    for name, setting in (
        ("experiment 1", EXPERIMENTS[0].settings(False)[-1]),
        ("with fragments", EXPERIMENTS[0].settings(True)[-1]),
        ("heavy merging", HEAVY),
    ):
        table = setting.table()
        cost = LinearCost(setting.rate, 0.0, table.overlap)
        check(len(table) == 1_000_000, "not a million queries")
        began = process_time()
        grouping = weave.search(table, cost)
        seconds = process_time() - began
        check_rates(table, cost, grouping, name)
        rows.append({"workload": name, "queries": len(table), "trees": len(grouping),
                     "seconds": seconds, "exact": grouping.report.exact})  # fmt: skip
    return rows


def claim(rows: Rows) -> Claim:
    """A million queries are planned, in seconds."""
    return Claim(
        paper="1,000,000 queries planned (time not given), Bit Set ends at 550",
        ours="; ".join(f"{row['workload']}: {row['seconds']:.2g} s" for row in rows),
        holds=all(row["queries"] == 1_000_000 for row in rows),
        ratio=1.0,
    )
