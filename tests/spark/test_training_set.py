"""Training sets, compared with a join in Spark SQL: every value of every row of the spine."""

from __future__ import annotations

import datetime
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from agree import INTERPRETED, settings
from engines import bag, comparable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import weft
from weft.errors import EngineError, ExpressionError, QueryError, WindowError, WorkloadError
from weft.plan.time_axis import TimeAxis
from weft.spark.schema import time_axis

START = 1_700_000_000
MIXED = {
    "n": "count(*)",
    "nx": "count(x)",
    "total": "sum(x)",
    "money": "avg(d)",
    "hi": "max(y)",
    "lo": "min(s)",
    "kinds": "count(DISTINCT s)",
    "pairs": "count(DISTINCT s, g) FILTER (WHERE x > 0)",
    "values": "count(DISTINCT x)",
    "added": "sum(DISTINCT x)",
    "some": "sum(x) FILTER (WHERE g = 1)",
    "ratio": "round(sum(x) / count(*), 3)",
    "list": "collect_list(s)",
    "sd": "stddev(x)",
}


@pytest.fixture(autouse=True)
def interpreted(spark: SparkSession):
    """Switch off code generation, which takes longer than processing a few hundred rows."""
    with settings(spark, INTERPRETED):
        yield


def events_of(spark: SparkSession, seed: int = 0, rows: int = 300) -> DataFrame:
    """Rows of two minutes in whole seconds, so that many have the same time."""

    def draw(what: str, size: int) -> str:
        return f"pmod(hash(id, '{what}', {seed}), {size})"

    return spark.range(rows).selectExpr(
        f"timestamp_seconds({START} + {draw('t', 120)}) AS ts",
        f"CASE WHEN {draw('kn', 8)} > 0 THEN concat('k', {draw('k', 4)}) END AS k",
        f"{draw('g', 3)} AS g",
        f"CASE WHEN {draw('xn', 6)} > 0 THEN CAST({draw('x', 20)} - 8 AS BIGINT) END AS x",
        f"CASE WHEN {draw('yn', 9)} = 0 THEN double('NaN') WHEN {draw('yn', 9)} > 1 "
        f"THEN {draw('y', 50)} / 4 END AS y",
        f"CAST({draw('d', 999)} / 100 AS DECIMAL(10,2)) AS d",
        f"CASE WHEN {draw('sn', 7)} > 0 THEN concat('s', {draw('s', 5)}) END AS s",
    )


def spine_of(spark: SparkSession, seed: int = 0, rows: int = 60) -> DataFrame:
    """Instants before, in and after these two minutes, keys without rows, and every row twice."""

    def draw(what: str, size: int) -> str:
        return f"pmod(hash(id, '{what}', {seed + 100}), {size})"

    once = spark.range(rows).selectExpr(
        f"CASE WHEN {draw('kn', 8)} > 0 THEN concat('k', {draw('k', 5)}) END AS k",
        f"CASE WHEN {draw('tn', 10)} > 0 THEN timestamp_micros({START}000000L "
        f"+ {draw('t', 160)} * 1000000L + if({draw('m', 3)} = 0, 1L, 0L)) END AS at",
        f"{draw('g', 4)} AS g",
        "id AS label",
    )
    return once.unionAll(once)


