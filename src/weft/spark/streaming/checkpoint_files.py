"""How Spark writes the files of a checkpoint on a local disk: without processes to look at them.

Spark's own choice asks Hadoop whether a path is a link, for which Hadoop, lacking its native
library, runs `readlink`: dozens of processes a micro-batch, a third of the time of a small one. The
other of Spark's two ways writes and renames the same files, and asks the operating system.
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
    """Settings for a stream with this checkpoint; none where Spark's choice or the user's holds."""
    system, _ = locate(checkpoint)
    jvm = getattr(spark, "_jvm", None)  # Spark Connect has none to ask
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
