"""Finds the queries that fail on a micro-batch, if the error does not say, by running them.

The rows of the failed micro-batch are read again (`weft.spark.streaming.read_again`), and the plain
Spark query of each query is run on them. The results are discarded.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import reduce

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from weft.plan.time_axis import TimeAxis
from weft.query.query import Query
from weft.spark.as_written import as_written
from weft.spark.failures import spark_message
from weft.spark.streaming.read_again import read_again
from weft.spark.verify.native import native

_PATIENCE = 300
"""Time limit in seconds."""


def tried_apart(
    df: DataFrame,
    axis: TimeAxis,
    checkpoint: str,
    queries: Sequence[Query],
    ticks: DataFrame | None = None,
) -> dict[str, str]:
    """The queries that fail on the micro-batch that Spark would run next, with Spark's errors.

    `ticks` is the stream's other source, if it has one.
    """
    found: dict[str, str] = {}
    ends = time.monotonic() + _PATIENCE
    late = threading.Event()

    def ask(rows: DataFrame) -> None:
        kept = rows.persist()
        try:
            with as_written(rows.sparkSession):
                frames = {q.name: native(kept, axis, q) for q in queries}
                found.update(failing(frames, late.is_set))
        finally:
            kept.unpersist()

    def is_over() -> bool:
        if time.monotonic() > ends:
            late.set()  # queries that are cancelled fail too, but are not to blame
        return late.is_set()

    with suppress(PySparkException, Py4JJavaError):
        read_again(df, checkpoint, "trial", ask, ticks=ticks, is_over=is_over)
    return {} if late.is_set() else found


def failing(
    frames: Mapping[str, DataFrame], is_late: Callable[[], bool] = lambda: False
) -> dict[str, str]:
    """The frames that cannot be computed, and why: tries several together, then each half."""
    if not frames or is_late():
        return {}
    names = list(frames)
    # As strings all frames have the same schema, and every column is computed.
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
