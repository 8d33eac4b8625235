"""Order: what is fast and pure fails first; Spark and slow tests come last.

Run in several processes (`make test`), each has one Spark of its own at most.
"""

import os
from pathlib import Path

import pytest

from weft.spark.class_archive import java_options

SPARK = Path(__file__).parent / "spark"


def pytest_configure() -> None:
    """JVMs of tests live for seconds or minutes: what takes long is their start.

    Without the second compiler, whose code pays after minutes only, and with classes that were
    archived, Spark is there in a third of the time. Processes that tests start inherit it.

    Java gives the first compiler by itself 48 MB for its code, which a few hundred tests fill: then
    it throws code away and compiles it again, or stops compiling.
    """
    options = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -Xlog:disable"
    options += f" {java_options()}"
    os.environ.setdefault("SPARK_SUBMIT_OPTS", options)
    os.environ.setdefault("SPARK_LAUNCHER_OPTS", "-XX:TieredStopAtLevel=1")


LONGEST = (
    "test_fault_runs.py",
    "test_pyspark_versions.py",
    "test_chaos.py",
    "test_oldest_pyspark.py",
    "test_rescale_kills.py",
)
"""Files of integration tests that take minutes: two processes begin with them."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    items.sort(
        key=lambda item: (SPARK in item.path.parents, item.get_closest_marker("slow") is not None)
    )
    if str(config.getoption("markexpr")).startswith("integration"):
        order = {name: at for at, name in enumerate(LONGEST)}
        items.sort(key=lambda item: order.get(item.path.name, len(order)))
