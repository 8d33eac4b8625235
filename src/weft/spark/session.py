"""An embedded Spark for one machine: tests, the demo, benchmarks. Users bring their own session."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

from weft.spark.class_archive import used

# Each with its reason; none of them changes an answer. The time zone is left as Spark finds it.
_SETTINGS = {
    # Nobody looks at the UI of an embedded session, and its port may be taken.
    "spark.ui.enabled": "false",
    # The driver is on this machine: no look-up of host names, no other interface.
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
    """A Spark session inside this process; the one that is running already, if there is one.

    `memory` bounds the driver, in which everything runs. `partitions` are those of shuffles, one
    per core if not given: Spark's 200 are for clusters, and mostly empty here. `settings` win
    over what is set here.
    """
    count = os.cpu_count() or 1 if cores == "*" else int(cores)
    # Workers must be this Python, which has weft and Arrow, and not the first one on the path.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    chosen = {
        **_SETTINGS,
        "spark.driver.memory": memory,
        "spark.sql.shuffle.partitions": str(partitions or count),
        **(settings or {}),
    }
    if chosen.get("spark.master", "local").startswith("local"):
        # Workers are forked from a process that has loaded what they need, as this one can.
        chosen.setdefault("spark.python.daemon.module", "weft.spark.daemon")
    builder = SparkSession.builder.master(f"local[{cores}]").appName(name)
    for key, value in chosen.items():
        builder = builder.config(key, value)
    with used():
        return builder.getOrCreate()


@contextmanager
def silent_children() -> Iterator[None]:
    """Processes started in here write their standard error to nowhere.

    Java greets with a dozen lines before its log can be silenced, and Spark's Python workers
    repeat what comes back as an exception anyway.
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
