"""The plain query, for windows that Spark's `window()` supports and for those that it refuses."""

from __future__ import annotations

import datetime as dt

import pytest
from agree import INTERPRETED, settings
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import weft
from weft.plan.time_axis import TimeAxis
from weft.spark.verify.native import native


@pytest.fixture(autouse=True)
def interpreted(spark: SparkSession):
    with settings(spark, INTERPRETED):
        yield


def at(second: float) -> dt.datetime:
    return dt.datetime(1970, 1, 1) + dt.timedelta(seconds=second)


def test_is_what_one_would_write_by_hand(spark: SparkSession) -> None:
    df = spark.createDataFrame(
        [(at(n), n % 3, n) for n in range(-5, 30)], "ts timestamp, k int, v int"
    )
    query = weft.Query(
        "q",
        aggs={"total": "sum(v)"},
        window=weft.Window(range="12 seconds", slide="5 seconds", offset="2 seconds"),
        where="v <> 7",
        by="k",
        having="count(*) > 1",
    )
    by_hand = (
        df.where("v <> 7")
        .groupBy(F.window("ts", "12 seconds", "5 seconds", "2 seconds"), "k")
        .agg(F.sum("v").alias("total"), F.count("*").alias("n"))
        .where("n > 1")
        .drop("n")
    )
    found = native(df, TimeAxis("ts"), query)
    assert found.schema == by_hand.schema
    assert sorted(found.collect()) == sorted(by_hand.collect())


def test_gaps_between_windows(spark: SparkSession) -> None:
    """With range 2 and slide 5, seconds 0 and 1 of every five are in a window, others in none."""
    df = spark.createDataFrame([(at(n), n) for n in range(-5, 10)], "ts timestamp, v int")
    query = weft.Query(
        "q",
        aggs={"vs": "collect_list(v)"},
        window=weft.Window(range="2 seconds", slide="5 seconds"),
    )
    found = {row["window"]["start"]: sorted(row["vs"]) for row in
             native(df, TimeAxis("ts"), query).collect()}  # fmt: skip
    assert found == {at(-5): [-5, -4], at(0): [0, 1], at(5): [5, 6]}


def test_windows_of_integers(spark: SparkSession) -> None:
    df = spark.createDataFrame([(n,) for n in (-3, 0, 1, 4, 5)], "n int")
    query = weft.Query("q", aggs={"c": "count(*)"}, window=weft.Window(range=4, slide=2))
    found = {
        (row["window"]["start"], row["window"]["end"]): row["c"]
        for row in native(df, TimeAxis("n", "integer"), query).collect()
    }
    assert found == {(-6, -2): 1, (-4, 0): 1, (-2, 2): 2, (0, 4): 2, (2, 6): 2, (4, 8): 2}
