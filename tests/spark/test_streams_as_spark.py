"""Streams on the rows and queries on which an engine once differed from Spark."""

from __future__ import annotations

import pytest
from engines import STREAMS, Rows, answers, assert_answers, expected
from spark_situations import (
    COLUMNS,
    MICROS,
    NANOS,
    ODD,
    ODD_COLUMNS,
    QUERIES,
    SLIDING,
    integer_query,
    integer_rows,
    timed,
)

from weft.errors import EngineError
from weft.query.query import Query


@pytest.fixture(scope="module")
def situations(spark, tmp_path_factory):
    return Rows(tmp_path_factory.mktemp("situations") / "in", *timed(spark, *COLUMNS))


@pytest.mark.parametrize(
    "engine",
    # One of them in `make test`, the others in `make test-nightly`.
    [pytest.param(e, marks=[] if e == "append" else pytest.mark.nightly) for e in STREAMS],
)
def test_every_situation_in_one_tree(situations, tmp_path, engine):
    assert_answers(engine, situations, QUERIES, tmp_path)


@pytest.mark.parametrize(
    ("engine", "base", "step"),
    [
        pytest.param("append", *MICROS, id="microseconds"),
        pytest.param("restart", *NANOS, id="nanoseconds"),
        pytest.param("update", 0, 7, id="small numbers"),
    ],
)
def test_integers_of_any_size_are_times(spark, tmp_path, engine, base, step):
    """Spark's watermark is a timestamp, which cannot hold such numbers; rows were lost silently."""
    rows = integer_rows(spark, tmp_path / "in", base, step)
    assert_answers(engine, rows, [integer_query(step)], tmp_path, watermark=str(step))


@pytest.mark.parametrize("query", ODD[:3], ids=lambda query: query.name)
def test_what_only_spark_compares_is_refused(spark, tmp_path, query):
    rows = Rows(tmp_path / "in", *timed(spark, *ODD_COLUMNS))
    with pytest.raises(EngineError, match=f"query '{query.name}' cannot run on a stream: .*: "):
        answers("append", rows, [query], tmp_path)


def test_maps_are_keys(spark, tmp_path):
    """Maps are equal whatever the order of their entries."""
    entries = "map_from_arrays(array('a', 'b'), array(id % 2, 1L))"
    turned = "map_from_arrays(array('b', 'a'), array(1L, id % 2))"
    rows = Rows(
        tmp_path / "in",
        *timed(spark, f"CASE WHEN id % 4 > 1 THEN {entries} ELSE {turned} END AS m"),
    )
    query = Query("q", aggs={"n": "count(*)", "d": "count(DISTINCT m)"}, window=SLIDING, by=["m"])
    found = answers("append", rows, [query], tmp_path)["q"]
    wanted = expected(rows, query)
    assert found == wanted
    assert wanted


def test_a_decimal_total_beyond_its_digits_is_an_error_and_no_other_number(spark, tmp_path):
    rows = Rows(tmp_path / "in", *timed(spark, *ODD_COLUMNS))
    query = Query("q", aggs={"s": "sum(nines)"}, window=SLIDING)
    with pytest.raises(Exception, match=r"overflow|OVERFLOW|NUMERIC_VALUE_OUT_OF_RANGE"):
        answers("append", rows, [query], tmp_path)
