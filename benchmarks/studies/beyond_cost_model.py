"""Beyond the papers: the engine's cost model against measured time, by rank."""

from __future__ import annotations

from benchmarks.support.draw import Picture
from benchmarks.support.harness import Bench, Claim, Rows, one
from benchmarks.support.loads import STRATEGIES, spearman

PICTURE = Picture("what", "correlation", kind="bars", ylabel="rank correlation")
TARGET = 0.9


def run(full: bool) -> Rows:
    """Use the results of `beyond_workloads`, which must have been run."""
    found = [row for row in Bench("beyond_workloads").rows() if row["strategy"] != "plain"]
    groups = {name: [row for row in found if row["strategy"] == name] for name in STRATEGIES}
    groups["slices"] = [row for row in found if row["chose"] not in ("factor", "coverage")]
    groups["all"] = found
    return [
        {
            "what": name,
            "plans": len(some),
            "workloads": len({row["workload"] for row in some}),
            "correlation": spearman(
                [row["predicted"] for row in some], [row["seconds"] for row in some]
            ),
        }
        for name, some in groups.items()
    ]


def claim(rows: Rows) -> Claim:
    """The rank correlation over all plans."""
    at, slices = one(rows, what="all"), one(rows, what="slices")
    by = ", ".join(f"{row['what']} {row['correlation']:.2f}" for row in rows[: len(STRATEGIES)])
    return Claim(
        paper="none (our target: 0.9)",
        ours=f"{at['correlation']:.3f} over {at['plans']} plans in {at['workloads']} workloads; "
        f"without coverage plans {slices['correlation']:.3f}",
        holds=at["correlation"] >= TARGET,
        ratio=at["correlation"] / TARGET,
        comment=f"by strategy: {by}; the model's constants were fitted on other workloads",
    )
