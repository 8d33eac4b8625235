"""An embedded Spark for one machine: tests, the demo, benchmarks. Users bring their own session."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

from weft.spark.class_archive import used

# Each with its reason; none of them changes an answer. The time zone is Spark's default.
_SETTINGS = {
    # The UI of an embedded session is not needed, and its port may be in use.
    "spark.ui.enabled": "false",
    # The driver is on this machine: no host name look-up, no other network interface.
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    # Results go to Python as Arrow batches, not row by row.
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # A task fails at once: retrying on the same machine only delays the message.
    "spark.task.maxFailures": "1",
    # Progress bars spoil the output of commands and tests.
    "spark.ui.showConsoleProgress": "false",
}


def local_session(
    cores: int | str = "*",
    *,
    memory: str = "2g",
    partitions: int | None = None,
    name: str = "weft",
    settings: dict[str, str] | None = None,
) -> SparkSession:
    """A Spark session inside this process; the running one, if there is one.

    `memory` limits the driver, in which everything runs. `partitions` is the number of shuffle
    partitions, by default one per core: Spark's 200 are for clusters, and mostly empty here.
    `settings` override those made here.
    """
    count = os.cpu_count() or 1 if cores == "*" else int(cores)
    # Workers must run this Python, which has weft and Arrow, not the first one on the path.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    chosen = {
        **_SETTINGS,
        "spark.driver.memory": memory,
        "spark.sql.shuffle.partitions": str(partitions or count),
        **(settings or {}),
    }
    if chosen.get("spark.master", "local").startswith("local"):
        # Workers are forked from a process that has already imported what they need.
        chosen.setdefault("spark.python.daemon.module", "weft.spark.daemon")
    builder = SparkSession.builder.master(f"local[{cores}]").appName(name)
    for key, value in chosen.items():
        builder = builder.config(key, value)
    with used():
        return builder.getOrCreate()


@contextmanager
def silent_children() -> Iterator[None]:
    """Discards the standard error of processes started in this context.

    Java prints a dozen lines before its log can be silenced, and Spark's Python workers print
    errors that are raised as exceptions anyway.
    """
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
