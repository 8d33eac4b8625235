"""Rows and queries on which an engine once gave other answers than Spark, or none.

Every engine runs all of them together, in one tree: batches in `test_answers_as_spark.py`, streams
in `test_streams_as_spark.py`.
"""

from __future__ import annotations

from pathlib import Path

from engines import Rows
from pyspark.sql import DataFrame, SparkSession

from weft.query.query import Query
from weft.query.window import Window

SLIDING = Window(range="2 minutes", slide="30 seconds")
NAMES = ("k0", "start", "p0_n", "slice", "fragment", "weft_partials", "bucket", "n.m", "a b")
"""Names that weft uses internally, and names that need quotes."""
_ZERO = "CASE id % 4 WHEN 0 THEN 0D WHEN 1 THEN -0D WHEN 2 THEN double('NaN') END"
COLUMNS = (
    *(f"CAST(id % {n % 3 + 2} AS INT) AS `{name}`" for n, name in enumerate(NAMES)),
    # Keys that Spark normalises when it groups by them.
    f"{_ZERO} AS d",
    f"CAST({_ZERO} AS FLOAT) AS f",
    f"CASE WHEN id % 5 > 0 THEN named_struct('x', {_ZERO}, 'y', id % 2) END AS st",
    f"CASE WHEN id % 5 > 0 THEN array({_ZERO}, 1D) END AS ar",
    f"array(named_struct('z', array({_ZERO}))) AS deep",
    # Expressions that fail on rows that the query does not read.
    "id % 4 AS x",
    "CASE id % 3 WHEN 0 THEN 'n/a' ELSE '7' END AS s",
    # Large numbers.
    "1700000000000000L + id AS micros",
    "9007199254740993L + id * 1000 AS past",
    "CASE id % 3 WHEN 0 THEN 9223372036854775807L WHEN 1 THEN -1L ELSE 1L END AS near",
    "make_dt_interval(0, 0, CAST(id AS INT) - 9) AS dt",
)
_N = {"n": "count(*)"}
NAMED = [
    Query(
        f"named_{number}",
        aggs={"n": "count(*)", "r": f"sum(`{some[0]}`) / count(*)"},
        window=SLIDING,
        by=[f"`{name}`" for name in some],
        having=" AND ".join(f"`{name}` >= 0" for name in some) + " AND window.start IS NOT NULL",
    )
    for number, some in enumerate((NAMES[:3], NAMES[3:6], NAMES[6:]))
]
KEYS = [
    Query(f"by_{key}", aggs=_N, window=SLIDING, by=[key]) for key in ("d", "f", "st", "ar", "deep")
]
GUARDED = [
    Query("all", aggs={"n": "count(*)", "m": "max(x)"}, window=SLIDING, by=["x"]),
    Query("where", aggs={"v": "sum(100 DIV x)"}, window=SLIDING, where="x <> 0"),
    Query("two", aggs={"v": "sum(100 DIV x)"}, window=SLIDING, where="x > 1"),
    Query("both", aggs={"v": "sum(100 DIV x)"}, window=SLIDING, where="x <> 0 AND 100 DIV x > 30"),
    Query("filter", aggs={"v": "sum(100 DIV x) FILTER (WHERE x <> 0)"}, window=SLIDING),
    Query("cast", aggs={"v": "max(CAST(s AS INT))"}, window=SLIDING, where="s <> 'n/a'"),
    Query("key", aggs=_N, window=SLIDING, by=["100 DIV x AS k"], where="x <> 0"),
    Query("cast_key", aggs=_N, window=SLIDING, by=["CAST(s AS INT) AS k"], where="s = '7'"),
]
"""These would fail on rows that only other queries of the same tree read (ANSI mode)."""
LARGE = [
    Query("micros", aggs={"s": "sum(micros)", "a": "avg(micros)"}, window=SLIDING, by=["x"]),
    Query(
        "spread",
        aggs={"d": "stddev(past) < 1e6", "p": "product(past) > 1e15", "c": "corr(past, x) > 2"},
        window=SLIDING,
    ),
    Query("tried", aggs={"t": "try_sum(near)"}, window=SLIDING),
    Query("bits", aggs={"o": "bit_or(near)", "e": "bit_xor(near)"}, window=SLIDING, by=["x"]),
    Query("interval", aggs={"lo": "min(dt)", "hi": "max(dt)", "s": "sum(dt)"}, window=SLIDING),
]
FIELDS = [
    Query("field", aggs={"v": "max(struct(x, micros)).micros"}, window=SLIDING, by=["s"]),
    Query("of_field", aggs={"v": "sum(struct(past, x AS y).y)"}, window=SLIDING, by=["s"]),
]
"""Fields of aggregates and of arguments, whose names are not columns."""
QUERIES = [*NAMED, *KEYS, *GUARDED, *LARGE, *FIELDS]

ODD_COLUMNS = (
    "make_ym_interval(0, CAST(id AS INT) - 9) AS ym",
    "CASE id % 3 WHEN 0 THEN 'a' WHEN 1 THEN 'A' ELSE 'b' END COLLATE UTF8_LCASE AS c",
    "map('x', id % 2) AS m",
    f"CAST('{'9' * 38}' AS DECIMAL(38, 0)) AS nines",
)
ODD = [
    Query("ym", aggs={"v": "CAST(sum(ym) AS STRING)"}, window=SLIDING),
    Query("by_c", aggs=_N, window=SLIDING, by=["c"]),
    Query("of_c", aggs={"n": "count(DISTINCT c)", "lo": "upper(min(c))"}, window=SLIDING),
    Query("by_m", aggs=_N, window=SLIDING, by=["m"]),
]
"""Values that only Spark itself can compare or store."""


def timed(spark: SparkSession, *columns: str, rows: int = 40) -> list[DataFrame]:
    """Three micro-batches of rows five seconds apart, and a row that closes all windows."""
    whole = spark.range(rows).selectExpr(
        "id", "timestamp_seconds(1700000000 + id * 5) AS ts", *columns
    )
    third = rows // 3
    cuts = [(0, third), (third, 2 * third), (2 * third, rows)]
    some = [whole.where(f"id >= {low} AND id < {high}").drop("id") for low, high in cuts]
    end = whole.where("id = 0").drop("id")
    names = [f"`{name}`" for name in end.columns if name != "ts"]
    return [*some, end.selectExpr("timestamp_seconds(1750000000) AS ts", *names)]


def integer_rows(spark: SparkSession, folder: Path, base: int, step: int) -> Rows:
    """Rows on an integer axis, from a start in steps."""
    whole = spark.range(60).selectExpr("id", f"{base}L + id * {step}L AS i", "id % 3 AS k")
    some = [whole.where(f"id DIV 20 = {n}").drop("id") for n in range(3)]
    end = spark.range(1).selectExpr(f"{base}L + 1000 * {step}L AS i", "0L AS k")
    return Rows(folder, *some, end, time="i", kind="integer")


def integer_query(step: int) -> Query:
    """A query over such rows."""
    window = Window(range=12 * step, slide=4 * step)
    return Query("q", aggs={"n": "count(*)", "s": "sum(k)"}, window=window, by=["k"])


MICROS, NANOS = (1_700_000_000_000_000, 700_000), (1_700_000_000_000_000_000, 700_000_000)
