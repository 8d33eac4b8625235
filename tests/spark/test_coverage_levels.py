"""Windows from windows on Spark: deep forests, irregular links, and how often each is computed."""

from __future__ import annotations

import pytest
from agree import assert_agree
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import weft
from benchmarks.support.generators import (
    chain_windows,
    graph_windows,
    random_windows,
    star_windows,
)
from weft.spark.loom import Loom

MAKERS = {
    "random": random_windows,
    "chain": chain_windows,
    "star": star_windows,
    "graph": graph_windows,
}


def loom_over(spark: SparkSession, windows: tuple[weft.Window, ...], tumbling: bool) -> Loom:
    """Rows around zero with a key that may be null, on an integer axis."""
    df = spark.range(-400, 1400, 1, 2).select(
        F.when(F.col("id") % 7 != 0, F.col("id")).alias("t"),
        F.when(F.col("id") % 5 != 0, F.col("id") % 3).alias("k"),
        F.when(F.col("id") % 11 != 0, F.hash("id") % 1000).alias("v"),
    )
    loom = Loom(df, "t")
    aggs = {"lo": "min(v)", "hi": "max(v)"}
    if tumbling:
        aggs |= {"total": "sum(v)", "mean": "avg(v)", "n": "count(*)", "some": "count(v)"}
    for number, window in enumerate(windows):
        loom.add(weft.Query(f"q{number}", aggs=aggs, window=window, by=["k"]))
    return loom


@pytest.mark.parametrize("tumbling", [False, True], ids=["general", "tumbling"])
@pytest.mark.parametrize("maker", MAKERS)
def test_every_generators_forest_gives_the_answers(
    spark: SparkSession, maker: str, tumbling: bool
) -> None:
    options = {"slide_max": 60} if maker == "graph" else {"count": 6, "slide_max": 60}
    if maker == "chain" and tumbling:
        options = {"count": 4, "slide_max": 60}
    windows = MAKERS[maker](seed=3, tumbling=tumbling, **options)
    loom = loom_over(spark, windows, tumbling)
    plan = loom.plan(strategy="factor", rate=10.0, cost="paper", engine="rewrite")
    assert plan.coverages
    assert assert_agree(loom, plan=plan, engine="rewrite") > 0


def test_a_long_link_sends_a_piece_only_to_the_windows_that_take_it(spark: SparkSession) -> None:
    windows = (weft.Window(range=2), weft.Window(range=2000), weft.Window(range=6, slide=4))
    loom = loom_over(spark, windows, tumbling=True)
    plan = loom.plan(strategy="coverage", rate=10.0, cost="paper", engine="rewrite")
    (coverage,) = (tree.coverage for tree in plan.trees)
    assert coverage is not None
    assert [len(nodes) for nodes in coverage.by_depth()] == [1, 2]
    assert assert_agree(loom, plan=plan, engine="rewrite") > 0


def test_what_two_windows_are_made_from_is_computed_once(spark: SparkSession) -> None:
    loom = loom_over(spark, tuple(weft.Window(range=r) for r in (5, 10, 15, 20, 60)), tumbling=True)
    plan = loom.plan(strategy="coverage", rate=10.0, cost="paper", engine="rewrite")
    with loom.run(plan=plan, engine="rewrite", persist=False) as results:
        frame = results.all()
    executed = frame._jdf.queryExecution().executedPlan().toString()
    initial = executed.split("== Initial Plan ==")[-1]
    assert initial.count("Range (") == 1
    assert initial.count("Exchange hashpartitioning") == 2
