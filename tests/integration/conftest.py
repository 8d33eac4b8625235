"""Components shared by the tests of a run; the first test that needs one starts it."""

from __future__ import annotations

from collections.abc import Iterator

import components
import kafka_broker
import postgres_server
import pytest
from pyspark.sql import SparkSession

from weft.spark import connectors
from weft.spark.session import local_session


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a broker."""
    components.need("kafka")
    with kafka_broker.kafka(tmp_path_factory.mktemp("kafka")) as address:
        yield address


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """How to connect to a PostgreSQL server."""
    components.need("postgres")
    with postgres_server.postgres() as url:
        yield url


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One Spark for the tests of this folder, with the connectors that run on this version."""
    assert SparkSession.getActiveSession() is None, (
        "these tests want a Spark of their own, with jars: run tests/integration by itself"
    )
    names = [name for name in ("kafka", "avro") if "kafka" not in components.WITHOUT]
    session = local_session(
        2,
        partitions=2,
        settings={
            **connectors.settings(names),
            "spark.sql.session.timeZone": "UTC",
            "spark.default.parallelism": "2",
        },
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
