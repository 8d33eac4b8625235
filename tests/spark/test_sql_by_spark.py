"""Spark SQL that weft accepts gives the rows of the query's native form when Spark runs it."""

from __future__ import annotations

import datetime as dt
import random
from pathlib import Path
from typing import Any

import pytest
import yaml
from agree import INTERPRETED, settings
from pyspark.sql import DataFrame, SparkSession

from weft.errors import QueryError
from weft.plan.time_axis import TimeAxis
from weft.query.sql import parse_queries, parse_query, read_statements, write_query
from weft.spark.loom import Loom
from weft.spark.results.selected import selected
from weft.spark.verify.native import native

TEXTS = Path(__file__).parent.parent / "query" / "sql" / "texts"
ACCEPTED = [entry["sql"] for entry in yaml.safe_load((TEXTS / "accepted_spark.yaml").read_text())]
SCHEMA = """
    ts timestamp, symbol string, side string, k string, s string, name string, user string,
    uid string, price double, volume int, x double, y double, a int, b int, c int, d date,
    ok boolean, `net price` int, hop int, lim int
"""
NOT_THERE = ("db.", "cat.", "event", "xs", "m['k']", "to_timestamp", "FROM hop", "a.b.c")
"""Tables, columns and types that the view does not have."""
NOT_SPARK = ("INTERVAL", "product(", "'10 microseconds'", "first(x)")
"""SQL that only weft accepts, that makes too many windows, or that depends on the order of rows."""
RUN = [text for text in ACCEPTED if not any(part in text for part in NOT_THERE + NOT_SPARK)]


@pytest.fixture(scope="module")
def trades(spark: SparkSession) -> DataFrame:
    chance = random.Random(6)
    begin = dt.datetime(2024, 1, 1)
    rows: list[tuple[Any, ...]] = []
    for n in range(150):
        # Every third row lies exactly on a minute, so that edges are met.
        second = chance.randrange(0, 7200) // 60 * 60 if n % 3 == 0 else chance.random() * 7200
        word = chance.choice(["ab", "b", "it's", "X", None])
        price, whole = chance.choice([1.5, 3.0, 99.0, None]), chance.randrange(0, 6)
        rows.append(
            (begin + dt.timedelta(seconds=second), chance.choice("ABX"), chance.choice("BbS"),
             word, word, word, word, word, price, chance.randrange(0, 1000), price, float(whole),
             whole, chance.choice([whole, None]), 3, dt.date(2024, 1, whole + 1), whole > 2,
             whole, whole, whole)
        )  # fmt: skip
    frame = spark.createDataFrame(rows, SCHEMA).cache()
    frame.createOrReplaceTempView("t")
    frame.createOrReplaceTempView("trades")
    return frame


def rows(frame: DataFrame, columns: list[str]) -> list[str]:
    return sorted(repr(_plain(row)) for row in frame.select(*columns).collect())


def _plain(row: Any) -> Any:
    """A value to compare: sets sorted, doubles to nine digits, as sums are added in any order."""
    if isinstance(row, float):
        return f"{row:.9g}"
    if isinstance(row, list):
        return sorted(map(str, row))
    return tuple(map(_plain, row)) if isinstance(row, tuple) else row


def test_most_of_the_accepted_texts_are_run() -> None:
    assert len(RUN) > 50


@pytest.mark.parametrize("text", RUN)
def test_spark_answers_as_the_query_does(spark: SparkSession, trades: DataFrame, text: str) -> None:
    query = parse_query(text)
    (statement,) = read_statements(text)
    with settings(spark, INTERPRETED):
        plain = spark.sql(statement.sql)
        shown = selected(native(trades, TimeAxis("ts"), query), query)
        assert len(shown.columns) == len(plain.columns)
        names = [f"c{at}" for at in range(len(plain.columns))]
        found = rows(plain.toDF(*names), names)
        assert found == rows(shown.toDF(*names), names)
        assert found or query.having is not None or query.where is not None


@pytest.mark.parametrize("text", RUN[:12])
def test_what_weft_writes_runs_in_spark(spark: SparkSession, trades: DataFrame, text: str) -> None:
    query = parse_query(text)
    with settings(spark, INTERPRETED):
        expected = native(trades, TimeAxis("ts"), query)
        found = spark.sql(write_query(query, "spark"))
        assert found.columns == expected.columns
        columns = [f"`{name}`" for name in found.columns]
        assert rows(found, columns) == rows(expected, columns)


def test_a_loom_takes_every_dialect(spark: SparkSession, trades: DataFrame) -> None:
    """Azure's windows exclude their start and include their end; the others are [start, end)."""
    texts = {
        "spark": "SELECT k, count(*) AS n FROM t GROUP BY window(ts, '10 minutes'), k",
        "cql": "SELECT k, count(*) AS n FROM t [RANGE '12 min' SLIDE '5 min'] GROUP BY k",
        "asa": "SELECT k, COUNT(*) AS n FROM t TIMESTAMP BY ts "
        "GROUP BY k, TumblingWindow(minute, 10)",
        "flink": "SELECT k, count(*) AS n FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), "
        "INTERVAL '10' MINUTES)) GROUP BY window_start, window_end, k",
    }  # fmt: skip
    loom = Loom(trades, time="ts")
    for name, text in texts.items():
        assert loom.add(text, name=name).name == name
    with settings(spark, INTERPRETED), loom.run() as results:
        minutes = {
            name: {
                (row["window"]["start"], row["window"]["end"], row["k"]): row["n"]
                for row in results[name].collect()
            }
            for name in texts
        }
    assert minutes["spark"] == minutes["flink"]
    times = [(row["ts"], row["k"]) for row in trades.collect()]
    tick, ten = dt.timedelta(microseconds=1), dt.timedelta(minutes=10)
    for (start, end, k), n in minutes["asa"].items():
        begin = start - tick
        assert begin.minute % 10 == 0
        assert begin.second == begin.microsecond == 0
        assert end == start + ten
        assert n == sum(begin < time <= begin + ten and key == k for time, key in times)
    for (start, end, k), n in minutes["cql"].items():
        assert end.minute % 5 == 0
        assert end.second == 0
        assert end - start == dt.timedelta(minutes=12)
        assert n == sum(start <= time < end and key == k for time, key in times)


def test_a_statement_of_several_queries_is_added_query_by_query(trades: DataFrame) -> None:
    text = """SELECT COUNT(*) AS n FROM t GROUP BY
        Windows(Window('a', TumblingWindow(minute, 1)), Window('b', TumblingWindow(minute, 2)))"""
    loom = Loom(trades, time="ts")
    with pytest.raises(QueryError, match=r"has 2 queries.*'q1_a', 'q1_b'.*parse_queries"):
        loom.add(text)
    assert loom.queries == ()
    for query in parse_queries(text, name="n"):
        loom.add(query)
    assert [query.name for query in loom.queries] == ["n_a", "n_b"]
