"""Random workloads give the same rows as Spark's own `window()` with every engine and strategy.

Each case has a seed; a failure's message has the queries, and `rows` can make the rows again.
"""

from __future__ import annotations

import random

import pytest
from agree import assert_agree, loom_of
from pyspark.sql import SparkSession
from rows import AGGREGATES, KEYS, queries, rows, window

import weft
from weft.engine.fragments import facets

STRATEGIES = (
    "weave",
    "share_all",
    "no_share",
    "random",
    "insert_then_weave",
    "local_search",
    "auto",
)


@pytest.mark.parametrize(("seed", "strategy"), list(enumerate(STRATEGIES, start=100)))
def test_operator_engine(spark: SparkSession, seed: int, strategy: str) -> None:
    loom = loom_of(rows(spark, seed, 120), queries(seed, 6))
    assert assert_agree(loom, engine="operator", strategy=strategy) > 0


@pytest.mark.parametrize("seed", [150, 151])
def test_fragments_in_facets(
    spark: SparkSession, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The costs are set so that rows are free and only the number of fragments counts."""
    monkeypatch.setattr(facets.Volume, "cost", lambda self, cells, predicates: cells)
    asked = [
        weft.Query(
            f"f{number}",
            aggs={"n": "count(*)", "a": "sum(i)", "hi": "max(s)"},
            window=weft.Window.of_units((60 + 30 * (number % 3)) * 1_000_000, 30_000_000),
            where=where,
            by="k",
        )
        for number, where in enumerate(
            [*(f"i > {c}" for c in range(-2, 4)), *(f"x < {c}" for c in range(-2, 4)), None]
        )
    ]
    loom = loom_of(rows(spark, seed, 150), [*asked, *queries(seed, 3)])
    assert "facets" in loom.explain(strategy="share_all")
    assert assert_agree(loom, strategy="share_all") > 0


@pytest.mark.parametrize("seed", [200, 201])
def test_union_of_keys(spark: SparkSession, seed: int) -> None:
    loom = loom_of(rows(spark, seed, 120), queries(seed, 5))
    assert assert_agree(loom, strategy="share_all", keys="union", rate=1.0) > 0


@pytest.mark.parametrize(
    ("seed", "strategy"), [(300, "weave"), (301, "share_all"), (302, "coverage"), (303, "factor")]
)
def test_rewrite_engine(spark: SparkSession, seed: int, strategy: str) -> None:
    loom = loom_of(rows(spark, seed, 120), queries(seed, 5))
    assert assert_agree(loom, engine="rewrite", strategy=strategy) > 0


@pytest.mark.parametrize("strategy", ["coverage", "factor"])
@pytest.mark.parametrize("aggregate", ["max(i)", "sum(i)"])
def test_windows_from_windows(spark: SparkSession, strategy: str, aggregate: str) -> None:
    """The ranges cover each other, so that some windows can be computed from others."""
    asked = [
        weft.Query(
            f"w{r}_{s}",
            aggs={"a": aggregate, "n": "max(u)"},
            window=weft.Window.of_units(r * 1_000_000, s * 1_000_000, 5_000_000),
            where="x IS NOT NULL",
            by="s",
        )
        for r, s in ((60, 60), (120, 60), (180, 60), (240, 120), (600, 300), (40, 20))
    ]
    loom = loom_of(rows(spark, 310, 150), asked)
    assert "from" in loom.explain(strategy=strategy, engine="rewrite", rate=100.0)
    assert assert_agree(loom, strategy=strategy, engine="rewrite", rate=100.0) > 0


@pytest.mark.parametrize("kind", ["timestamp_ntz", "date", "integer"])
def test_every_type_of_time(spark: SparkSession, kind: str) -> None:
    axis = "integer" if kind == "integer" else "time"
    asked = queries(400, 5, axis, day=kind == "date")
    loom = loom_of(rows(spark, 400, 120, kind), asked)
    assert assert_agree(loom, strategy="share_all", rate=1.0) > 0


@pytest.mark.parametrize("slicing", ["greatest", "lookup", "search"])
def test_every_way_to_slice(spark: SparkSession, slicing: str) -> None:
    draw = random.Random(7)
    asked = [
        weft.Query(f"q{n}", aggs={"a": "sum(i)", "n": "count(*)"}, window=window(draw), by="k")
        for n in range(6)
    ]
    loom = loom_of(rows(spark, 500, 120), asked)
    assert assert_agree(loom, strategy="share_all", slicing=slicing) > 0


def test_every_aggregate_by_every_key(spark: SparkSession) -> None:
    """Each aggregate separately over two overlapping windows, so that its partials are combined."""
    half = len(AGGREGATES) // 2
    asked = [
        weft.Query(
            f"q{at}",
            aggs={f"a{n}": sql for n, sql in enumerate(some)},
            window=weft.Window(range="3 minutes", slide="1 minute"),
            by=KEYS[at % len(KEYS)],
        )
        for at, some in enumerate([AGGREGATES[:half], AGGREGATES[half:]] * 2)
    ]
    loom = loom_of(rows(spark, 600, 200), asked)
    assert assert_agree(loom, strategy="share_all", rate=1.0) > 0
