"""`python -m benchmarks.studies.scale_trial JSON`: runs one point of `scale`.

It is a separate process so that its peak memory is that of the point. It prints its results as JSON
in the last line.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.studies.micro_batches import ROCKSDB
from benchmarks.support.loads import HOUR, SECOND, START, queries
from weft.query.query import Query

SCHEMA = "ts timestamp, k int, v bigint"
SLIDES = (600, 1200, 1800)
MINUTES = tuple(range(60, 601, 60))
DELAY = 10
"""Seconds of the watermark's delay."""
HEAP = "5g"
"""Memory of the driver's JVM, in which all tasks run; workers and RocksDB take more."""


def asked(count: int) -> list[Query]:
    """A few queries with slides of ten minutes or more, or many with slides of whole minutes."""
    few = count <= 10
    found = queries(count, 7, slides=SLIDES if few else MINUTES, overlap=6 if few else 60, by=["k"])
    for number in range(len(found), count):  # when the windows are used up, vary the predicates
        one = found[number % 300]
        where = f"v >= {number // 300}"
        found.append(Query(f"q{number + 1}", one.aggs, one.window, where=where, by=["k"]))
    return found


def spark_session(master: str) -> Any:
    """Spark with the settings that a user would choose for this size."""
    from weft.spark.session import local_session, silent_children

    store = "spark.sql.streaming.stateStore."
    settings = {
        "spark.master": master,
        "spark.sql.session.timeZone": "UTC",
        "spark.log.level": "ERROR",
        "spark.executor.memory": "1536m",
        f"{store}providerClass": ROCKSDB,
        f"{store}rocksdb.changelogCheckpointing.enabled": "true",
        "spark.sql.streaming.numRecentProgressUpdates": "1000",
    }
    with silent_children():
        return local_session(memory=HEAP, settings=settings)


def rows(spark: Any, folder: str, count: int, keys: int, files: int) -> dict[str, Any]:
    """Write an hour of rows to files of equal spans, with modification times in order of time."""
    import os

    step = HOUR * SECOND / count
    spark.range(0, count, 1, files).selectExpr(
        f"timestamp_micros({START} + CAST(id * {step}D AS BIGINT)) AS ts",
        f"CAST(pmod(xxhash64(id), {keys}) AS INT) AS k",
        "pmod(xxhash64(id, 1), 1000) AS v",
    ).write.parquet(folder)
    parts = sorted(Path(folder).glob("part-*"))
    for number, path in enumerate(parts):
        os.utime(path, (1_000_000 + number, 1_000_000 + number))
    return {"bytes": sum(path.stat().st_size for path in parts)}


def batch(spark: Any, folder: str, count: int) -> dict[str, Any]:
    """Run all queries of a loom on files, and sum up all answers."""
    import weft

    asking = asked(count)
    df = spark.read.schema(SCHEMA).parquet(folder)
    began = time.perf_counter()
    loom = weft.Loom(df, time="ts")
    for query in asking:
        loom.add(query)
    results = loom.run(persist=False)
    planned = time.perf_counter() - began
    sums = _sums(results.all())
    return {"seconds": time.perf_counter() - began, "plan_s": planned, "sums": sums}


def plain(spark: Any, folder: str, count: int, sample: list[str], closed: int) -> dict[str, Any]:
    """Run a sample one by one on plain Spark; sum up answers of windows that end by `closed`."""
    from weft.plan.time_axis import TimeAxis
    from weft.spark.verify.native import native

    df = spark.read.schema(SCHEMA).parquet(folder)
    sums: dict[str, Any] = {}
    began = time.perf_counter()
    for query in asked(count):
        if query.name in sample:
            frame = native(df, TimeAxis("ts"), query)
            frame = frame.where(f"unix_micros(window.end) <= {closed}")
            sums |= _sums(frame.selectExpr(f"'{query.name}' AS query", "hi", "n"))
    return {"seconds": time.perf_counter() - began, "sums": sums}


def stream(spark: Any, folder: str, count: int, at_once: int) -> dict[str, Any]:
    """Run all queries on one stream of the same files until all are read."""
    from weft.plan.time_axis import TimeAxis
    from weft.sinks import LongSink, delivered_files
    from weft.spark.streaming.starting import start

    out = f"{folder}-out"
    reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", at_once)
    began = time.perf_counter()
    running = start(
        reader.parquet(folder), TimeAxis("ts"), LongSink(out), checkpoint=f"{folder}-ck",
        watermark=f"{DELAY} seconds", queries=asked(count), trigger="available_now",
    )  # fmt: skip
    started = time.perf_counter() - began
    running.await_termination()
    seconds, status = time.perf_counter() - began, running.status()
    batches = [
        progress["durationMs"]["triggerExecution"] / 1000.0
        for progress in running.last_query.recentProgress
        if progress["numInputRows"]
    ]
    shards = sum(store.shards_per_batch for store in status.stores)
    longest = max(query.window.range for query in asked(count))
    files = delivered_files(out)
    sums = _sums(spark.read.parquet(*files)) if files else {}
    return {
        "seconds": seconds,
        "start_s": started,
        "batches": len(batches),
        "first_s": batches[0],
        "batch_s": statistics.median(batches[2:] or batches),
        "state_bytes": status.state_bytes,
        "slices": status.slices,
        "shards_per_batch": shards,
        "held_shards": shards * min(1.0, longest / (HOUR * SECOND)) * len(batches),
        "shuffle_bytes": _shuffled(spark),
        "answers_in_all": status.answers,
        "sums": sums,
    }


def _shuffled(spark: Any) -> int:
    """Bytes that this session has written for shuffles."""
    executors = spark.sparkContext._jsc.sc().statusStore().executorList(False)
    return sum(executors.apply(at).totalShuffleWrite() for at in range(executors.size()))


def _sums(frame: Any) -> dict[str, Any]:
    """For each query, the number of answers, and the sums of their counts and maxima."""
    found = frame.groupBy("query").agg({"*": "count", "n": "sum", "hi": "sum"})
    rows = found.select("query", "count(1)", "sum(n)", "sum(hi)").collect()
    return {row[0]: [row[1], row[2], row[3]] for row in rows}


def main(text: str) -> None:
    """Call the function `what` with the other arguments; `master` is Spark's."""
    given = json.loads(text)
    what, spark = given.pop("what"), spark_session(given.pop("master"))
    spark.range(10).count()
    print(json.dumps(globals()[what](spark, **given)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
