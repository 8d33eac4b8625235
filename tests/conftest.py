"""The order of tests: fast and pure tests run first, Spark and slow tests last.

With several processes (`make test`), each has at most one Spark.
"""

import os
from pathlib import Path

import pytest

from weft.spark.class_archive import java_options

SPARK = Path(__file__).parent / "spark"


def pytest_configure() -> None:
    """Set Java options for a quick start, because JVMs of tests live only for seconds or minutes.

    Without Java's second compiler (C2), whose code pays only after minutes, and with an archive of
    classes, Spark starts in a third of the time. Processes that tests start inherit the options.

    The first compiler (C1) alone has a code cache of 48 MB by default. A few hundred tests fill it;
    then Java discards code and compiles it again, or stops compiling.
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
"""Files of integration tests that take minutes; the two processes run them first."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    items.sort(
        key=lambda item: (SPARK in item.path.parents, item.get_closest_marker("slow") is not None)
    )
    if str(config.getoption("markexpr")).startswith("integration"):
        order = {name: at for at, name in enumerate(LONGEST)}
        items.sort(key=lambda item: order.get(item.path.name, len(order)))
