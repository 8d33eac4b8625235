"""Situations in which an engine once answered otherwise than Spark, or not at all: each in all."""

from __future__ import annotations

import pytest
from engines import BATCHES, ENGINES, STREAMS, Rows, answers, assert_answers

from weft.errors import EngineError, ExpressionError
from weft.query.query import Query
from weft.query.window import Window

MINUTE = Window(range="1 minute")
SLIDING = Window(range="2 minutes", slide="30 seconds")


def timed(spark, *columns: str, rows: int = 40, seconds: int = 5):
    """Three micro-batches of rows so many seconds apart, and a row that closes every window."""
    whole = spark.range(rows).selectExpr(
        "id", f"timestamp_seconds(1700000000 + id * {seconds}) AS ts", *columns
    )
    third = rows // 3
    cuts = [(0, third), (third, 2 * third), (2 * third, rows)]
    some = [whole.where(f"id >= {low} AND id < {high}").drop("id") for low, high in cuts]
    end = whole.where("id = 0").drop("id")
    names = [f"`{name}`" for name in end.columns if name != "ts"]
    return [*some, end.selectExpr("timestamp_seconds(1750000000) AS ts", *names)]


@pytest.mark.parametrize("engine", ["batch", *STREAMS])
@pytest.mark.parametrize(
    ("base", "step"),
    [
        pytest.param(0, 7, id="small numbers"),
        pytest.param(1_700_000_000_000_000, 700_000, id="epoch microseconds"),
        pytest.param(1_700_000_000_000_000_000, 700_000_000, id="epoch nanoseconds"),
    ],
)
def test_integers_of_any_size_are_times(spark, tmp_path, engine, base, step):
    """Spark's watermark is a timestamp, which such numbers are not; rows were lost in silence."""
    whole = spark.range(60).selectExpr("id", f"{base}L + id * {step}L AS i", "id % 3 AS k")
    some = [whole.where(f"id DIV 20 = {n}").drop("id") for n in range(3)]
    end = spark.range(1).selectExpr(f"{base}L + 1000 * {step}L AS i", "0L AS k")
    rows = Rows(tmp_path / "in", *some, end, time="i", kind="integer")
    window = Window(range=12 * step, slide=4 * step)
    queries = [Query("q", aggs={"n": "count(*)", "s": "sum(k)"}, window=window, by=["k"])]
    assert_answers(engine, rows, queries, tmp_path, watermark=str(step))


@pytest.mark.parametrize("engine", ENGINES)
def test_names_that_weft_uses_inside(spark, tmp_path, engine):
    names = ["k0", "start", "p0_n", "slice", "fragment", "weft_partials", "bucket", "n.m", "a b"]
    columns = [f"CAST(id % {n % 3 + 2} AS INT) AS `{name}`" for n, name in enumerate(names)]
    rows = Rows(tmp_path / "in", *timed(spark, *columns))
    queries = [
        Query(
            f"q{number}",
            aggs={"n": "count(*)", "r": f"sum(`{name}`) / count(*)"},
            window=SLIDING,
            by=[f"`{name}`"],
            having=f"`{name}` > 0 AND n > 0 AND window.start IS NOT NULL",
        )
        for number, name in enumerate(names)
    ]
    assert_answers(engine, rows, queries, tmp_path)


@pytest.mark.parametrize("engine", ENGINES)
def test_keys_are_grouped_as_spark_groups_them(spark, tmp_path, engine):
    zero = "CASE id % 4 WHEN 0 THEN 0D WHEN 1 THEN -0D WHEN 2 THEN double('NaN') END"
    rows = Rows(
        tmp_path / "in",
        *timed(
            spark,
            f"{zero} AS d",
            f"CAST({zero} AS FLOAT) AS f",
            f"CASE WHEN id % 5 > 0 THEN named_struct('x', {zero}, 'y', id % 2) END AS st",
            f"CASE WHEN id % 5 > 0 THEN array({zero}, 1D) END AS ar",
            f"array(named_struct('z', array({zero}))) AS deep",
        ),
    )
    n = {"n": "count(*)"}
    keys = ("d", "f", "st", "ar", "deep")
    queries = [Query(f"by_{key}", aggs=n, window=SLIDING, by=[key]) for key in keys]
    assert_answers(engine, rows, queries, tmp_path)


