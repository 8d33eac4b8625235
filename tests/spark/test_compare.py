"""Comparing answers: which count as equal, which do not, and how differences are reported."""

from __future__ import annotations

import math

import pytest
from agree import INTERPRETED, settings
from pyspark.sql import SparkSession

from weft.spark.verify.compare import Pair, compare

SCHEMA = "k int, v double, i bigint, d decimal(5,2), a array<double>"
ROWS = [
    (1, 1.5, 1, None, [1.0, 2.0]),
    (2, math.nan, 2, None, [math.nan]),
    (None, None, None, None, None),
]


@pytest.fixture(autouse=True)
def interpreted(spark: SparkSession):
    with settings(spark, INTERPRETED):
        yield


def pair(spark: SparkSession, name: str, actual: list, schema: str = SCHEMA) -> Pair:
    return Pair(
        name, ["k"], spark.createDataFrame(ROWS, SCHEMA), spark.createDataFrame(actual, schema)
    )


def test_differences_are_counted_and_shown(spark: SparkSession) -> None:
    one, two, none = ROWS
    near = (1, 1.5 * (1 + 1e-12), 1, None, [1.0 + 1e-13, 2.0])
    found = compare(
        [
            pair(spark, "same", [none, near, two]),
            pair(spark, "missing", [one, two]),
            pair(spark, "extra", [*ROWS, (3, 1.0, 1, None, [])]),
            pair(spark, "twice", [*ROWS, one]),
            pair(spark, "float", [(1, 1.5 * (1 + 1e-8), 1, None, [1.0, 2.0]), two, none]),
            pair(spark, "integer", [(1, 1.5, 2, None, [1.0, 2.0]), two, none]),
            pair(spark, "null", [(1, None, 1, None, [1.0, 2.0]), two, none]),
            pair(spark, "array", [(1, 1.5, 1, None, [1.0]), two, none]),
        ]
    )
    by = {difference.name: difference for difference in found}
    assert by["same"].ok
    assert by["same"].rows == 3
    counts = {n: (d.missing, d.extra, d.differing) for n, d in by.items() if n != "same"}
    assert counts == {
        "missing": (1, 0, 0),
        "extra": (0, 1, 0),
        "twice": (0, 0, 1),
        "float": (0, 0, 1),
        "integer": (0, 0, 1),
        "null": (0, 0, 1),
        "array": (0, 0, 1),
    }
    assert not any(by[name].ok for name in counts)
    assert '"i":2' in by["integer"].samples[0]
    assert "1 differing" in str(by["integer"])


def test_types_and_names_are_compared_before_rows(spark: SparkSession) -> None:
    narrow = "k int, v double, i int, d decimal(5,2), a array<double>"
    (found,) = compare([pair(spark, "q", ROWS, narrow)])
    assert not found.ok
    assert "i int" in found.schema
    assert "i bigint" in found.schema


def test_a_scale_forgives_digits_that_cancelled_out(spark: SparkSession) -> None:
    expected = spark.createDataFrame([(1, 0.0, 1e6)], "k int, v double, scale double")
    actual = spark.createDataFrame([(1, 1e-5)], "k int, v double")
    (strict,) = compare([Pair("q", ["k"], expected.drop("scale"), actual)])
    (scaled,) = compare([Pair("q", ["k"], expected, actual, {"v": "scale"})])
    assert not strict.ok
    assert scaled.ok
