"""All benchmarks, one file each: `python -m benchmarks list`.

`figures/` has the figures, tables and claims of the five papers, `peers/` runs other engines on the
same work, `studies/` has what no paper measures, and `support/` the code that benchmarks share. A
benchmark is in the file of its name.
"""

from __future__ import annotations

FOLDERS = {
    "figures.sigmod06": (
        "sigmod06_table2",
        "sigmod06_table3",
        "sigmod06_figure04",
        "sigmod06_figure10",
        "sigmod06_counts",
        "sigmod06_figure13",
        "sigmod06_figure14",
        "sigmod06_figure15",
        "sigmod06_figure16",
    ),
    "figures.weave": (
        "weave_figure04",
        "weave_figure05",
        "weave_figure06",
        "weave_figure07",
        "weave_figure08",
        "weave_figure09",
        "weave_figure10",
        "weave_figure11",
        "weave_figure14",
        "weave_exhaustive",
        "weave_headline",
    ),
    "figures.f1": (
        "f1_figure03",
        "f1_figure06",
        "f1_figure07",
        "f1_figure08",
        "f1_figure09",
        "f1_figure10",
        "f1_figure11",
        "f1_table2",
        "f1_headline",
    ),
    "figures.flatfit": (
        "flatfit_table1",
        "flatfit_figure08",
        "flatfit_figure09",
        "flatfit_figure10",
        "flatfit_figure11",
        "flatfit_figure12",
        "flatfit_figure13",
        "flatfit_figure14",
        "flatfit_figure15",
        "flatfit_figure16",
    ),
    "figures.factor": (
        "factor_example",
        "factor_figure11",
        "factor_figure12",
        "factor_figure13",
        "factor_figure14",
        "factor_figure15",
        "factor_spark",
    ),
    "studies": (
        "team",
        "beyond_workloads",
        "beyond_cost_model",
        "beyond_auto",
        "beyond_sharing_loses",
        "beyond_growth_queries",
        "beyond_growth_rows",
        "beyond_growth_keys",
        "plan",
        "finals",
        "share",
        "steady",
        "churn",
        "sessions",
        "stream",
        "overheads",
        "training",
        "asof",
        "backfill",
        "scale",
    ),
    "peers": ("peers_batch", "peers_stream", "peers_latency"),
}
"""The benchmarks of each folder, in the order in which they run and are shown."""
BENCHES = {
    name: f"benchmarks.{folder}.{name}" for folder, names in FOLDERS.items() for name in names
}
"""Each benchmark's module."""
