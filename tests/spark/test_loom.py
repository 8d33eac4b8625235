"""The loom: adding, dropping, explaining, running, verifying; and bad input."""

from __future__ import annotations

import datetime as dt

import pytest
from agree import INTERPRETED, assert_agree, loom_of, settings
from pyspark.sql import SparkSession
from rows import rows

import weft
from weft.errors import EngineError, ExpressionError, WorkloadError
from weft.spark.loom import Loom

MINUTE = weft.Window(range="1 minute")
SLIDING = weft.Window(range="3 minutes", slide="1 minute")


@pytest.fixture(autouse=True)
def interpreted(spark: SparkSession):
    with settings(spark, INTERPRETED):
        yield


def query(name: str = "q", sql: str = "count(*)", window: weft.Window = SLIDING, **rest):
    return weft.Query(name, aggs={"a": sql}, window=window, **rest)


@pytest.fixture
def loom(spark: SparkSession) -> Loom:
    return Loom(rows(spark, 1, 60), "ts")


def test_queries_come_and_go(loom: Loom) -> None:
    loom.add(query("a"))
    added = loom.add(
        "SELECT s, max(x) AS hi FROM t WHERE i > 0 GROUP BY window(ts, '2 minutes'), s", name="b"
    )
    assert added.by == ("s",)
    assert [q.name for q in loom.queries] == ["a", "b"]
    loom.drop("A")
    assert [q.name for q in loom.queries] == ["b"]


def test_sql_must_be_over_this_loom(loom: Loom) -> None:
    with pytest.raises(EngineError, match=r"over 'day'.*time column is 'ts'"):
        loom.add("SELECT count(*) AS n FROM t GROUP BY window(day, '1 day')", name="q")
    loom.add("SELECT count(*) AS n FROM t GROUP BY window(ts, '1 day')", name="q")
    with pytest.raises(EngineError, match="from table 'other'"):
        loom.add("SELECT count(*) AS n FROM other GROUP BY window(ts, '1 day')", name="r")


def test_names_are_taken_once(loom: Loom) -> None:
    loom.add(query("a"))
    with pytest.raises(WorkloadError, match="'A' is in the loom already"):
        loom.add(query("A"))
    with pytest.raises(WorkloadError, match="no query 'b' in the loom; it has 'a'"):
        loom.drop("b")


def test_a_window_of_the_wrong_axis_is_refused(loom: Loom) -> None:
    with pytest.raises(EngineError, match=r"query 'q'.*integer axis.*kind timestamp"):
        loom.add(query(window=weft.Window(range=10)))


@pytest.mark.parametrize(
    ("time", "message"),
    [
        ("nope", "'nope' is not a column of the DataFrame; it has 'ts'"),
        ("s", "type string: accepted"),
    ],
)
def test_a_time_column_that_is_none(spark: SparkSession, time: str, message: str) -> None:
    with pytest.raises(EngineError, match=message):
        Loom(rows(spark, 1, 5), time)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"sql": "sum(nope)"}, "query 'bad' cannot run.*nope"),
        ({"where": "nope > 1"}, "query 'bad' cannot run.*nope"),
        ({"by": "nope"}, "query 'bad' cannot run.*nope"),
        ({"sql": "sum(day)"}, "query 'bad' cannot run.*(day|DATE)"),
        ({"sql": "var_pop(day)"}, "query 'bad' cannot run"),
        ({"sql": "bool_or(i)"}, "query 'bad' cannot run.*BOOLEAN"),
        ({"where": "s"}, "query 'bad' cannot run"),
    ],
)
def test_what_spark_cannot_analyse_names_the_query(loom: Loom, bad: dict, message: str) -> None:
    def ask() -> None:
        loom.add(query("bad", **bad))  # an unknown column is reported here, other errors later
        loom.run()

    loom.add(query("good"))
    with pytest.raises(ExpressionError, match=f"(?s){message}"):
        ask()


