"""Random workloads: the same rows as Spark's own `window()`, whatever the engine and strategy."""

from __future__ import annotations

import itertools

import pytest
from agree import assert_agree
from pyspark.sql import SparkSession
from rows import AGGREGATES, KINDS, queries, rows

import weft
from weft.spark.loom import Loom

STRATEGIES = (
    "auto",
    "weave",
    "share_all",
    "no_share",
    "random",
    "insert_then_weave",
    "local_search",
)


def loom_of(df, asked) -> Loom:
    loom = Loom(df, "ts")
    for query in asked:
        loom.add(query)
    return loom


@pytest.mark.parametrize(
    ("seed", "strategy"), list(zip(range(100, 107), STRATEGIES, strict=True))
)
def test_operator_engine_answers_as_spark(
    spark: SparkSession, seed: int, strategy: str
) -> None:
    loom = loom_of(rows(spark, seed, 150), queries(seed, 9))
    assert assert_agree(loom, engine="operator", strategy=strategy) > 0