def by_join(
    spine: DataFrame,
    queries: Sequence[weft.Query],
    df: DataFrame,
    *,
    time: str = "ts",
    at: str = "at",
    delay: int = 0,
    slide: bool = False,
    ordered: bool = False,
) -> Counter:
    """The same by a range join; without rows, the values of Spark's aggregates over no rows."""
    spark = df.sparkSession
    axis = time_axis(df.schema, time)
    instant = TimeAxis(at, time_axis(spine.schema, at).kind).units()
    rows = spine.withColumn("weft_rid", F.monotonically_increasing_id()).collect()
    asked = spark.createDataFrame(rows, spine.withColumn("weft_rid", F.lit(1).cast("long")).schema)
    found: dict[int, list[Any]] = {row["weft_rid"]: list(row[:-1]) for row in rows}
    for query in queries:
        end = f"({instant} - {delay}L)"
        if slide:
            edge = query.window.phase + query.window.range
            end = f"({end} - pmod({end} - {edge}L, {query.window.slide}L))"
        asked.selectExpr(
            "weft_rid", f"{end} - {query.window.range}L AS weft_low", f"{end} AS weft_high",
            *(f"`{key.name}` AS weft_s{i}" for i, key in enumerate(query.keys)),
        ).createOrReplaceTempView("weft_spine")  # fmt: skip
        taken = df.where(query.where) if query.where else df
        taken.selectExpr(
            "*", f"{axis.units()} AS weft_t",
            *(f"{key.native} AS weft_e{i}" for i, key in enumerate(query.keys)),
        ).createOrReplaceTempView("weft_rows")  # fmt: skip
        aggs = ", ".join(_by_time(o.native) if ordered else o.native for o in query.outputs)
        same = "".join(f" AND weft_s{i} <=> weft_e{i}" for i in range(len(query.keys)))
        answers = spark.sql(
            f"SELECT weft_rid, {aggs} FROM weft_spine JOIN weft_rows ON weft_t >= weft_low "
            f"AND weft_t < weft_high{same} GROUP BY weft_rid"
        ).collect()
        none = spark.sql(f"SELECT {aggs} FROM weft_rows WHERE false").first()
        values = {row[0]: row[1:] for row in answers}
        for number, held in found.items():
            held += values.get(number, none)
    return bag([tuple(row) for row in found.values()])


def _by_time(sql: str) -> str:
    """First and last as weft defines them."""
    return sql.replace("first(", "min_by(").replace("last(", "max_by(").replace("s)", "s, ts)")


def assert_same(found: DataFrame, wanted: Counter) -> None:
    rows = bag(found.collect())
    missing, extra = wanted - rows, rows - wanted
    told = f"{sum(missing.values())} rows differ"
    assert not missing, f"{told}: {next(iter(missing))}\nfound {next(iter(extra), None)}"
    assert not extra, f"{sum(extra.values())} extra rows: {next(iter(extra))}"
    assert wanted


def window(range_: str, slide: str = "10 seconds", offset: str = "0 seconds") -> weft.Window:
    return weft.Window(range=range_, slide=slide, offset=offset)


