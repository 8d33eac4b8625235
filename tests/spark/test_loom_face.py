"""What a loom tells its user: misspelt options, missing columns, output in notebooks."""

from __future__ import annotations

import inspect

import pytest
from pyspark.sql import SparkSession

import weft
from weft.errors import ExpressionError, PlanError
from weft.plan.optimizer import strategies
from weft.spark import loom as module

WINDOW = weft.Window(range="2 minutes", slide="1 minute")


@pytest.fixture
def loom(spark: SparkSession) -> weft.Loom:
    rows = spark.range(300).selectExpr(
        "timestamp_seconds(id) AS ts", "id % 3 AS symbol", "id AS Price"
    )
    found = weft.Loom(rows, time="ts")
    found.add(weft.Query("a<b", aggs={"s": "sum(price)"}, window=WINDOW, by=["symbol"]))
    return found


@pytest.mark.parametrize("method", ["plan", "run", "explain", "verify"])
def test_a_misspelt_option_is_answered_with_the_one_that_was_meant(loom: weft.Loom, method: str):
    with pytest.raises(
        PlanError, match=rf"{method}\(\) has no such option; did you mean 'strategy'"
    ):
        getattr(loom, method)(stratgy="weave")


def test_of_start_too_and_one_that_is_like_none(loom: weft.Loom):
    with pytest.raises(PlanError, match=r"start\(\) has no such option; did you mean 'buckets'\?"):
        loom.start("out", checkpoint="ck", bucket=4)
    with pytest.raises(
        PlanError, match=r"xyz=1: run\(\) has no such option; accepted are engine, "
    ):
        loom.run(xyz=1)
    with pytest.raises(PlanError, match="did you mean 'tolerance'"):
        weft.optimize([WINDOW], tolerence=0.1)


def test_options_are_keywords_that_editors_complete():
    for name in ("plan", "run", "explain", "verify", "start"):
        parameters = inspect.signature(getattr(weft.Loom, name)).parameters
        assert {"rate", "strategy", "engine", "keys", "cost", "search"} <= set(parameters)
        assert all(p.kind is not p.VAR_KEYWORD for p in parameters.values()), name
        assert all(p.annotation is not p.empty for p in list(parameters.values())[1:]), name
    assert set(module.Strategy.__args__) == set(strategies())


def test_options_of_the_strategy_itself(loom: weft.Loom):
    assert loom.plan(rate=1.0, strategy="random", search={"trees": 1}).strategy == "random"
    with pytest.raises(PlanError, match="tres=1: strategy random has no such option; did you mean"):
        loom.plan(rate=1.0, strategy="random", search={"tres": 1})


@pytest.mark.parametrize(
    "asked",
    [
        weft.Query("q", aggs={"n": "sum(prise)"}, window=WINDOW),
        weft.Query("q", aggs={"n": "count(*)"}, window=WINDOW, where="prise > 1"),
        weft.Query("q", aggs={"n": "count(*)"}, window=WINDOW, by="prise"),
        "SELECT sum(prise) AS n FROM t GROUP BY window(ts, '1 minute')",
    ],
)
def test_an_unknown_column_is_said_when_the_query_is_added(loom: weft.Loom, asked):
    with pytest.raises(ExpressionError, match=r"query 'q' cannot run .*prise.*\bPrice\b"):
        loom.add(asked, name="q")
    assert len(loom.queries) == 1


def test_names_that_are_no_columns_but_known_to_spark(loom: weft.Loom):
    loom.add(weft.Query("q", aggs={"n": "sum(aggregate(array(price), 0L, (acc, x) -> acc + x))"},
                        window=WINDOW))  # fmt: skip
    assert loom.run(rate=1.0)["q"].count() > 0


def test_notebooks_show_tables_and_nothing_runs(loom: weft.Loom, spark: SparkSession):
    (query,) = loom.queries
    plan, results = loom.plan(rate=1.0), loom.run(rate=1.0)
    tracker = spark.sparkContext.statusTracker()
    before = set(tracker.getJobIdsForGroup(None))
    for shown in (query, plan, results):
        text = shown._repr_html_()
        assert "a&lt;b" in text
        assert "a<b" not in text
    assert set(tracker.getJobIdsForGroup(None)) == before
    assert "sum(price)" in query._repr_html_()
    assert "2 minutes every 1 minute" in results._repr_html_()


def test_the_repr_of_a_plan_is_a_line_however_large_it_is():
    windows = [weft.Window(range=10 + n % 50, slide=1 + n % 7) for n in range(20_000)]
    plan = weft.optimize(windows, rate=5.0)
    assert repr(plan).startswith("<Plan weave: 20,000 queries at 5 rows per unit -> ")
    assert len(repr(plan)) < 200
    assert plan._repr_html_().count("<tr>") <= 21
