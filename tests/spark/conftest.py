"""One Spark for all tests of a process, started by the first test that needs it.

Batch tests and streams share it, in whichever order a process runs them. A test that changes
settings of the session has to restore them; otherwise it fails by name.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from weft.spark.session import local_session

PATIENCE = 5.0
"""Seconds to wait for a stream's threads to restore settings that they change briefly."""


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A small session, so that several test processes fit on one machine."""
    session = local_session(
        2,
        memory="2g",
        partitions=2,
        settings={
            # The same instants on every machine; tests that need other zones set them.
            "spark.sql.session.timeZone": "UTC",
            # Test data has a handful of rows, so that planning costs more than running.
            "spark.default.parallelism": "2",
            # The native streams used in comparisons have the same state store as weft.
            "spark.sql.streaming.stateStore.providerClass": (
                "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
            ),
        },
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(autouse=True)
def settings_stay(request: pytest.FixtureRequest) -> Iterator[None]:
    """Check that a test restores all settings: the next one's answers may depend on them."""
    if "spark" not in request.fixturenames:
        yield
        return
    conf = request.getfixturevalue("spark").conf

    def now() -> dict[str, str]:
        # Settings other than SQL's belong to the process, and a session cannot change them.
        return {name: value for name, value in conf.getAll.items() if name.startswith("spark.sql.")}

    def changed() -> set[str]:
        after = now()
        names = before.keys() | after.keys()
        return {name for name in names if before.get(name) != after.get(name)}

    before = now()
    yield
    ends = time.monotonic() + PATIENCE
    while changed() and time.monotonic() < ends:
        time.sleep(0.05)
    left = changed()
    for name in left:
        conf.set(name, before[name]) if name in before else conf.unset(name)
    assert not left, f"settings that the test left changed: {sorted(left)}"