def test_an_aggregate_over_strings_is_sparks_affair(spark: SparkSession) -> None:
    """Spark casts strings to doubles to add them; weft gives the same sum, or the same error."""
    good = spark.createDataFrame([("1.5",), ("2",)], "v string").selectExpr("*", _TS)
    assert assert_agree(loom_of(good, [query("a", "sum(v)"), query("b", "avg(v)")])) == 6
    bad = spark.createDataFrame([("x",)], "v string").selectExpr("*", _TS)
    with pytest.raises(Exception, match="CAST_INVALID_INPUT"):
        loom_of(bad, [query("a", "sum(v)"), query("b", "avg(v)")]).run()["a"].collect()


_TS = "TIMESTAMP'2020-01-01 00:00:00' AS ts"


def test_empty_one_row_all_filtered_and_no_times(spark: SparkSession) -> None:
    asked = [query("a", "sum(i)", by="s"), query("b", "max(x)"), query("c", where="false")]
    for count, expected in ((0, 0), (1, None)):
        compared = assert_agree(loom_of(rows(spark, 3, count), asked))
        assert expected is None or compared == expected
    timeless = rows(spark, 3, 20).withColumn("ts", _null_time())
    assert assert_agree(loom_of(timeless, asked)) == 0


def _null_time():
    from pyspark.sql import functions as F

    return F.lit(None).cast("timestamp")


def test_skewed_keys(spark: SparkSession) -> None:
    """One key has nearly all rows."""
    df = spark.range(600).selectExpr(
        "timestamp_seconds(id) AS ts",
        "IF(id % 100 = 0, CAST(id AS STRING), 'hot') AS key",
        "id AS v",
    )
    asked = [query("a", "sum(v)", by="key"), query("b", "min(v)", MINUTE, by="key")]
    assert assert_agree(loom_of(df, asked), strategy="share_all", rate=1.0) > 0


def test_a_predicate_that_fails_fails_as_in_spark(spark: SparkSession) -> None:
    df = spark.range(1, 50).selectExpr("timestamp_seconds(id) AS ts", "id % 5 AS z", "id AS v")
    guarded = query("guarded", "sum(10 / z)", where="z <> 0 AND 10 / z > 3")
    others = [query("plain", "sum(v)"), query("other", "sum(v)", where="v > 7")]
    # A query whose predicate prevents a division by zero does not fail when it shares slices.
    assert assert_agree(loom_of(df, [guarded, *others]), strategy="share_all", rate=1.0) > 0
    failing = query("failing", "count(*)", where="10 / z > 3")
    with pytest.raises(Exception, match="DIVIDE_BY_ZERO"):
        loom_of(df, [failing, *others]).run(strategy="share_all", rate=1.0)["plain"].collect()


def test_python_udf_as_predicate(spark: SparkSession) -> None:
    spark.udf.register("odd_py", lambda v: v is not None and v % 2 == 1, "boolean")
    df = spark.range(60).selectExpr("timestamp_seconds(id) AS ts", "id AS v")
    asked = [query("odd", "sum(v)", where="odd_py(v)"), query("all", "sum(v)")]
    assert assert_agree(loom_of(df, asked), strategy="share_all", rate=1.0) > 0


def test_nested_keys(spark: SparkSession) -> None:
    df = rows(spark, 5, 60)
    asked = [query("a", by="struct(k, s) AS key"), query("b", "max(i)", by="array(k) AS key")]
    loom = loom_of(df, asked)
    assert "is nested" in loom.explain(strategy="share_all", rate=1.0)
    assert assert_agree(loom, strategy="share_all", rate=1.0) > 0


def test_explain_says_how_trees_are_run(loom: Loom) -> None:
    loom.add(query("a", "sum(i)", by="s", where="i > 1"))
    loom.add(query("b", "sum(i)", MINUTE, by="s", where="i > 2"))
    text = loom.explain(strategy="share_all")
    assert "tree 1: 2 queries" in text
    assert "arrow: finals in Arrow code" in text
    assert "slices by greatest" in text
    assert "fragments of 2 predicates" in text


def test_one_query_runs_as_it_is(loom: Loom) -> None:
    loom.add(query("a", "sum(i)", MINUTE))
    assert "native: one window by itself" in loom.explain()


