"""Makes Spark write checkpoint files on a local disk without starting processes.

Spark's default file manager asks Hadoop whether a path is a link, for which Hadoop without its
native library runs `readlink`: dozens of processes per micro-batch, a third of the time of a small
one. Spark's other file manager writes and renames the same files through the operating system.
"""

from __future__ import annotations

from typing import Any

from pyarrow import fs
from pyspark.sql import SparkSession

from weft.sinks.files import locate

SETTING = "spark.sql.streaming.checkpointFileManagerClass"
_PACKAGES = (
    "org.apache.spark.sql.execution.streaming.checkpointing",
    "org.apache.spark.sql.execution.streaming",  # before Spark 4.1
)


def file_settings(spark: SparkSession, checkpoint: str) -> dict[str, str]:
    """Settings for a stream with this checkpoint; empty if Spark's or the user's choice is kept."""
    system, _ = locate(checkpoint)
    jvm = getattr(spark, "_jvm", None)  # there is none on Spark Connect
    if jvm is None or not isinstance(system, fs.LocalFileSystem) or spark.conf.get(SETTING, None):
        return {}
    names = [f"{package}.FileSystemBasedCheckpointFileManager" for package in _PACKAGES]
    found = next((name for name in names if _is_there(jvm, name)), None)
    return {} if found is None else {SETTING: found}


def _is_there(jvm: Any, name: str) -> bool:
    from py4j.protocol import Py4JJavaError

    try:
        jvm.java.lang.Class.forName(name)
    except Py4JJavaError:
        return False
    return True