@pytest.mark.parametrize("engine", ENGINES)
def test_what_a_query_keeps_away_from_an_expression_is_kept_away(spark, tmp_path, engine):
    """Others in the same tree take every row, on which these would fail (ANSI mode)."""
    rows = Rows(
        tmp_path / "in",
        *timed(spark, "id % 4 AS x", "CASE id % 3 WHEN 0 THEN 'n/a' ELSE '7' END AS s"),
    )
    n = {"n": "count(*)"}
    queries = [
        Query("all", aggs={"n": "count(*)", "m": "max(x)"}, window=SLIDING, by=["x"]),
        Query("where", aggs={"v": "sum(100 DIV x)"}, window=SLIDING, where="x <> 0"),
        Query("two", aggs={"v": "sum(100 DIV x)"}, window=SLIDING, where="x > 1"),
        Query("filter", aggs={"v": "sum(100 DIV x) FILTER (WHERE x <> 0)"}, window=SLIDING),
        Query("cast", aggs={"v": "max(CAST(s AS INT))"}, window=SLIDING, where="s <> 'n/a'"),
        Query("key", aggs=n, window=SLIDING, by=["100 DIV x AS k"], where="x <> 0"),
        Query("cast_key", aggs=n, window=SLIDING, by=["CAST(s AS INT) AS k"], where="s = '7'"),
    ]
    assert_answers(engine, rows, queries, tmp_path)


@pytest.mark.parametrize("engine", ENGINES)
def test_large_numbers_that_overflow_nothing(spark, tmp_path, engine):
    rows = Rows(
        tmp_path / "in",
        *timed(
            spark,
            "1700000000000000L + id AS micros",
            "CASE id % 3 WHEN 0 THEN 9223372036854775807L WHEN 1 THEN -1L ELSE 1L END AS near",
            "CAST(id % 7 AS INT) AS k",
        ),
    )
    queries = [
        Query("micros", aggs={"s": "sum(micros)", "a": "avg(micros)"}, window=SLIDING, by=["k"]),
        Query(
            "spread",
            aggs={"d": "stddev(micros) < 1000", "p": "product(micros) > 1e15"},
            window=SLIDING,
        ),
        Query("tried", aggs={"t": "try_sum(near)"}, window=SLIDING),
        Query("bits", aggs={"o": "bit_or(near)", "x": "bit_xor(near)"}, window=SLIDING, by=["k"]),
    ]
    assert_answers(engine, rows, queries, tmp_path)


@pytest.mark.parametrize("engine", ENGINES)
def test_intervals(spark, tmp_path, engine):
    rows = Rows(tmp_path / "in", *timed(spark, "make_dt_interval(0, 0, CAST(id AS INT) - 9) AS dt"))
    texts = {name: f"CAST({name}(dt) AS STRING)" for name in ("min", "max", "sum")}
    queries = [Query("q", aggs={f"v_{name}": sql for name, sql in texts.items()}, window=SLIDING)]
    queries += [Query("plain", aggs={"lo": "min(dt)", "s": "sum(dt)"}, window=SLIDING)]
    assert_answers(engine, rows, queries, tmp_path)


def odd_rows(spark, folder):
    return Rows(
        folder,
        *timed(
            spark,
            "make_ym_interval(0, CAST(id AS INT) - 9) AS ym",
            "CASE id % 3 WHEN 0 THEN 'a' WHEN 1 THEN 'A' ELSE 'b' END COLLATE UTF8_LCASE AS c",
            "map('x', id % 2) AS m",
        ),
    )


