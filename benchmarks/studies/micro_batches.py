"""Runs weft and native queries on micro-batches from files, and times each micro-batch."""

from __future__ import annotations

import os
import statistics
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from weft.query.query import Query

SCHEMA = "ts timestamp, k int, x double"
WATERMARK = "10 seconds"
SECOND = 1_000_000
SPAN = 16 * 60 * SECOND
"""Event time of a micro-batch."""
START = 1_700_000_000 * SECOND // (3600 * SECOND) * 3600 * SECOND
FILES = 2
"""Files per micro-batch."""
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def write_batch(folder: Path, number: int, table: pa.Table) -> None:
    """Write a micro-batch as two files, one for each of two cores, like two topic partitions."""
    half = table.num_rows // FILES
    for part in range(FILES):
        path = folder / f"{number:04d}-{part}.parquet"
        pq.write_table(table.slice(part * half, half if part + 1 < FILES else None), path)
        os.utime(path, (1_000_000 + number, 1_000_000 + number))


def session() -> Any:
    """The running Spark session, or a new one on this machine's cores."""
    from weft.spark.session import local_session, silent_children

    store = "spark.sql.streaming.stateStore."
    settings = {
        "spark.sql.session.timeZone": "UTC",
        "spark.log.level": "OFF",
        # The native queries use the same state store as weft.
        f"{store}providerClass": ROCKSDB,
        f"{store}rocksdb.changelogCheckpointing.enabled": "true",
    }
    with silent_children():
        return local_session(memory="4g", settings=settings)


def stream_of(spark: Any, folder: Path) -> Any:
    """The feed as a stream, micro-batch by micro-batch."""
    reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", FILES)
    return reader.parquet(str(folder / "in"))


def weft_run(
    spark: Any,
    folder: Path,
    queries: list[Query],
    name: str,
    traffic: list[Any] | None = None,
) -> tuple[float, float, Any]:
    """Seconds of a steady micro-batch and of one without input, and the status at the end.

    `traffic` receives the bytes read, written and held by every micro-batch.
    """
    from weft.plan.time_axis import TimeAxis
    from weft.sinks import LongSink
    from weft.spark.streaming.starting import start

    running = start(
        stream_of(spark, folder),
        TimeAxis("ts"),
        LongSink(str(folder / name)),
        checkpoint=str(folder / f"{name}-ck"),
        watermark=WATERMARK,
        queries=queries,
        trigger="available_now",
        rate=1_000_000 / (SPAN / SECOND),
    )
    if traffic is None:
        running.await_termination()
    else:
        _follow(running, traffic)
    steady, empty = steady_seconds([running.last_query])
    return steady, empty, running.status()


def _follow(running: Any, traffic: list[Any]) -> None:
    """Record what every micro-batch reads, writes and holds, until the stream ends."""
    batch = -1
    while not running.await_termination(0.05) or running.status().batch != batch:
        status = running.status()
        if status.batch != batch:
            traffic.append((status.read_bytes, status.written_bytes, status.state_bytes))
        batch = status.batch


def native_run(spark: Any, folder: Path, queries: list[Query], name: str) -> tuple[float, float]:
    """The same for native streaming queries, which run concurrently; their times overlap."""
    from weft.plan.time_axis import TimeAxis
    from weft.spark.verify.native import native

    started = []
    for query in queries:
        frame = stream_of(spark, folder).withWatermark("ts", WATERMARK)
        target = str(folder / f"{name}-{query.name}")

        def write(batch: Any, number: int, target: str = target) -> None:
            batch.write.mode("overwrite").parquet(f"{target}/{number}")

        started.append(
            native(frame, TimeAxis("ts"), query)
            .writeStream.foreachBatch(write)
            .option("checkpointLocation", f"{target}-ck")
            .outputMode("append")
            .trigger(availableNow=True)
            .start()
        )
    for running in started:
        running.awaitTermination()
    return steady_seconds(started)


def steady_seconds(queries: list[Any], after: int = 2) -> tuple[float, float]:
    """The median micro-batch after the first few; with several queries, each counts its slowest."""
    by_batch: dict[int, list[float]] = {}
    empty: list[float] = []
    for query in queries:
        for progress in query.recentProgress:
            seconds = progress["durationMs"]["triggerExecution"] / 1000.0
            if progress["numInputRows"] == 0:
                empty.append(seconds)
            elif progress["batchId"] >= after:
                by_batch.setdefault(progress["batchId"], []).append(seconds)
    steady = statistics.median(max(some) for some in by_batch.values())
    return steady, max(empty, default=0.0)
