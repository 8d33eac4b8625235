"""Reads a micro-batch again, in a second stream with the same offsets.

A source gives the same rows for the same offsets, which Spark relies on after a crash. So a stream
that starts on a copy of the log finds a micro-batch that was begun but not committed, and runs it
with the same rows and the same clock. Then it ends, and nothing of it is kept.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from contextlib import suppress

from pyarrow import fs
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from weft.sinks.files import locate
from weft.spark.streaming.checkpoint_files import file_settings
from weft.spark.streaming.launch import settings

_LOGS = ("offsets", "commits")
_LAST = 2
"""The number of log entries needed: the rows to read are between the last two offsets."""


def read_again(
    frame: DataFrame,
    checkpoint: str,
    name: str,
    use: Callable[[DataFrame], None],
    *,
    ticks: DataFrame | None = None,
    is_over: Callable[[], bool] = lambda: False,
) -> bool:
    """Pass the rows of the micro-batch that Spark has begun but not committed to `use`.

    `frame` is a stateless stream over the same source, and `ticks` is the tick source of the first
    stream, if it has one: Spark's log has the offsets of both. Errors of `use` are raised. Returns
    False if reading was given up, because `is_over` returned True. `name` distinguishes readers
    that run at the same time.
    """
    beside = f"{checkpoint.rstrip('/')}/weft/{name}"
    errors: list[Exception] = []

    def once(rows: DataFrame, number: int) -> None:
        try:
            use(rows)
        except Exception as error:
            errors.append(error)
            raise

    spark = frame.sparkSession
    _copy_logs(checkpoint, beside)
    try:
        source = frame if ticks is None else _beside(frame, ticks)
        writer = source.writeStream.foreachBatch(once).option("checkpointLocation", beside)
        with settings(spark, file_settings(spark, beside)):
            query = writer.trigger(once=True).start()  # runs only the micro-batch that was begun
        try:
            while not query.awaitTermination(1):
                if is_over():
                    query.stop()
                    return False
        except Exception:
            if errors:
                raise errors[0] from None
            raise
        return True
    finally:
        system, path = locate(beside)
        with suppress(OSError):
            system.delete_dir(path)


def _beside(frame: DataFrame, other: DataFrame) -> DataFrame:
    """The rows of `frame`, in union with `other`, which contributes no rows."""
    nothing = [F.lit(None).cast(field.dataType).alias(field.name) for field in frame.schema]
    return frame.unionAll(other.where("false").select(*nothing))


def _copy_logs(checkpoint: str, to: str) -> None:
    """Copy the logs that a stream needs to read the same rows, but not the stream's id.

    Spark ends a stream when another one with the same id starts.
    """
    system, path = locate(checkpoint)
    _, target = locate(to)
    with suppress(FileNotFoundError):  # remove what a killed reader has left
        system.delete_dir(target)
    system.create_dir(target, recursive=True)
    with system.open_output_stream(f"{target}/metadata") as stream:
        stream.write(json.dumps({"id": str(uuid.uuid4())}).encode())
    for log in _LOGS:
        numbers = [int(one.base_name) for one in _files(system, f"{path}/{log}", every=False)]
        system.create_dir(f"{target}/{log}", recursive=True)
        for number in sorted(numbers)[-_LAST:]:
            system.copy_file(f"{path}/{log}/{number}", f"{target}/{log}/{number}")
    for info in _files(system, f"{path}/sources", every=True):
        copy = target + info.path[len(path) :]
        system.create_dir(copy.rpartition("/")[0], recursive=True)
        system.copy_file(info.path, copy)


def _files(system: fs.FileSystem, folder: str, *, every: bool) -> list[fs.FileInfo]:
    """The files in a folder: all of them, recursively, or only those of micro-batches."""
    selector = fs.FileSelector(folder, allow_not_found=True, recursive=every)
    found = [info for info in system.get_file_info(selector) if info.type == fs.FileType.File]
    return found if every else [info for info in found if info.base_name.isdigit()]
