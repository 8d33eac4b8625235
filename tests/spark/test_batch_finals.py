"""Every final structure in a batch on Spark gives the plain query's rows, or is clearly refused."""

from __future__ import annotations

import pytest

import weft
from weft.engine.finals.registry import STRUCTURES
from weft.errors import EngineError, FinalsError

QUERIES = [
    weft.Query(
        "mixed",
        aggs={
            "n": "count(*)", "total": "sum(x)", "hi": "max(y)", "lo": "min(s)", "sd": "stddev(y)",
            "set": "count(DISTINCT x)", "by": "max_by(s, n)", "xor": "bit_xor(x)",
            "tried": "try_sum(x)",
        },
        window=weft.Window(range="50 seconds", slide="20 seconds"),
        by=["k"],
        where="x <> 7",
    ),
    weft.Query(
        "all", aggs={"n": "count(*)", "mean": "avg(y)"},
        window=weft.Window(range="90 seconds", slide="10 seconds"),
    ),
]  # fmt: skip


@pytest.fixture(scope="module")
def df(spark):
    return spark.range(400).selectExpr(
        "timestamp_seconds(1000 + (id * 37) % 300) AS ts",
        "CASE WHEN id % 7 <> 3 THEN concat('k', id % 5) END AS k",
        "CASE WHEN id % 11 <> 5 THEN CAST(id % 23 - 9 AS BIGINT) END AS x",
        "CASE WHEN id % 13 = 1 THEN double('NaN') WHEN id % 17 <> 2 THEN id / 3 - 50 END AS y",
        "concat('s', (id * 7) % 31) AS s",
        "id AS n",
    )


def loom_of(df, *queries):
    loom = weft.Loom(df, time="ts")
    for query in queries:
        loom.add(query)
    return loom


@pytest.mark.parametrize("finals", [*STRUCTURES, "blocks", "auto"])
def test_a_structure_gives_the_rows_of_the_plain_query(df, finals):
    queries = QUERIES
    if finals == "subtract":
        aggs = {"n": "count(*)", "total": "sum(x)", "xor": "bit_xor(x)"}
        first = QUERIES[0]
        queries = [weft.Query("m", aggs=aggs, window=first.window, by=first.by, where=first.where)]
    report = loom_of(df, *queries).verify(finals=finals, rate=1.0)
    assert report.ok, str(report)
    assert report.rows > 50


def test_a_lone_tumbling_query_runs_by_the_structure_too(df):
    query = weft.Query("t", aggs={"n": "count(*)"}, window=weft.Window(range="1 minute"), by=["k"])
    loom = loom_of(df, query)
    assert "finals of count(*) by daba: as asked for" in loom.explain(finals="daba", rate=1.0)
    assert loom.verify(finals="daba", rate=1.0).ok


def test_what_cannot_be_served_is_refused_by_name(df):
    loom = loom_of(df, *QUERIES)
    with pytest.raises(
        FinalsError, match=r"finals='subtract': max\(y\) of query 'mixed': subtract"
    ):
        loom.run(finals="subtract", rate=1.0)
    with pytest.raises(FinalsError, match="did you mean 'two_stacks'"):
        loom.run(finals="two_stack")
    with pytest.raises(EngineError, match="use engine='operator'"):
        loom.run(finals="daba", engine="rewrite", rate=1.0)
