"""Every block of Python in the README and the tutorial runs, in order, with the stated effect."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import weft
from pages import run_blocks
from weft.demo.trades import market


@pytest.mark.slow
def test_the_readme(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    df = spark.createDataFrame(market(2_000, symbols=20).trades)
    folders = {name: tmp_path / name.strip("/") for name in ("in/", "out/", "ck/")}
    df.coalesce(1).write.parquet(str(folders["in/"]))
    names = run_blocks("README.md", {"df": df, "spark": spark}, folders)
    shown = capsys.readouterr().out
    assert "equal: 3 of 3 queries" in shown
    assert list(names["results"]) == ["big_trades", "hourly_high", "hourly_hi"]
    assert [query.name for query in names["running"].queries] == ["hourly_high", "hourly_hi"]
    assert not names["running"].is_active


@pytest.mark.slow
def test_the_tutorial(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = run_blocks("docs/tutorial.md", {})
    assert names["report"].ok
    assert len(names["report"].differences) == 3
    assert (tmp_path / "plan.png").stat().st_size > 10_000
    # The added query has all windows after the half hour that the watermark has closed.
    trades = names["trades"]
    half, last = trades.agg(F.expr(names["half"]), F.max("ts")).first()
    plain = trades.groupBy(F.window("ts", "5 minutes"), "symbol").agg(
        F.count("*").alias("n"), F.sum("volume").alias("volume")
    )
    closed = plain.where(
        (F.col("window.start") >= half) & (F.col("window.end") <= last - timedelta(seconds=30))
    )
    found = names["busy"].select("window", "symbol", "n", "volume").collect()
    assert sorted(map(tuple, found)) == sorted(map(tuple, closed.collect()))
    assert len({row["window"].start for row in found}) == 5
    average = weft.read_results(spark, str(tmp_path / "tutorial" / "out"), "average")
    assert average.count() > 300


def test_the_page_on_training_sets(spark: SparkSession) -> None:
    names = run_blocks("docs/training-sets.md", {"spark": spark})
    columns = ["at", "user", "bought_again", "day_spent", "day_orders", "week_spent", "week_orders"]
    assert names["training"].columns == names["served"].columns == columns
    found = {row["user"]: row["week_orders"] for row in names["training"].collect()}
    assert found["u0"] > 0
    assert found["u3"] == 0
