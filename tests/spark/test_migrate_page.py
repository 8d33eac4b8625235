"""docs/migrate.md: its blocks run in order, and their answers equal plain Spark's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from pages import run_blocks
from weft.demo.trades import market
from weft.query.sql import parse_query

PLACES = ("in/", "out/", "ck/", "plain_out/", "plain_ck/")


def rows(df: DataFrame) -> list[tuple[Any, ...]]:
    names = sorted(df.columns)
    return sorted(tuple(row[name] for name in names) for row in df.collect())


@pytest.mark.slow
def test_every_block_gives_what_plain_spark_gives(spark: SparkSession, tmp_path: Path) -> None:
    trades = spark.createDataFrame(market(2_000, symbols=5).trades)
    places = {name: tmp_path / name.strip("/") for name in PLACES}
    trades.coalesce(1).write.parquet(str(places["in/"]))
    names = run_blocks("docs/migrate.md", {"spark": spark, "trades": trades}, places)

    for ours, plain in (
        ("big", "plain_big"),
        ("high", "plain_high"),
        ("from_flink", "plain_flink"),
        ("from_azure", "plain_azure"),
        ("from_azure_aligned", "plain_aligned"),
    ):
        assert names[ours].columns == names[plain].columns
        assert rows(names[ours]) == rows(names[plain]), ours
        assert rows(names[ours])

    # And back: the queries in Spark SQL again, and in Flink's.
    for name, frame in names["back"].items():
        assert rows(frame) == rows(names[f"plain_{name}"])
    again = parse_query(names["as_flink"], name="from_flink")
    assert (again.window, again.where, again.aggs) == (
        parse_query(names["flink"], name="from_flink").window,
        "volume > 100",
        {"shares": "sum(volume)"},
    )

    # The stream of weft and the stream of Spark answered the same windows.
    answered = spark.read.parquet(str(places["plain_out/"]))
    assert rows(names["busy"].select(answered.columns)) == rows(answered)
    assert len(rows(answered)) > 10
