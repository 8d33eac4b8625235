"""Which queries fail on a micro-batch where its error does not say: they are tried apart.

The rows of the micro-batch that failed are read again, by a stream beside the first that has the
same offsets, and each query is asked of them as the plain query that it is. Nothing is kept of it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import reduce

from py4j.protocol import Py4JJavaError
from pyarrow import fs
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from weft.plan.time_axis import TimeAxis
from weft.query.query import Query
from weft.sinks.files import locate
from weft.spark.as_written import as_written
from weft.spark.failures import spark_message
from weft.spark.verify.native import native

_PATIENCE = 300
"""Seconds that it may take."""
_DONE = "weft has seen what it wanted to see"
_LOG = ("offsets", "commits", "sources")
"""What a stream needs of a checkpoint to read again what it has read."""


def tried_apart(
    df: DataFrame, axis: TimeAxis, checkpoint: str, queries: Sequence[Query]
) -> dict[str, str]:
    """The queries that fail on the micro-batch that Spark would run next, and what Spark says."""
    found: dict[str, str] = {}
    late = threading.Event()
    beside = f"{checkpoint.rstrip('/')}/weft/trial"

    def ask(rows: DataFrame, number: int) -> None:
        kept = rows.persist()
        try:
            with as_written(rows.sparkSession):
                frames = {q.name: native(kept, axis, q) for q in queries}
                found.update(failing(frames, late.is_set))
        finally:
            kept.unpersist()
        raise RuntimeError(_DONE)  # so that it ends here

    _copy_log(checkpoint, beside)
    try:
        writer = df.writeStream.foreachBatch(ask).option("checkpointLocation", beside)
        trial = writer.trigger(availableNow=True).start()
        with suppress(PySparkException, Py4JJavaError):
            if not trial.awaitTermination(_PATIENCE):
                late.set()  # what is cancelled fails, and is nobody's fault
        trial.stop()
    finally:
        system, path = locate(beside)
        with suppress(OSError):
            system.delete_dir(path)
    return {} if late.is_set() else found


def failing(
    frames: Mapping[str, DataFrame], is_late: Callable[[], bool] = lambda: False
) -> dict[str, str]:
    """Those frames that cannot be computed, and why: some at a time, and then each half of them."""
    if not frames or is_late():
        return {}
    names = list(frames)
    # As texts, all columns of all of them are of one form, and every one is computed.
    texts = [frame.select(F.struct("*").cast("string")) for frame in frames.values()]
    try:
        reduce(DataFrame.unionAll, texts).write.format("noop").mode("overwrite").save()
    except (PySparkException, Py4JJavaError) as error:
        if is_late():
            return {}
        if len(names) == 1:
            return {names[0]: spark_message(error) or str(error)}
        half = len(names) // 2
        parts = (names[:half], names[half:])
        first, second = (failing({name: frames[name] for name in part}, is_late) for part in parts)
        return first | second
    return {}


def _copy_log(checkpoint: str, to: str) -> None:
    system, path = locate(checkpoint)
    _, target = locate(to)
    system.create_dir(target, recursive=True)
    system.copy_file(f"{path}/metadata", f"{target}/metadata")
    for name in _LOG:
        selector = fs.FileSelector(f"{path}/{name}", allow_not_found=True, recursive=True)
        for info in system.get_file_info(selector):
            if info.type == fs.FileType.File:
                copy = target + info.path[len(path) :]
                system.create_dir(copy.rpartition("/")[0], recursive=True)
                system.copy_file(info.path, copy)
