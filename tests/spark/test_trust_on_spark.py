"""What untrusted queries may ask of this very Spark: every function of it has been judged."""

from __future__ import annotations

import re

import pytest
from pyspark.sql import SparkSession

import weft
from weft.errors import WeftError
from weft.query import functions
from weft.query.trust.allowed import REACHING, SCALAR_FUNCTIONS

WORDS = {"and", "or", "not", "between", "in", "div", "case", "when", "cast"}
"""Listed as functions, and operators or forms of their own in SQL."""
TABLES = {"range", "collations", "sql_keywords", "python_worker_logs", "schema_of_variant_agg"}
"""Functions that make tables, or aggregate: no expression can call them."""


def test_every_function_of_spark_is_allowed_or_refused_for_a_reason(spark: SparkSession) -> None:
    listed = {row[0] for row in spark.sql("SHOW SYSTEM FUNCTIONS").collect()}
    named = {name for name in listed if re.fullmatch(r"\w+", name)}
    judged = (
        SCALAR_FUNCTIONS
        | set(REACHING)
        | set(functions.NOT_DETERMINISTIC)
        | functions.GENERATORS
        | functions.AGGREGATES
        | functions.WINDOW_FUNCTIONS
        | functions.TIME_WINDOWS
    )
    assert len(named) > 400
    assert named - judged - WORDS - TABLES == set()
    assert SCALAR_FUNCTIONS - named == set()


def test_limits_hold_on_a_loom(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    df = spark.range(10).selectExpr("timestamp_seconds(id) AS ts", "id AS v")
    loom = weft.Loom(df, time="ts")
    for number in range(3):
        window = weft.Window(range=f"{number + 1} minutes")
        loom.add(weft.Query(f"q{number}", aggs={"n": "count(*)"}, window=window))
    assert loom.types() == {}
    monkeypatch.setenv("WEFT_LIMITS", "queries=2")
    loom.add(weft.Query("q3", aggs={"n": "count(*)"}, window=weft.Window(range="1 hour")))
    with pytest.raises(WeftError, match="4 queries are asked for: at most 2"):
        loom.run(rate=1.0)
