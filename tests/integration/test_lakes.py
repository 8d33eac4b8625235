"""Delta Lake and Iceberg tables as source and sink: each answer once, also when run again."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import components
import lake_spark
import pytest
from kafka_messages import trades, windows

from oldest_pyspark import LAKES, oldest_version
from weft.errors import EngineError
from weft.spark.connectors import connector

pytestmark = pytest.mark.integration


NEWER = "4.2.1"
"""The newest Spark with a build of Delta Lake only; in CI, one with builds of both is enough."""
EXPECTED = {
    "minute": windows(trades(600), 60, 60),
    "sliding": windows(trades(600), 300, 120),
}


def equal(found: dict[str, list[list]]) -> bool:
    """Whether the tables have every answer once."""
    return {query: Counter(map(tuple, rows)) for query, rows in found.items()} == EXPECTED


@pytest.mark.parametrize(
    ("kind", "version"),
    [
        ("delta", LAKES),
        ("iceberg", LAKES),
        pytest.param("delta", oldest_version(), marks=pytest.mark.nightly),
        pytest.param("iceberg", oldest_version(), marks=pytest.mark.nightly),
        pytest.param("delta", NEWER, marks=pytest.mark.nightly),
    ],
)
def test_from_a_table_into_tables_exactly_once(kind: str, version: str, tmp_path: Path) -> None:
    components.need(kind)
    found = lake_spark.drive(tmp_path, kind, version)
    assert equal(found["first"])
    assert found["delivered again"] > 0  # otherwise the second run shows nothing
    assert equal(found["after"])


@pytest.mark.parametrize(
    "version",
    [
        LAKES,
        pytest.param(oldest_version(), marks=pytest.mark.nightly),
        pytest.param(NEWER, marks=pytest.mark.nightly),
    ],
)
def test_a_table_that_is_altered(version: str, tmp_path: Path) -> None:
    components.need("delta")
    found = lake_spark.drive(tmp_path, "delta", version, "altered")
    assert equal(found["after"])
    assert "'size' is not a column of the stream" in found["refused"]
    assert "its columns are ts, symbol, amount, venue" in found["refused"]
    assert equal(found["unchanged"])


@pytest.mark.parametrize("kind", ["delta", "iceberg"])
def test_a_spark_that_they_do_not_run_on_is_refused(kind: str) -> None:
    with pytest.raises(EngineError, match=r"has no build that runs on Spark 4\.3\.0.*Error"):
        connector(kind).jars("4.3.0")
