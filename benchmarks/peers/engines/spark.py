"""Plain Spark: one GROUP BY window(...) per query, one query after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.peers.job import DELAY, Job

SCHEMA = "ts timestamp, k int, v bigint"


def version() -> str:
    """What is installed."""
    from pyspark import __version__

    return __version__


def sql(job: Job, view: str) -> list[str]:
    """The queries."""
    return [
        "SELECT unix_micros(window.start) AS start, k, count(*) AS n, sum(v) AS total, "
        f"max(v) AS hi, avg(v) AS mean FROM {view} "
        f"GROUP BY window(ts, '{range_} seconds', '{slide} seconds'), k"
        for range_, slide in job.windows
    ]


@contextmanager
def batch(job: Job) -> Iterator[Callable[[], list[pa.Table]]]:
    """Over cached rows, each query collected as Arrow."""
    from benchmarks.support.sparks import cached, session

    with cached(pq.read_table(job.whole)) as df:
        df.createOrReplaceTempView("events")

        def run() -> list[pa.Table]:
            found = []
            for text in sql(job, "events"):
                found.append(session().sql(text).toArrow())
                job.note_done(len(found))
            return found

        yield run


@contextmanager
def stream(job: Job) -> Iterator[Callable[[], None]]:
    """Each query as a stream with a watermark, into Parquet, from its first file to its last."""
    from benchmarks.studies.micro_batches import session

    spark = session()

    def run() -> None:
        for number, query in enumerate(_started(job, micro_batches(spark, job), available_now=True)):
            query.awaitTermination()
            job.note_done(number + 1)

    yield run


@contextmanager
def live(job: Job) -> Iterator[Callable[[], None]]:
    """Each query as a stream of its own, all at once, until the feed ends."""
    from benchmarks.studies.micro_batches import session

    spark = session()

    def run() -> None:
        started = list(_started(job, from_feed(spark, job)))
        wait_for_feed(job, started)

    yield run


def micro_batches(spark: Any, job: Job) -> Any:
    """The files as a stream, a micro-batch at a time."""
    from benchmarks.studies.micro_batches import FILES

    reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", FILES)
    return reader.parquet(str(job.batches))


def from_feed(spark: Any, job: Job) -> Any:
    """The lines of the feed as rows."""
    reader = spark.readStream.format("socket").option("host", "127.0.0.1").option("port", job.port)
    return reader.load().selectExpr(
        "timestamp_millis(CAST(split_part(value, ',', 1) AS BIGINT)) AS ts",
        "CAST(split_part(value, ',', 2) AS INT) AS k",
        "CAST(split_part(value, ',', 3) AS BIGINT) AS v",
    )


def wait_for_feed(job: Job, started: list[Any]) -> None:
    """Let queries run for as long as the feed sends, and a little longer; then stop them."""
    import time

    until = time.monotonic() + job.seconds + 5.0
    while time.monotonic() < until:
        for query in started:
            if query.exception() is not None:
                raise query.exception()
        time.sleep(0.2)
    for query in started:
        query.stop()


def _started(job: Job, df: Any, *, available_now: bool = False) -> Iterator[Any]:
    """The queries, each started when it is asked for."""
    df.withWatermark("ts", f"{DELAY} seconds").createOrReplaceTempView("events")
    for number, text in enumerate(sql(job, "events")):
        writer = df.sparkSession.sql(text).writeStream.format("parquet").outputMode("append")
        writer = writer.option("checkpointLocation", f"{job.folder}/checkpoint/{number}")
        if available_now:
            writer = writer.trigger(availableNow=True)
        yield writer.start(str(job.out / str(number)))


def answers(job: Job) -> pa.Table:
    """What the streams wrote."""
    from benchmarks.peers.job import long_table

    columns = ["start", "k", "n", "total", "hi", "mean"]
    return long_table(
        [
            pq.read_table(sorted(map(str, (job.out / str(number)).glob("*.parquet"))))
            .select(columns)
            for number in range(len(job.windows))
        ]
    )  # fmt: skip
