"""Batches on the rows and queries on which an engine once differed from Spark."""

from __future__ import annotations

import pytest
from engines import BATCHES, Rows, answers, assert_answers
from spark_situations import (
    COLUMNS,
    NANOS,
    ODD,
    ODD_COLUMNS,
    QUERIES,
    SLIDING,
    integer_query,
    integer_rows,
    timed,
)

from weft.errors import ExpressionError
from weft.query.query import Query
from weft.query.window import Window


@pytest.fixture(scope="module")
def situations(spark, tmp_path_factory):
    return Rows(tmp_path_factory.mktemp("situations") / "in", *timed(spark, *COLUMNS))


@pytest.mark.parametrize("engine", BATCHES)
def test_every_situation_in_one_tree(situations, tmp_path, engine):
    assert_answers(engine, situations, QUERIES, tmp_path)


@pytest.mark.parametrize("engine", BATCHES)
def test_what_only_spark_compares_runs_as_it_is(spark, tmp_path, engine):
    rows = Rows(tmp_path / "in", *timed(spark, *ODD_COLUMNS))
    plain = Query("plain", aggs={"n": "count(*)"}, window=SLIDING)
    assert_answers(engine, rows, [*ODD[:3], plain], tmp_path)


def test_nanoseconds_are_times(spark, tmp_path):
    base, step = NANOS
    rows = integer_rows(spark, tmp_path / "in", base, step)
    assert_answers("batch", rows, [integer_query(step)], tmp_path)


def test_a_decimal_total_beyond_its_digits_is_an_error_and_no_other_number(spark, tmp_path):
    rows = Rows(tmp_path / "in", *timed(spark, *ODD_COLUMNS))
    query = Query("q", aggs={"s": "sum(nines)"}, window=SLIDING)
    with pytest.raises(Exception, match=r"overflow|OVERFLOW|NUMERIC_VALUE_OUT_OF_RANGE"):
        answers("batch", rows, [query], tmp_path)


def test_a_decimal_total_beyond_its_digits_is_null_with_ansi_off(spark, tmp_path):
    rows = Rows(tmp_path / "in", *timed(spark, *ODD_COLUMNS))
    query = Query("q", aggs={"s": "sum(nines)", "n": "count(*)"}, window=SLIDING)
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