QUERIES = [
    weft.Query("k20", aggs=MIXED, window=window("20 seconds"), by=["k"]),
    weft.Query("k50", aggs=MIXED, window=window("50 seconds", "20 seconds"), by="k", where="x > 2"),
    weft.Query("one", aggs={"n": "count(*)"}, window=window("1 second"), by=["k"]),
    weft.Query("long", aggs={"sd": "stddev(y)", "hi": "max(y)"}, window=window("1 hour"), by="k"),
    weft.Query("kg", aggs={"n": "count(*)", "by": "max_by(s, struct(x, y, s))"},
               window=window("90 seconds", "10 seconds", "3 seconds"), by=["g", "k"]),
    weft.Query("label", aggs={"n": "count(*)"}, window=window("80 seconds"), by=["g + 1 AS label"],
               where="s <> 's1'"),
    weft.Query("all", aggs={"n": "count(*)", "total": "sum(x)"}, window=window("15 seconds")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("seed", "options"),
    [
        (0, {}),
        (1, {"delay": "7 seconds"}),
        (2, {"resolution": "slide"}),
        (3, {"resolution": "slide", "delay": datetime.timedelta(seconds=7)}),
    ],
)
def test_values_are_those_of_a_range_join(spark, seed, options):
    df, spine = events_of(spark, seed).cache(), spine_of(spark, seed).cache()
    queries = QUERIES if seed in (0, 3) else QUERIES[1:5]
    found = weft.training_set(spine, queries, df, at="at", **options)
    slide = options.get("resolution") == "slide"
    delay = 7_000_000 if "delay" in options else 0
    assert_same(found, by_join(spine, queries, df, delay=delay, slide=slide))
    columns = [f"{query.name}_{name}" for query in queries for name in query.aggs]
    assert found.columns == ["k", "at", "g", "label", *columns]


def test_a_row_at_the_instant_is_after_it_and_one_at_the_start_is_inside(spark):
    df = spark.sql("SELECT timestamp_seconds(id) AS ts, id FROM range(10, 21)")
    spine = spark.sql("SELECT timestamp_seconds(20) AS ts")
    query = weft.Query("q", aggs={"ids": "collect_list(id)"}, window=window("5 seconds"))
    (row,) = weft.training_set(spine, query, df).collect()
    assert row["q_ids"] == [15, 16, 17, 18, 19]
    (row,) = weft.training_set(spine, query, df, delay="2 seconds").collect()
    assert row["q_ids"] == [13, 14, 15, 16, 17]


def test_first_and_last_are_by_time(spark):
    place = "monotonically_increasing_id() % 1000"
    at = F.expr(f"timestamp_micros({START}000000L + {place} * 400000L)")
    df = events_of(spark, 5).coalesce(1).withColumn("ts", at).where("s IS NOT NULL").cache()
    assert df.select("ts").distinct().count() == df.count()
    aggs = {"a": "first(s)", "z": "last(s)", "fa": "first(s) FILTER (WHERE x > 3)"}
    queries = [weft.Query("q", aggs=aggs, window=window("30 seconds"), by=["k"], where="g < 2"),
               weft.Query("r", aggs=aggs, window=window("70 seconds"), by=["k"])]  # fmt: skip
    spine = spine_of(spark, 5)
    found = weft.training_set(spine, queries, df, at="at")
    assert_same(found, by_join(spine, queries, df, ordered=True))


def test_an_integer_axis(spark):
    df = events_of(spark, 6).withColumn("n", F.expr(f"CAST(unix_seconds(ts) - {START} AS INT)"))
    spine = spine_of(spark, 6).withColumn("at", F.expr(f"unix_seconds(at) - {START}"))
    queries = [
        weft.Query(name, aggs={"n": "count(*)", "hi": "max(x)"}, by=["k"], where=where,
                   window=weft.Window(range=range_, slide=7, offset=2))
        for name, range_, where in (("a", 1, None), ("b", 30, "y > 2"), ("c", 1000, None))
    ]  # fmt: skip
    for slide, delay in ((False, 0), (True, 3)):
        found = weft.training_set(spine, queries, df, time="n", at="at", delay=delay,
                                  resolution="slide" if slide else "exact")  # fmt: skip
        wanted = by_join(spine, queries, df, time="n", delay=delay, slide=slide)
        assert_same(found, wanted)


def test_instants_as_far_as_integers_go(spark):
    df = spark.sql("SELECT * FROM VALUES (0L, 1), (4611686018427387900L, 2) AS t(n, x)")
    least, most = -(2**63), 2**63 - 1
    spine = spark.createDataFrame([(least,), (-5,), (1,), (2**62,), (most,)], "at long")
    query = weft.Query("q", aggs={"t": "sum(x)"}, window=weft.Window(range=2**62))
    rows = weft.training_set(spine, query, df, time="n", at="at", delay=10).collect()
    assert {row["at"]: row["q_t"] for row in rows} == {
        least: None, -5: None, 1: None, 2**62: 1, most: 2
    }  # fmt: skip


@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
@pytest.mark.parametrize(
    ("time", "at"), [("timestamp_ntz", "timestamp_ntz"), ("timestamp", "date"), ("date", "date")]
)
def test_other_times_than_timestamps(spark, time, at, zone):
    with settings(spark, {"spark.sql.session.timeZone": zone}):
        days = "timestamp_seconds(1699000000 + pmod(hash(id, '{}'), 2000000))"
        df = (
            spark.range(200)
            .selectExpr(f"CAST({days.format('t')} AS {time}) AS ts", "id % 3 AS k", "id AS x")
            .cache()
        )
        spine = spark.range(50).selectExpr(f"CAST({days.format('a')} AS {at}) AS at", "id % 4 AS k")
        queries = [weft.Query("q", aggs={"n": "count(*)", "t": "sum(x)"}, by=["k"],
                              window=window("3 days", "1 day"))]  # fmt: skip
        found = weft.training_set(spine, queries, df, at="at", resolution="slide")
        assert_same(found, by_join(spine, queries, df, slide=True))
        found = weft.training_set(spine, queries, df, at="at")
        assert_same(found, by_join(spine, queries, df))


def test_by_slide_values_are_those_of_the_latest_window_that_has_closed(spark):
    """They equal a loom's answers, and so what a stream serves."""
    df, spine = events_of(spark, 7).cache(), spine_of(spark, 7)
    queries = [query for query in QUERIES if query.by == ("k",)]
    loom = weft.Loom(df)
    for query in queries:
        loom.add(query)
    found = weft.training_set(spine, queries, df, at="at", resolution="slide").collect()
    compared = 0
    with loom.run(rate=1.0) as results:
        for query in queries:
            answers = {
                (row["k"], row["window"]["end"]): row[2:] for row in results[query.name].collect()
            }
            slide = datetime.timedelta(microseconds=query.window.slide)
            edge = datetime.timedelta(microseconds=query.window.phase + query.window.range)
            for row in found:
                if row["at"] is None:
                    continue
                since = (row["at"] - datetime.datetime(1970, 1, 1) - edge) % slide
                wanted = answers.get((row["k"], row["at"] - since))
                values = [row[f"{query.name}_{name}"] for name in query.aggs]
                if wanted is None:
                    assert values[0] in (0, None)
                else:
                    assert comparable(values) == comparable(wanted)
                    compared += 1
    assert compared > 100


EMPTY = [
    "count(*)", "count(x)", "count(DISTINCT x)", "count(DISTINCT x, s)", "count_if(x > 1)",
    "sum(x)", "sum(y)", "sum(d)", "sum(DISTINCT x)", "try_sum(x)", "avg(x)", "avg(y)", "avg(d)",
    "min(s)", "max(y)", "min(d)", "max(ts)", "value_range(x)", "geo_mean(y)", "product(y)",
    "first(x)", "last(s)", "first(x) IGNORE NULLS", "first_n(x, 2)", "last_n(x, 2)",
    "min_by(s, x)", "max_by(x, y)", "bool_and(x > 1)", "bool_or(x > 1)", "bit_and(x)",
    "bit_or(x)", "bit_xor(x)", "collect_list(s)", "collect_set(s)", "collect_list(DISTINCT x)",
    "var_pop(y)", "var_samp(y)", "stddev(y)", "skewness(y)", "kurtosis(y)", "corr(x, y)",
    "covar_pop(x, y)", "covar_samp(x, y)", "approx_count_distinct(x)",
    "approx_percentile(y, 0.5)", "approx_percentile(y, array(0.1, 0.9))",
    "count(x) FILTER (WHERE g = 1)", "coalesce(sum(x), 0L) + count(*)",
]  # fmt: skip


def test_over_no_rows_every_aggregate_is_what_sparks_is(spark):
    df = events_of(spark)
    spine = spark.createDataFrame([("nobody", START), ("k1", 0), (None, None)], "k string, s long")
    spine = spine.selectExpr("k", "timestamp_seconds(s) AS ts")
    aggs = {f"a{at}": sql for at, sql in enumerate(EMPTY)}
    query = weft.Query("q", aggs=aggs, window=window("1 hour"), by=["k"])
    outputs = [F.expr(o.native).alias(f"q_{o.name}") for o in query.outputs]
    expected = df.where("false").agg(*outputs)
    found = weft.training_set(spine, query, df)
    assert [(f.name, f.dataType.simpleString()) for f in found.schema.fields[2:]] == [
        (f.name, f.dataType.simpleString()) for f in expected.schema.fields
    ]
    wanted = expected.first()
    rows = found.collect()
    assert len(rows) == 3
    for row in rows:
        for at, sql in enumerate(EMPTY):
            assert row[at + 2] == wanted[at], sql


def test_every_aggregate_over_rows(spark):
    """Compared with a plain query over all rows of a key; with few rows, sketches are exact."""
    df = events_of(spark, 8).cache()
    aggs = {
        f"a{at}": sql
        for at, sql in enumerate(EMPTY)
        if not sql.startswith(("first", "last", "approx_percentile(y, array", "min_by", "max_by"))
    }
    query = weft.Query("q", aggs=aggs, window=window("1 hour"), by=["k"])
    spine = spark.sql(f"SELECT k, timestamp_seconds({START} + 1000) AS ts "
                      "FROM VALUES ('k0'), ('k1'), (NULL) AS t(k)")  # fmt: skip
    native = [F.expr(o.native).alias(o.name) for o in query.outputs]
    wanted = {row["k"]: row[1:] for row in df.groupBy("k").agg(*native).collect()}
    for row in weft.training_set(spine, query, df).collect():
        for name, sql, mine, theirs in zip(
            aggs, aggs.values(), row[2:], wanted[row["k"]], strict=True
        ):
            if sql.startswith("approx"):
                assert mine == pytest.approx(theirs, rel=0.2), (name, sql)
            else:
                assert comparable([mine]) == comparable([theirs]), (name, sql)


def test_keys_are_compared_as_in_group_by(spark):
    rows = [(0.0, 1), (-0.0, 2), (math.nan, 4), (None, 8), (1.5, 16)]
    df = spark.createDataFrame(rows, "f double, x int").selectExpr(
        "timestamp_seconds(5) AS ts", "f", "x"
    )
    nan = "CAST('NaN' AS FLOAT)"
    spine = spark.sql(
        f"SELECT timestamp_seconds(9) AS ts, * FROM VALUES (CAST(0 AS FLOAT), 'a'), ({nan}, 'b'), "
        f"(NULL, 'c'), (CAST(1.5 AS FLOAT), 'd'), (CAST(2 AS FLOAT), 'e') AS t(f, l)"
    ).selectExpr("ts", "IF(l = 'a', -CAST(0 AS FLOAT), f) AS f", "l")
    query = weft.Query("q", aggs={"t": "sum(x)"}, window=window("1 hour"), by=["f"])
    found = {row["l"]: row for row in weft.training_set(spine, query, df).collect()}
    assert {label: row["q_t"] for label, row in found.items()} == {
        "a": 3, "b": 4, "c": 8, "d": 16, "e": None
    }  # fmt: skip
    assert math.copysign(1, found["a"]["f"]) == -1  # the spine's own value is unchanged
    assert math.isnan(found["b"]["f"])


def test_keys_of_types_with_parts(spark):
    df = spark.sql(
        "SELECT timestamp_seconds(5) AS ts, struct(id % 2 AS a, CAST(NULL AS DOUBLE) AS b) AS p, "
        "array(id % 3, 7) AS l, id AS x FROM range(12)"
    )
    spine = spark.sql(
        "SELECT timestamp_seconds(9) AS ts, struct(id AS a, CAST(NULL AS DOUBLE) AS b) AS p, "
        "array(id, 7) AS l FROM range(3)"
    )
    queries = [
        weft.Query("p", aggs={"t": "sum(x)"}, window=window("1 hour"), by=["p"]),
        weft.Query("l", aggs={"t": "sum(x)"}, window=window("1 hour"), by=["l"]),
        weft.Query("both", aggs={"t": "sum(x)"}, window=window("1 hour"), by=["l", "p"]),
    ]
    assert_same(weft.training_set(spine, queries, df), by_join(spine, queries, df, at="ts"))


def test_the_spines_rows_are_as_they_were(spark):
    """Types of all kinds, names with dots and quotes, duplicate names, times in any zone."""
    spine = spark.sql(
        "SELECT timestamp_seconds(9) AS ts, 1 AS `a.b`, 'x' AS `c``d`, 2 AS twice, 3 AS twice, "
        "map('m', array(1, NULL)) AS m, struct(1 AS i, struct('q' AS j) AS o) AS st, "
        "CAST(1.50 AS DECIMAL(20,5)) AS d, X'00FF' AS b, INTERVAL '1' DAY AS i, "
        "TIMESTAMP_NTZ'2020-01-01 00:00:00' AS n, DATE'2020-01-02' AS da, "
        "CAST(NULL AS STRUCT<z: INT NOT NULL>) AS nothing"
    )
    df = spark.sql("SELECT timestamp_seconds(5) AS ts, id FROM range(3)")
    query = weft.Query("q", aggs={"n": "count(*)"}, window=window("1 hour"))
    found = weft.training_set(spine, query, df)
    assert found.columns == [*spine.columns, "q_n"]
    assert [f.dataType.simpleString() for f in found.schema.fields[:-1]] == [
        f.dataType.simpleString() for f in spine.schema.fields
    ]
    (row,), (wanted,) = found.collect(), spine.collect()
    assert tuple(row) == (*wanted, 3)


def test_empty_sides(spark):
    df, spine = events_of(spark), spine_of(spark)
    none = weft.training_set(spine.where("false"), QUERIES, df, at="at")
    assert none.collect() == []
    assert len(none.columns) > 20
    without = weft.training_set(spine, QUERIES, df.where("false"), at="at")
    assert_same(without, by_join(spine, QUERIES, df.where("false")))


def test_rows_without_a_time_count_nowhere(spark):
    df = spark.sql("SELECT IF(id > 0, timestamp_seconds(5), NULL) AS ts FROM range(3)")
    spine = spark.sql("SELECT timestamp_seconds(9) AS ts")
    query = weft.Query("q", aggs={"n": "count(*)"}, window=window("1 hour"))
    assert weft.training_set(spine, query, df).first()["q_n"] == 2


def test_an_expression_is_evaluated_only_on_rows_that_its_query_takes(spark):
    """In ANSI mode each of these fails on some row that another query reads."""
    df = spark.sql("SELECT timestamp_seconds(5) AS ts, id AS x, CAST(id AS STRING) || "
                   "IF(id < 3, 'no', '') AS s FROM range(6)")  # fmt: skip
    spine = spark.sql("SELECT timestamp_seconds(9) AS ts, 5 AS number")
    queries = [
        weft.Query("all", aggs={"n": "count(*)"}, window=window("1 hour")),
        weft.Query("by_x", aggs={"t": "sum(60 / x)"}, window=window("1 hour"), where="x <> 0"),
        weft.Query("some", aggs={"t": "sum(60 / x) FILTER (WHERE x > 4)"}, window=window("1 hour")),
        weft.Query("key", aggs={"n": "count(*)"}, by=["CAST(s AS INT) AS number"], where="x >= 3",
                   window=window("1 hour")),
    ]  # fmt: skip
    (row,) = weft.training_set(spine, queries, df).collect()
    assert row["all_n"] == 6
    assert row["by_x_t"] == pytest.approx(60 + 30 + 20 + 15 + 12)
    assert row["some_t"] == 12
    assert row["key_n"] == 1


def test_what_slices_cannot_hold_is_joined_in_spark(spark):
    df = events_of(spark, 9).withColumn("c", F.expr("collate(k, 'UTF8_LCASE')"))
    df = df.withColumn("m", F.expr("map(coalesce(k, ''), g)")).cache()
    spine = spine_of(spark, 9).withColumn("c", F.expr("collate(upper(k), 'UTF8_LCASE')"))
    queries = [
        weft.Query("coll", aggs={"n": "count(*)", "hi": "max(x)"}, window=window("30 seconds"),
                   by=["c"], where="x > 0"),
        weft.Query("wide", aggs={"mean": "avg(CAST(d AS DECIMAL(30,4)))"},
                   window=window("40 seconds"), by=["k"]),
        weft.Query("maps", aggs={"n": "count(DISTINCT m)"}, window=window("30 seconds"), by=["k"]),
        QUERIES[1],
    ]  # fmt: skip
    found = weft.training_set(spine, queries, df, at="at", delay="3 seconds", resolution="slide")
    assert_same(found, by_join(spine, queries, df, delay=3_000_000, slide=True))


def test_a_spine_may_be_made_of_the_rows_themselves(spark):
    """This holds both for shared values and for those that are joined in Spark."""
    df = events_of(spark, 10, rows=80).withColumn("c", F.expr("collate(k, 'UTF8_LCASE')")).cache()
    queries = [
        weft.Query(f"by_{key}", aggs={"n": "count(*)", "t": "sum(x)"}, window=window("30 seconds"),
                   by=[key]) for key in ("k", "c")
    ]  # fmt: skip
    found = weft.training_set(df, queries, df)
    assert_same(found, by_join(df, queries, df, at="ts"))


def test_queries_may_be_sql_and_have_names(spark):
    df, spine = events_of(spark), spine_of(spark).limit(5)
    sql = "SELECT k, count(*) AS n FROM t GROUP BY window(ts, '10 seconds'), k"
    hour = weft.Query("h", aggs={"n": "count(*)"}, window=window("1 hour"))
    named = f"-- name: mine\n{sql}"
    assert weft.training_set(spine, sql, df, at="at").columns[-1] == "q1_n"
    mixed = weft.training_set(spine, [hour, sql, named], df, at="at")
    assert mixed.columns[4:] == ["h_n", "q2_n", "mine_n"]
    mapped = weft.training_set(spine, {"a": sql, "h": hour}, df, at="at")
    assert mapped.columns[4:] == ["a_n", "h_n"]
    query = weft.Query("a", aggs={"n": "count(*)"}, window=window("10 seconds"), by=["k"])
    assert_same(mapped.drop("h_n"), by_join(spine, [query], df))


def test_sql_is_untrusted(spark):
    df, spine = events_of(spark), spine_of(spark)
    call = "reflect('java.lang.System', 'getenv', k)"
    sql = f"SELECT max({call}) AS n FROM t GROUP BY window(ts, '1 hour')"
    with pytest.raises(weft.WeftError, match="reflect"):
        weft.training_set(spine, sql, df, at="at")
    own = "SELECT max(my_own(x)) AS n FROM t GROUP BY window(ts, '1 hour')"
    with pytest.raises(weft.WeftError, match="my_own"):
        weft.training_set(spine, own, df, at="at")
    spark.udf.register("my_own", lambda x: None if x is None else x + 1, "long")
    found = weft.training_set(spine, own, df, at="at", trusted=True)
    assert found.where("at IS NOT NULL").agg(F.max("q1_n")).first()[0] == 12


def test_a_total_that_overflows_names_its_query(spark):
    df = spark.sql("SELECT timestamp_seconds(5) AS ts, 9000000000000000000L AS x FROM range(2)")
    spine = spark.sql("SELECT timestamp_seconds(9) AS ts")
    query = weft.Query("much", aggs={"t": "sum(x)"}, window=window("1 hour"))
    with pytest.raises(Exception, match="query 'much': sum overflows"):
        weft.training_set(spine, query, df).collect()


def test_what_is_refused_says_what_is_wrong(spark):
    df, spine = events_of(spark), spine_of(spark)
    hour = window("1 hour")
    count = {"n": "count(*)"}

    def refuse(error: type[Exception], match: str, query: Any = None, **options: Any) -> None:
        asked = weft.Query("q", aggs=count, window=hour) if query is None else query
        given = {"spine": spine, "df": df, "at": "at"} | options
        with pytest.raises(error, match=match):
            weft.training_set(given.pop("spine"), asked, given.pop("df"), **given)

    refuse(ExpressionError, "query 'q': the spine has no column 's', which is a key of the query; "
           "it has 'k', 'at'", weft.Query("q", aggs=count, window=hour, by=["s"]))  # fmt: skip
    refuse(ExpressionError, "query 'q': key 'label' is of type string, and the spine's column of "
           "type bigint: cast",
           weft.Query("q", aggs=count, window=hour, by=["k AS label"]))  # fmt: skip
    refuse(ExpressionError, "key 'k': the spine has 2 columns",
           weft.Query("q", aggs=count, window=hour, by=["k"]),
           spine=spine.selectExpr("*", "1 AS K"))  # fmt: skip
    refuse(QueryError, "query 'q': having='n > 1'",
           weft.Query("q", aggs=count, window=hour, having="n > 1"))  # fmt: skip
    refuse(QueryError, "query 'q': a training set needs a fixed range",
           weft.Query("q", aggs=count, window=weft.Session(gap="1 hour")))  # fmt: skip
    refuse(WorkloadError, "query 'q': its column 'q_n' has the name of a column of the spine",
           spine=spine.withColumnRenamed("g", "Q_n"))  # fmt: skip
    refuse(WorkloadError, "column 'a_b_n' has the name of a column of query 'a'",
           [weft.Query("a", aggs={"b_n": "count(*)"}, window=hour),
            weft.Query("a_b", aggs=count, window=hour)])  # fmt: skip
    refuse(
        WorkloadError, "two queries are named 'q'", [weft.Query("q", aggs=count, window=hour)] * 2
    )
    refuse(WorkloadError, "at least one query", [])
    refuse(QueryError, "3 is neither a Query nor SQL", [3])
    refuse(WindowError, "delay='-1 second' would count rows", delay="-1 second")
    refuse(WindowError, "delay=5: the time column 'ts' is of kind timestamp", delay=5)
    refuse(EngineError, "resolution='hop': accepted are 'exact', 'slide'", resolution="hop")
    refuse(EngineError, "at='when' is not a column", at="when")
    refuse(EngineError, "at='g' of the spine is of kind integer, and the time column 'ts' of kind "
           "timestamp", at="g")  # fmt: skip
    refuse(
        EngineError,
        "is on an integer axis",
        weft.Query("q", aggs=count, window=weft.Window(range=5)),
    )
    refuse(EngineError, "its window is over 'g'",
           "SELECT count(*) AS n FROM t GROUP BY window(g, '1 hour')")  # fmt: skip
    refuse(EngineError, "column 'months' of the spine is of type interval month",
           spine=spine.selectExpr("*", "INTERVAL '1' MONTH AS months"))  # fmt: skip
    stream = spark.readStream.format("rate").load().selectExpr("timestamp AS ts", "value AS x")
    refuse(EngineError, "the rows are a stream", df=stream)
    refuse(EngineError, "the spine is a stream", spine=stream, at="ts")
