"""Delta Lake and Iceberg tables as source and sink: each answer once, also when run again."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import components
import lake_spark
import pytest
from kafka_messages import trades, windows

from oldest_pyspark import LAKES
from weft.errors import EngineError
from weft.spark.connectors import connector

pytestmark = pytest.mark.integration


@pytest.mark.parametrize("kind", ["delta", "iceberg"])
def test_from_a_table_into_tables_exactly_once(kind: str, tmp_path: Path) -> None:
    components.need(kind)
    done = lake_spark.drive(tmp_path, kind)
    assert done.returncode == 0, done.stderr[-4000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["spark"] == LAKES
    expected = {
        "minute": windows(trades(600), 60, 60),
        "sliding": windows(trades(600), 300, 120),
    }
    for query, right in expected.items():
        assert Counter(map(tuple, found["first"][query])) == right
    assert found["delivered again"] > 0  # else the second run has shown nothing
    for query, right in expected.items():
        assert Counter(map(tuple, found["after"][query])) == right


@pytest.mark.parametrize("kind", ["delta", "iceberg"])
def test_a_spark_that_they_do_not_run_on_is_refused(kind: str) -> None:
    with pytest.raises(EngineError, match=r"has no build that runs on Spark 4\.3\.0.*Error"):
        connector(kind).jars("4.3.0")
