"""Statistics of large Parquet files without a scan, compared with those of a scan."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

from weft.query.query import Query
from weft.query.window import Window
from weft.spark.batch import statistics
from weft.spark.batch.statistics import Measured, measure
from weft.spark.loom import Loom

ROWS = 60_000
START = 1_700_000_000_000_000
COUNT = {"n": "count(*)"}
QUERIES = [
    Query("a", aggs={"n": "count(*)"}, window=Window(range="1 minute"), by=["k"]),
    Query("b", aggs={"s": "sum(v)"}, window=Window(range="5 minutes"), by=["k", "few"],
          where="v > 0.5"),
    Query("c", aggs={"s": "sum(v)"}, window=Window(range="5 minutes"), where="few = 2"),
    Query("d", aggs={"s": "sum(v)"}, window=Window(range="7 minutes"), where="v < 0.1"),
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files in order of time, more than are sampled."""
    draw, found = np.random.default_rng(5), tmp_path_factory.mktemp("files")
    times = np.sort(draw.integers(0, 3600 * 10**6, ROWS)) + START
    table = pa.table(
        {
            "ts": pa.array(times, pa.timestamp("us", "UTC")),
            "day": pa.array((times // 86_400_000_000).astype(np.int32), pa.date32()),
            "i": times // 1000,
            "k": pa.array(draw.integers(0, 3000, ROWS)),
            "few": pa.array(draw.integers(0, 4, ROWS)),
            "v": pa.array(draw.random(ROWS), mask=draw.random(ROWS) < 0.1),
        }
    )
    size = ROWS // 20
    for number in range(20):
        pq.write_table(table.slice(number * size, size), found / f"{number:02d}.parquet")
    return found


@pytest.fixture
def scans(monkeypatch: pytest.MonkeyPatch) -> list[DataFrame]:
    """The frames that are scanned if every file counts as large."""
    seen: list[DataFrame] = []
    counted = statistics._counted

    def counting(df: DataFrame, *given: Any) -> Measured:
        seen.append(df)
        return counted(df, *given)

    monkeypatch.setattr(statistics, "_counted", counting)
    monkeypatch.setattr(statistics, "LARGE", 0)
    return seen


def both(df: DataFrame, time: str, queries: list[Query]) -> tuple[Measured, Measured]:
    axis = Loom(df, time=time).axis
    keysets = [keys for q in queries if (keys := tuple(key.expression for key in q.keys))]
    return measure(df, axis, queries), statistics._counted(df, axis, queries, keysets)


@pytest.mark.parametrize("int96", [False, True])
def test_of_files_it_is_near_what_a_scan_finds(
    spark: SparkSession, folder: Path, scans: list, tmp_path: Path, int96: bool
) -> None:
    df = spark.read.parquet(str(folder))
    if int96:  # Spark writes these without statistics
        assert spark.conf.get("spark.sql.parquet.outputTimestampType") == "INT96"
        df.coalesce(1).write.parquet(str(tmp_path / "written"))
        df = spark.read.parquet(str(tmp_path / "written"))
    found, right = both(df.withColumn("more", df.v * 2), "ts", QUERIES)
    assert len(scans) == 1  # the second
    assert (found.rows, found.first, found.last) == (right.rows, right.first, right.last)
    assert found.rate == right.rate
    assert found.statistics.fragments == right.statistics.fragments
    for keys in ("k", "k,few"):
        of = frozenset(keys.split(","))
        exact = 3000.0 if keys == "k" else 12_000.0
        assert found.statistics.groups_of(of) == pytest.approx(exact, rel=0.25)


@pytest.mark.parametrize(("time", "last"), [("i", START // 1000), ("day", START)])
def test_other_axes(spark: SparkSession, folder: Path, scans: list, time: str, last: int) -> None:
    window = Window(range=1000) if time == "i" else Window(range="1 day")
    queries = [Query("a", aggs={"n": "count(*)"}, window=window)]
    found, right = both(spark.read.parquet(str(folder)), time, queries)
    assert len(scans) == 1
    assert (found.rows, found.first, found.last) == (right.rows, right.first, right.last)
    assert found.last >= last - 86_400_000_000


def test_what_is_not_the_rows_of_files_is_scanned(
    spark: SparkSession, folder: Path, scans: list, tmp_path: Path
) -> None:
    df = spark.read.parquet(str(folder))
    df.write.json(str(tmp_path / "json"))
    empty = tmp_path / "empty"
    df.where("false").write.parquet(str(empty))
    frames = [
        df.where("v > 0.9"),
        df.union(df),
        df.limit(10),
        df.withColumnRenamed("ts", "at").withColumnRenamed("day", "ts"),  # no such time in files
        spark.read.schema(df.schema).json(str(tmp_path / "json")),
        spark.read.parquet(str(empty)),
        spark.createDataFrame(df.limit(5).collect(), df.schema),
    ]
    queries = QUERIES[:1]
    for number, frame in enumerate(frames, start=1):
        time = "at" if "at" in frame.columns else "ts"
        found = measure(frame, Loom(frame, time=time).axis, queries)
        assert len(scans) == number
        assert found.rows == frame.count()


@pytest.mark.parametrize("key", ["map('x', few)", "struct(few)", "struct(map(few, 1))"])
def test_keys_that_spark_does_not_hash(spark: SparkSession, folder: Path, key: str) -> None:
    df = spark.read.parquet(str(folder)).selectExpr("ts", f"{key} AS kept")
    queries = [Query("a", aggs={"n": "count(*)"}, window=Window(range="1 hour"), by=["kept"])]
    axis = Loom(df, time="ts").axis
    found = statistics._counted(df, axis, queries, [("kept",)])
    assert found.statistics.groups_of(frozenset(["kept"])) == 4


def test_answers_do_not_depend_on_it(spark: SparkSession, folder: Path, scans: list) -> None:
    df = spark.read.parquet(str(folder))
    moved = df.selectExpr("timestamp_micros(unix_micros(ts) * 2) AS ts", "k", "few", "v")
    for frame in (df, moved):  # the times of the second are not those in the files
        loom = Loom(frame, time="ts")
        for query in QUERIES:
            loom.add(query)
        assert loom.verify()
    assert scans == []


def test_plain_columns_as_keys_need_no_job_of_spark(
    spark: SparkSession, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    df = spark.read.parquet(str(folder))

    def hourly(name: str, by: list[str], where: str | None = None) -> Query:
        return Query(name, aggs={"s": "sum(v)"}, window=Window(range="1 hour"), by=by, where=where)

    every, some = hourly("e", ["k", "few"]), hourly("f", ["k", "few"], "v > 0.5")
    queries = [QUERIES[0], every]
    axis = Loom(df, time="ts").axis
    keysets = [tuple(key.expression for key in query.keys) for query in queries]
    right = statistics._counted(df, axis, queries, [*dict.fromkeys(keysets)])
    with monkeypatch.context() as without:
        for way in ("_counted", "_estimated"):
            without.setattr(statistics, way, lambda *_: pytest.fail("Spark was asked"))
        found = measure(df, axis, [*queries, some])
    assert (found.rows, found.first, found.last) == (right.rows, right.first, right.last)
    assert found.statistics.groups_of(frozenset({"k"})) == pytest.approx(3000, rel=0.25)
    assert found.statistics.groups_of(frozenset({"k", "few"})) == pytest.approx(12_000, rel=0.25)
    asked: list[DataFrame] = []
    monkeypatch.setattr(statistics, "_counted", lambda df, *_: asked.append(df))
    measure(df, axis, [some])  # groups of some rows only
    measure(df, axis, [hourly("g", ["k % 10 AS digit"])])
    assert len(asked) == 2


def test_keys_that_are_in_names_of_folders_are_counted_by_spark(
    spark: SparkSession, folder: Path, tmp_path: Path
) -> None:
    out = str(tmp_path / "parted")
    spark.read.parquet(str(folder)).write.partitionBy("few").parquet(out)
    df = spark.read.parquet(out)
    queries = [Query("a", aggs={"n": "count(*)"}, window=Window(range="1 hour"), by=["few"])]
    found = measure(df, Loom(df, time="ts").axis, queries)
    assert found.statistics.groups_of(frozenset({"few"})) == 4


def test_categories_and_structs_before_the_time_are_read(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, letters in enumerate((["a", "b"], ["c", "a"])):
        table = pa.table(
            {
                "s": [{"x": -(2**62), "y": 1}, {"x": 2**62, "y": 2}],
                "ts": pa.array([START, START + 10**6], pa.timestamp("us", "UTC")),
                "k": pa.array(letters).dictionary_encode(),
            }
        )
        pq.write_table(table, tmp_path / f"{number}.parquet")
    df = spark.read.parquet(str(tmp_path))
    queries = [Query("a", aggs={"n": "count(*)"}, window=Window(range="1 hour"), by=["k"])]
    monkeypatch.setattr(statistics, "_counted", lambda *_: pytest.fail("Spark was asked"))
    found = measure(df, Loom(df, time="ts").axis, queries)
    assert (found.rows, found.first, found.last) == (4, START, START + 10**6)
    assert found.statistics.groups_of(frozenset({"k"})) == 3


def test_another_format_is_not_looked_at_as_parquet(
    spark: SparkSession, folder: Path, scans: list
) -> None:
    df = spark.read.schema("ts timestamp").csv(str(folder))
    measure(df, Loom(df, time="ts").axis, [Query("a", aggs=COUNT, window=Window(range="1 hour"))])
    assert len(scans) == 1
