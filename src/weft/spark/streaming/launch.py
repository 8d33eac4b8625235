"""Starting and halting the Spark query of a stream."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from py4j.protocol import Py4JError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from weft.spark.as_written import session_identity
from weft.spark.streaming.checkpoint_files import file_settings
from weft.stream.trigger import Trigger

STATE_STORE = {
    # The only state store that transformWithState supports.
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    # Commits of a micro-batch write only changes instead of a snapshot.
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
}
_CONF = {
    **STATE_STORE,
    # Arrow batches that are large enough for efficient aggregation.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "131072",
    # Only some operators pass this setting to workers, through the environment: with it, Spark
    # would start a second daemon with separate workers, which would import everything again.
    "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled": "false",
}
_NO_EMPTY = {"spark.sql.streaming.noDataMicroBatches.enabled": "false"}
_LAUNCHING = threading.Lock()
"""Held while a stream starts: it changes settings of its session, which others may start in too."""
_SOURCES = 5.0
"""Seconds that Spark may take to create the sources of a stream."""
# With any smaller limit, Spark computes the size of the Arrow batch after every row, which takes
# longer than writing the row. Used if limiting the number of rows is enough.
_UNBOUND = {"spark.sql.execution.arrow.maxBytesPerBatch": str(2**31 - 1)}


def launch(
    frame: Callable[[], DataFrame],
    source: DataFrame,
    deliver: Callable[[DataFrame, int], None],
    *,
    checkpoint: str,
    trigger: Trigger,
    partitions: int,
    narrow: bool,
    eager: bool = False,
) -> StreamingQuery:
    """Start a Spark query; `narrow` says that its rows cannot be large.

    If `eager`, a micro-batch closes its windows itself, so that no micro-batch without rows is
    needed after it.
    """
    wanted = {**_CONF, "spark.sql.shuffle.partitions": str(partitions)}
    wanted |= (_UNBOUND if narrow else {}) | (_NO_EMPTY if eager else {})
    with _LAUNCHING:
        files = file_settings(source.sparkSession, checkpoint)
        # The stream runs in a copy of the session that is made when it starts. But its sources,
        # which write logs, use the settings of the session itself, and are created slightly later.
        with settings(source.sparkSession, wanted | files):
            writer = frame().writeStream.foreachBatch(deliver)
            writer = writer.option("checkpointLocation", checkpoint)
            query = writer.trigger(**dict(trigger.options)).start()
            if files:
                _await_sources(query)
    return query


def _await_sources(query: StreamingQuery) -> None:
    """Wait until Spark has created the sources of a query, or it has ended, or a timeout."""
    until = time.monotonic() + _SOURCES
    with suppress(Py4JError):  # another Spark may have them elsewhere: the stream is only slower
        execution = query._jsq.streamingQuery()
        while execution.sources().isEmpty() and query.isActive and time.monotonic() < until:
            time.sleep(0.01)


@contextmanager
def settings(spark: SparkSession, wanted: Mapping[str, str]) -> Iterator[None]:
    """Change some settings of a session within this context, and restore them afterwards.

    Contexts of several threads may overlap: the last one restores what was before the first.
    """
    own = object()
    changes = _CHANGED.setdefault(session_identity(spark), {})
    try:
        with _CHANGING:
            for name, value in wanted.items():
                change = changes.setdefault(name, _Change(spark.conf.get(name, None)))
                change.inside[own] = value
                spark.conf.set(name, value)
        yield
    finally:
        with _CHANGING:
            for name in [name for name, change in changes.items() if own in change.inside]:
                change = changes[name]
                del change.inside[own]
                left = next(reversed(change.inside.values()), change.before)
                if not change.inside:
                    del changes[name]
                if left is None:
                    spark.conf.unset(name)
                else:
                    spark.conf.set(name, left)


@dataclass
class _Change:
    """A setting that contexts have changed: what it was, and the value of each of them."""

    before: str | None
    inside: dict[object, str] = field(default_factory=dict)


_CHANGING = threading.Lock()
_CHANGED: dict[str, dict[str, _Change]] = {}
"""By session, the settings that are changed at the moment."""


def halt(
    query: StreamingQuery,
    pausing: threading.Event,
    timeout: float = 60.0,
    may_stop: Callable[[], bool] = lambda: True,
) -> None:
    """Stop a Spark query between two micro-batches, or during one after `timeout`.

    Stopping during a micro-batch is safe too, because an uncommitted one is repeated. The query is
    not stopped until `may_stop` returns True, unless it ends on its own.
    """
    before = _batch_of(query)
    ends = time.monotonic() + timeout
    while query.isActive and time.monotonic() < ends:
        between = not query.status["isTriggerActive"] or _batch_of(query) != before
        if between and may_stop():
            break
        time.sleep(0.02)
    pausing.set()
    try:
        query.stop()
    finally:
        pausing.clear()


def _batch_of(query: StreamingQuery) -> int:
    progress = query.lastProgress
    return -1 if progress is None else int(progress["batchId"])
