"""Settings that starting streams change for a moment, in threads that overlap."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession

from weft.spark.streaming.launch import settings

A, B = "weft.test.a", "weft.test.b"


@pytest.fixture
def conf(spark: SparkSession) -> Any:
    spark.conf.set(A, "own")
    yield spark.conf
    for name in (A, B):
        spark.conf.unset(name)


def test_contexts_that_overlap_restore_what_was_before_the_first(
    spark: SparkSession, conf: Any
) -> None:
    first, second = settings(spark, {A: "1", B: "1"}), settings(spark, {A: "2"})
    first.__enter__()
    second.__enter__()
    assert (conf.get(A), conf.get(B)) == ("2", "1")
    first.__exit__(None, None, None)
    assert (conf.get(A), conf.get(B, None)) == ("2", None)
    second.__exit__(None, None, None)
    assert conf.get(A) == "own"


def test_contexts_nest(spark: SparkSession, conf: Any) -> None:
    with settings(spark, {A: "1"}):
        with pytest.raises(ValueError, match="inside"), settings(spark, {A: "2", B: "2"}):
            raise ValueError("inside")
        assert (conf.get(A), conf.get(B, None)) == ("1", None)
    assert conf.get(A) == "own"


def test_a_setting_that_spark_refuses_leaves_none_changed(spark: SparkSession, conf: Any) -> None:
    refused = {A: "1", "spark.sql.shuffle.partitions": "many"}
    before = conf.get("spark.sql.shuffle.partitions")
    with pytest.raises(Exception, match=r"shuffle\.partitions"), settings(spark, refused):
        pytest.fail("it was entered")
    assert (conf.get(A), conf.get("spark.sql.shuffle.partitions")) == ("own", before)