def test_statistics_are_measured(spark: SparkSession) -> None:
    df = spark.range(1000).selectExpr("timestamp_seconds(id DIV 10) AS ts", "id % 7 AS k")
    loom = loom_of(df, [query("a", by="k"), query("b")])
    measured = loom.measured()
    assert measured.rows == 1000
    assert measured.rate == pytest.approx(1000 / 99.000001, rel=1e-6)
    assert measured.statistics.groups_of(frozenset(["k"])) == pytest.approx(7, abs=1)
    assert loom.plan().rate == measured.rate


def test_engines_and_strategies_that_do_not_fit(loom: Loom) -> None:
    with pytest.raises(WorkloadError, match="no queries"):
        loom.run()
    loom.add(query("a"))
    loom.add(query("b", window=weft.Window(range="6 minutes", slide="1 minute")))
    with pytest.raises(EngineError, match="engine='duck'"):
        loom.run(engine="duck")
    with pytest.raises(EngineError, match="use engine='rewrite'"):
        loom.run(engine="operator", strategy="coverage")


def test_a_stream_is_not_a_batch(spark: SparkSession) -> None:
    stream = spark.readStream.format("rate").load()
    loom = Loom(stream, "timestamp")
    loom.add(query("a"))
    with pytest.raises(EngineError, match=r"use start\(\)"):
        loom.run()


def test_verify_reports(loom: Loom) -> None:
    loom.add(query("a", "sum(x)", by="s"))
    loom.add(query("b", "stddev(y)", by="s"))
    report = loom.verify()
    assert report.ok, str(report)
    assert report.rows > 0
    assert "equal: 2 of 2 queries" in str(report)
    assert report.native_seconds > 0
    assert report.weft_seconds > 0


def test_session_time_zone_changes_nothing(spark: SparkSession) -> None:
    """Windows are aligned to UTC in every session zone; only casts to dates depend on the zone."""
    daily = weft.Window(range="2 days", slide="1 day")
    with settings(spark, {"spark.sql.session.timeZone": "America/New_York"}):
        for kind in ("timestamp", "date"):
            df = rows(spark, 11, 60, kind)
            assert assert_agree(loom_of(df, [query("a", "sum(i)", daily), query("b")])) > 0
        ntz = spark.createDataFrame(
            [(dt.datetime(2020, 3, 8, 2, 30), 1), (dt.datetime(2020, 3, 8, 3, 30), 2)],
            "ts timestamp_ntz, v int",
        )
        assert assert_agree(loom_of(ntz, [query("a", "sum(v)"), query("b", "max(v)")])) > 0


def test_explain_names_the_final_structure_and_why(spark):
    df = spark.sql("SELECT timestamp_micros(id * 1000000) AS ts, id AS v FROM range(100)")
    loom = loom_of(df, [])
    for number in (1, 2, 3):
        loom.add(
            f"SELECT sum(v) AS s, max(v) AS m FROM t "
            f"GROUP BY window(ts, '{number + 1} seconds', '1 second')",
            name=f"q{number}",
        )
    shown = loom.explain(engine="operator", strategy="share_all", rate=1.0)
    assert "finals of sum(v) by subtract: exact numbers" in shown
    assert "finals of max(v) by blocks: 3 queries over the same slices" in shown


def test_a_name_of_an_item_that_a_column_has_is_refused(spark):
    """In GROUP BY k, Spark resolves k to the column, not to the item of SELECT with that name."""
    df = spark.createDataFrame([(1, "a", "b")], "t INT, k STRING, x STRING")
    df = df.selectExpr("timestamp_seconds(t) AS ts", "k", "x")
    text = "SELECT upper(x) AS {0}, count(*) AS n FROM t GROUP BY window(ts, '1 hour'), {0}"
    with pytest.raises(EngineError, match="'k' names both a column and an item of SELECT"):
        Loom(df).add(text.format("k"), name="q")
    loom = Loom(df)
    loom.add(text.format("big"), name="q")
    assert [row["big"] for row in loom.run()["q"].collect()] == ["B"]
