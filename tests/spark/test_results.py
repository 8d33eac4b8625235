"""Results: typed frames, the long table, changed rows, the wide form, and one shared job."""

from __future__ import annotations

import datetime as dt
import shutil
from pathlib import Path

import pytest
from agree import INTERPRETED, loom_of, settings
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from rows import rows

import weft
from weft.errors import EngineError
from weft.spark.verify.native import native

SLIDING = weft.Window(range="3 minutes", slide="1 minute")


@pytest.fixture(autouse=True)
def interpreted(spark: SparkSession):
    with settings(spark, INTERPRETED):
        yield


def at(minute: float) -> dt.datetime:
    return dt.datetime(1970, 1, 1) + dt.timedelta(minutes=minute)


def test_schemas_are_the_plain_queries(spark: SparkSession) -> None:
    asked = [
        weft.Query(
            "q", aggs={"n": "count(*)", "m": "avg(d)", "t": "sum(d)"}, window=SLIDING, by="s"
        ),
        weft.Query("r", aggs={"l": "collect_list(i)"}, window=SLIDING, by=["s AS label", "k"]),
    ]
    loom = loom_of(rows(spark, 1, 40), asked)
    with loom.run(strategy="share_all", rate=1.0) as results:
        assert list(results) == ["q", "r"]
        for query in asked:
            expected = native(loom.df, loom.axis, query).schema
            found = results[query.name].schema
            assert [(f.name, f.dataType.simpleString()) for f in found] == [
                (f.name, f.dataType.simpleString()) for f in expected
            ]
        with pytest.raises(KeyError, match="no query 'z'; there are 'q', 'r'"):
            results["z"]


def test_the_long_table_has_every_row_with_its_type(spark: SparkSession) -> None:
    asked = [
        weft.Query("one", aggs={"v": "sum(i)"}, window=SLIDING, by="s"),
        weft.Query("two", aggs={"v": "sum(x)", "w": "max(d)"}, window=SLIDING, by="s"),
        weft.Query("same", aggs={"v": "sum(i)"}, window=SLIDING, by="s"),
        weft.Query("alone", aggs={"v": "count(*)"}, window=weft.Window(range="1 hour")),
    ]
    with loom_of(rows(spark, 2, 80), asked).run(rate=1.0) as results:
        long = results.all()
        assert dict(long.dtypes) == {
            "query": "string",
            "window": "struct<start:timestamp,end:timestamp>",
            "s": "string",
            "v_bigint": "bigint",
            "v_double": "double",
            "w": "decimal(10,2)",
        }
        for query in asked:
            kind = "v_double" if query.name == "two" else "v_bigint"
            part = long.where(F.col("query") == query.name)
            keys = ["s"] if query.by else []
            mine = part.select("window", *keys, F.col(kind).alias("v"))
            assert sorted(map(repr, mine.collect())) == sorted(
                map(repr, results[query.name].select("window", *keys, "v").collect())
            )


def test_many_queries_run_the_shared_job_once(spark: SparkSession) -> None:
    """An accumulator counts how often rows are read."""
    reads = spark.sparkContext.accumulator(0)

    def seen(value: int) -> int:
        reads.add(1)
        return value

    spark.udf.register("seen_py", seen, "bigint")
    df = spark.range(40).selectExpr("timestamp_seconds(id * 10) AS ts", "seen_py(id) AS v")
    asked = [
        weft.Query(f"q{r}", aggs={"v": "sum(v)"}, window=weft.Window(range=f"{r} minutes"))
        for r in (1, 2, 3, 4)
    ]
    results = loom_of(df, asked).run(rate=1.0, strategy="share_all")
    assert reads.value == 0, "running is lazy"
    for name in results:
        assert results[name].count() > 0
    assert reads.value == 40
    results.unpersist()
    assert results["q1"].count() > 0
    assert reads.value == 80
    results.unpersist()


def test_changed_rows_only(spark: SparkSession) -> None:
    values = [(at(0), "a", 1), (at(1), "a", 1), (at(2), "a", 2), (at(1), "b", 1), (at(3), "a", 2)]
    df = spark.createDataFrame(values, "ts timestamp, k string, v int")
    asked = [weft.Query("q", aggs={"v": "max(v)"}, window=weft.Window(range="1 minute"), by="k")]
    with loom_of(df, asked).run(rate=1.0) as results:
        changed = results.changed("q")
        assert changed.columns == results["q"].columns
        found = sorted((r["k"], r["window"]["start"], r["v"]) for r in changed.collect())
    assert found == [("a", at(0), 1), ("a", at(2), 2), ("b", at(1), 1)]


