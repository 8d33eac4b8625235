"""One Spark for all tests of a process, started by the first test that asks for it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from weft.spark.session import local_session


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A small session, so that several test processes fit on one machine."""
    session = local_session(
        2,
        memory="2g",
        partitions=2,
        settings={
            # The same instants whatever machine runs the tests; other zones are set where meant.
            "spark.sql.session.timeZone": "UTC",
            # Test data has a handful of rows: planning costs more than running.
            "spark.default.parallelism": "2",
        },
    )
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()
