"""Statements of the corpus in a batch have the recorded outcomes."""

from __future__ import annotations

import json

import pytest
from pyspark.sql import SparkSession

from tests.corpus.judge import FILES, ON_STREAMS, VERDICTS, judge, judge_streams

KNOWN = json.loads(VERDICTS.read_text(encoding="utf-8"))
STARTED = json.loads(ON_STREAMS.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", FILES)
def test_a_few_of_each_file(spark: SparkSession, name: str) -> None:
    """To run every statement, use `python -m tests.corpus.judge`, which takes four minutes."""
    found = judge(spark, name, every=9)
    assert found == {statement: KNOWN[name][statement] for statement in found}
    assert len(found) > 1


@pytest.mark.parametrize("name", FILES)
def test_a_few_of_each_file_on_streams(spark: SparkSession, name: str) -> None:
    found = judge_streams(spark, name, every=9)
    assert found == {statement: STARTED[name][statement] for statement in found}
