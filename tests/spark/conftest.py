"""One Spark for all tests of a process, started by the first test that asks for it.

Batch tests and streams share it, in whichever order a process gets them: what a test sets in the
session for a while, it takes back, and one that does not fails by name.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from weft.spark.session import local_session

PATIENCE = 5.0
"""Seconds for a stream's threads, which set something for a moment, to take it back."""


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
            # The native streams of the comparisons keep their state as weft does.
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
    """A test leaves the session as it found it: the next one's answers may hang on a setting."""
    if "spark" not in request.fixturenames:
        yield
        return
    conf = request.getfixturevalue("spark").conf

    def now() -> dict[str, str]:
        # Others than SQL's are those of the process, which a session cannot change.
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
