"""Checks in one Spark job that a loom's answers are those of the plain queries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from pyspark.sql import DataFrame, SparkSession

import weft
from weft.spark.loom import Loom
from weft.spark.verify.compare import Pair, compare
from weft.spark.verify.verify import scaled

# Tests run hundreds of small plans over a few rows, which take longer to compile than to run.
INTERPRETED = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    # Spark's cache of common subexpressions costs more than computing them again.
    "spark.sql.subexpressionElimination.enabled": "false",
    "spark.sql.adaptive.enabled": "false",
}


@contextmanager
def settings(spark: SparkSession, values: dict[str, str]) -> Iterator[None]:
    """Change Spark settings within the block."""
    before = {name: spark.conf.get(name, None) for name in values}
    for name, value in values.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, old in before.items():
            if old is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, old)


def loom_of(df: DataFrame, queries: Iterable[weft.Query]) -> Loom:
    """A loom with these queries, on the time column `ts`."""
    loom = Loom(df, "ts")
    for query in queries:
        loom.add(query)
    return loom


def assert_agree(loom: Loom, **options: Any) -> int:
    """Run the loom and compare every query with the plain one; return the rows compared."""
    with settings(loom.df.sparkSession, INTERPRETED), loom.run(**options) as results:
        pairs = []
        for query in loom.queries:
            expected, scales = scaled(loom.df, loom.axis, query)
            keys = ["window", *(key.name for key in query.keys)]
            pairs.append(Pair(query.name, keys, expected, results[query.name], scales))
        differences = compare(pairs)
    wrong = [
        f"{difference}\n{query!r}"
        for query, difference in zip(loom.queries, differences, strict=True)
        if not difference.ok
    ]
    assert not wrong, "\n".join(wrong)
    return sum(difference.rows for difference in differences)