def test_the_long_table_keeps_what_having_keeps(spark: SparkSession) -> None:
    hour = weft.Window(range="1 hour", slide="10 minutes")
    asked = [
        weft.Query("some", aggs={"n": "count(*)"}, window=SLIDING, by="s", having="n > 1"),
        weft.Query("all", aggs={"n": "count(*)"}, window=SLIDING, by="s"),
        # Keys and window by name, names that are other keys elsewhere, and lambda parameters.
        weft.Query(
            "named", aggs={"top": "max(i)"}, window=hour, by=["s AS k0", "upper(s) AS s"],
            having="k0 IS NOT NULL AND s <> 'A' AND hour(window.start) < 23 AND count(*) > 1",
        ),
        weft.Query(
            "hidden", aggs={"n": "count(*)"}, window=hour, by=["k AS start"],
            having="exists(array(2, 3), start -> start = 3) AND sum(i) > start",
        ),
    ]  # fmt: skip
    loom = loom_of(rows(spark, 3, 120), asked)
    with loom.run(strategy="share_all", keys="union", rate=1.0) as results:
        long = results.all()
        for query in asked:
            names = ["window", *(key.name for key in query.keys), *query.aggs]
            found = long.where(F.col("query") == query.name).select(*names)
            wanted = native(loom.df, loom.axis, query).select(*names)
            assert sorted(map(repr, found.collect())) == sorted(map(repr, wanted.collect()))
        assert 0 < long.where("query = 'some'").count() < long.where("query = 'all'").count()
        assert long.where("query = 'named'").count() > 0
        assert long.where("query = 'hidden'").count() > 0


def test_wide_is_what_was_known_at_each_instant(spark: SparkSession) -> None:
    """
    minute   0     1     2     3     4
    a        1           5
    b                          7
    """
    df = spark.createDataFrame(
        [(at(0), "a", 1), (at(2), "a", 5), (at(3), "b", 7)], "ts timestamp, k string, v int"
    )
    asked = [
        weft.Query("m1", aggs={"v": "sum(v)"}, window=weft.Window(range="1 minute"), by="k"),
        weft.Query("m2", aggs={"v": "sum(v)"}, window=weft.Window(range="2 minutes"), by="k"),
        weft.Query("other", aggs={"v": "sum(v)"}, window=weft.Window(range="2 minutes")),
    ]
    with loom_of(df, asked).run(rate=1.0) as results:
        wide = results.wide(keys=["k"], queries=["m1", "m2"])
        assert wide.columns == ["k", "time", "v_1m", "v_2m"]
        found = sorted(map(tuple, wide.collect()))
        # At minute 2 the newest 1-minute window, [1, 2), has no row of a: its value is null, not
        # that of [0, 1).
        assert found == [
            ("a", at(1), 1, None),
            ("a", at(2), None, 1),
            ("a", at(3), 5, 1),
            ("a", at(4), None, 5),
            ("b", at(4), 7, 7),
        ]
        with pytest.raises(EngineError, match="query 'other' is grouped by"):
            results.wide(keys=["k"])


@pytest.mark.parametrize("engine", ["operator", "rewrite"])
def test_what_is_kept_of_a_folder_is_not_taken_for_that_of_its_files_later(
    spark: SparkSession, tmp_path: Path, engine: str
) -> None:
    """Spark's cache treats plans over one folder as equal, even if its files have changed."""
    made = spark.range(100).selectExpr("timestamp_seconds(id) AS ts", "id % 3 AS k", "id AS x")
    made.write.parquet(str(tmp_path / "in"))

    def counted() -> list[tuple[int, int]]:
        loom = weft.Loom(spark.read.parquet(str(tmp_path / "in")), time="ts")
        for name, minutes in (("one", 1), ("two", 2)):
            window = weft.Window(range=f"{minutes} minutes")
            loom.add(weft.Query(name, aggs={"n": "count(*)"}, window=window, by=["k"]))
        results = loom.run(engine=engine)
        return [(row["k"], row["n"]) for name in results for row in results[name].collect()]

    before = counted()
    for file in list((tmp_path / "in").glob("*.parquet")):  # not by Spark, which would notice
        shutil.copy(file, file.with_name(f"more-{file.name}"))
    assert sorted(counted()) == sorted((k, 2 * n) for k, n in before)
