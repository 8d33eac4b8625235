"""`python -m benchmarks.studies.overheads_trial JSON`: one point of `overheads` by itself.

Spark is started, but has run nothing yet: the point pays for workers, imports and compilation. It
prints its results as JSON in the last line.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.studies.micro_batches import SCHEMA, steady_seconds, stream_of
from benchmarks.studies.scale_trial import DELAY, spark_session
from benchmarks.studies.stream import AGGS, closed_by, differing, workload
from benchmarks.support.harness import check
from weft.query.query import Query
from weft.query.window import Window

POLL = 0.005
WARM = 4
"""Micro-batches after which a stream is steady."""
TUMBLING = Query("plain", aggs=AGGS, window=Window(range="1 minute"), by=["k"])


def stream(spark: Any, folder: str, count: int) -> dict[str, Any]:
    """Weft on a stream, with its default sink."""
    import weft
    from weft.plan.time_axis import TimeAxis

    queries, out = workload(count), f"{folder}-weft"
    loom = weft.Loom(stream_of(spark, Path(folder).parent), time="ts", watermark=f"{DELAY} seconds")
    for query in queries:
        loom.add(query)
    began = time.perf_counter()
    running = loom.start(out, checkpoint=f"{out}-ck", trigger="available_now")
    started = time.perf_counter() - began
    first = _until(lambda: running.progress.batch >= 0, began)
    running.await_termination()
    rows = spark.read.schema(SCHEMA).parquet(folder)
    closed = closed_by(rows)
    for query in (queries[0], queries[-1]):
        found = weft.read_results(spark, out, query.name)
        wrong = differing(rows, found, query, TimeAxis("ts"), closed)
        check(wrong is None, str(wrong))
    return {
        "start_s": started,
        "first_s": first,
        "batch_s": steady_seconds([running.last_query], WARM)[0],
    }


def plain(spark: Any, folder: str, count: int) -> dict[str, Any]:
    """One plain tumbling query, or rows by key if `count` is 0; foreachBatch writes Parquet."""
    from weft.plan.time_axis import TimeAxis
    from weft.spark.verify.native import native

    out, done = f"{folder}-plain", []

    def write(batch: Any, number: int) -> None:
        batch.write.mode("overwrite").parquet(f"{out}/{number}")
        done.append(number)

    rows = stream_of(spark, Path(folder).parent)
    began = time.perf_counter()
    frame, mode = rows.groupBy("k").agg({"*": "count", "x": "sum"}), "update"
    if count:
        timed = rows.withWatermark("ts", f"{DELAY} seconds")
        frame, mode = native(timed, TimeAxis("ts"), TUMBLING), "append"
    started = frame.writeStream.foreachBatch(write).outputMode(mode)
    running = started.option("checkpointLocation", f"{out}-ck").trigger(availableNow=True).start()
    first = _until(lambda: bool(done), began)
    running.awaitTermination()
    return {"first_s": first, "batch_s": steady_seconds([running], WARM)[0]}


def batch(spark: Any, folder: str, count: int) -> dict[str, Any]:
    """The first answers of a batch: weft's, or those of one plain query if `count` is 0."""
    import weft
    from weft.plan.time_axis import TimeAxis
    from weft.spark.verify.native import native

    began = time.perf_counter()
    df = spark.read.schema(SCHEMA).parquet(folder)
    if not count:
        answers = native(df, TimeAxis("ts"), TUMBLING).toArrow().num_rows
        return {"first_s": time.perf_counter() - began, "answers": answers}
    loom, queries = weft.Loom(df, time="ts"), workload(count)
    for query in queries:
        loom.add(query)
    results = loom.run()
    planned = time.perf_counter() - began
    answers = results.all().toArrow().num_rows
    first = time.perf_counter() - began
    wrong = differing(df, results[queries[0].name], queries[0], TimeAxis("ts"), None)
    check(wrong is None, str(wrong))
    return {"plan_s": planned, "first_s": first, "answers": answers}


def _until(is_so: Callable[[], bool], began: float) -> float:
    while not is_so():
        time.sleep(POLL)
    return time.perf_counter() - began


def main(text: str) -> None:
    """Call the function `what` with the other arguments."""
    given = json.loads(text)
    what, spark = given.pop("what"), spark_session("local[2]")
    print(json.dumps(globals()[what](spark, **given)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