ODD = [
    Query("ym", aggs={"v": "CAST(sum(ym) AS STRING)"}, window=SLIDING),
    Query("by_c", aggs={"n": "count(*)"}, window=SLIDING, by=["c"]),
    Query("of_c", aggs={"n": "count(DISTINCT c)", "lo": "upper(min(c))"}, window=SLIDING),
    Query("by_m", aggs={"n": "count(*)"}, window=SLIDING, by=["m"]),
]


@pytest.mark.parametrize("engine", BATCHES)
def test_what_only_spark_compares_runs_as_it_is_in_a_batch(spark, tmp_path, engine):
    rows = odd_rows(spark, tmp_path / "in")
    plain = Query("plain", aggs={"n": "count(*)"}, window=SLIDING)
    assert_answers(engine, rows, [*ODD[:3], plain], tmp_path)


@pytest.mark.parametrize("query", ODD, ids=lambda query: query.name)
def test_what_only_spark_compares_is_refused_on_a_stream(spark, tmp_path, query):
    rows = odd_rows(spark, tmp_path / "in")
    with pytest.raises(
        EngineError, match=f"query '{query.name}' cannot run on a stream: .*: use|group"
    ):
        answers("append", rows, [query], tmp_path)


@pytest.mark.parametrize("engine", ["batch", "append"])
def test_a_decimal_total_beyond_its_digits_is_an_error_and_no_other_number(spark, tmp_path, engine):
    nines = "9" * 38
    rows = Rows(tmp_path / "in", *timed(spark, f"CAST('{nines}' AS DECIMAL(38, 0)) AS d"))
    query = Query("q", aggs={"s": "sum(d)"}, window=SLIDING)
    with pytest.raises(Exception, match=r"overflow|OVERFLOW|NUMERIC_VALUE_OUT_OF_RANGE"):
        answers(engine, rows, [query], tmp_path)


def test_a_decimal_total_beyond_its_digits_is_null_with_ansi_off(spark, tmp_path):
    nines = "9" * 38
    rows = Rows(tmp_path / "in", *timed(spark, f"CAST('{nines}' AS DECIMAL(38, 0)) AS d"))
    query = Query("q", aggs={"s": "sum(d)", "n": "count(*)"}, window=SLIDING)
    spark.conf.set("spark.sql.ansi.enabled", "false")
    try:
        assert_answers("batch", rows, [query], tmp_path)
    finally:
        spark.conf.unset("spark.sql.ansi.enabled")


def test_columns_that_differ_in_case_only(spark, tmp_path):
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        rows = Rows(tmp_path / "in", *timed(spark, "id AS a", "-id AS A"))
        with pytest.raises(ExpressionError, match="column 'a' is called 'a' and 'A'"):
            answers("batch", rows, [Query("q", aggs={"m": "max(A)"}, window=SLIDING)], tmp_path)
    finally:
        spark.conf.unset("spark.sql.caseSensitive")


def test_double_quotes_that_mean_names(spark, tmp_path):
    rows = Rows(tmp_path / "in", *timed(spark, "CAST(id AS STRING) AS s"))
    query = Query("q", aggs={"n": "count(*)"}, window=SLIDING, where="\"s\" = '1'")
    spark.conf.set("spark.sql.ansi.doubleQuotedIdentifiers", "true")
    try:
        with pytest.raises(ExpressionError, match="double quotes mean a name"):
            answers("batch", rows, [query], tmp_path)
    finally:
        spark.conf.unset("spark.sql.ansi.doubleQuotedIdentifiers")


def test_times_beyond_what_is_counted_are_an_error_and_not_no_rows(spark, tmp_path):
    some = spark.range(9).selectExpr("9000000000000000000L + id AS i")
    rows = Rows(tmp_path / "in", some, some, time="i", kind="integer")
    query = Query("q", aggs={"n": "count(*)"}, window=Window(range=4, slide=2))
    other = Query("o", aggs={"n": "max(i)"}, window=Window(range=6, slide=3))
    with pytest.raises(Exception, match="between -2"):
        answers("batch", rows, [query, other], tmp_path)
