"""Plain Spark: one GROUP BY window(...) per query, one query after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.peers.delivery import mark, marked, wait_for_feed
from benchmarks.peers.job import DELAY, Job, long_table

FEED = "files"
SCHEMA = "ts timestamp, k int, v bigint"


def version() -> str:
    """The installed version."""
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
    """Query cached rows; each query is collected as Arrow."""
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
    """Run each query as a stream with a watermark over all files, and write to Parquet."""
    from benchmarks.studies.micro_batches import session

    spark = session()

    def run() -> None:
        for number, query in enumerate(_queries(job, micro_batches(spark, job))):
            writer = query.format("parquet").trigger(availableNow=True)
            writer.start(str(job.out / str(number))).awaitTermination()
            job.note_done(number + 1)

    yield run


@contextmanager
def live(job: Job) -> Iterator[Callable[[], None]]:
    """Run all queries at the same time, each as a separate stream, until the feed ends."""
    from benchmarks.studies.micro_batches import session

    spark = session()

    def run() -> None:
        started = [
            query.foreachBatch(_writer(job.out / str(number))).start()
            for number, query in enumerate(_queries(job, from_feed(spark, job)))
        ]

        def check() -> None:
            for query in started:
                if query.exception() is not None:
                    raise query.exception()

        wait_for_feed(job, check)
        for query in started:
            query.stop()

    yield run


def _writer(folder: Path) -> Callable[[Any, int], None]:
    def write(batch: Any, number: int) -> None:
        batch.write.mode("overwrite").parquet(str(folder / str(number)))
        mark(folder / str(number))

    return write


def micro_batches(spark: Any, job: Job) -> Any:
    """The files as a stream, one per micro-batch."""
    from benchmarks.studies.micro_batches import FILES

    return _files(spark).option("maxFilesPerTrigger", FILES).parquet(str(job.batches))


def from_feed(spark: Any, job: Job) -> Any:
    """The files as a stream, whose micro-batches take all files that have arrived."""
    return _files(spark).parquet(str(job.batches))


def _files(spark: Any) -> Any:
    return spark.readStream.schema(SCHEMA)


def _queries(job: Job, df: Any) -> Iterator[Any]:
    """The queries over a stream, still without a sink."""
    df.withWatermark("ts", f"{DELAY} seconds").createOrReplaceTempView("events")
    for number, text in enumerate(sql(job, "events")):
        writer = df.sparkSession.sql(text).writeStream.outputMode("append")
        yield writer.option("checkpointLocation", f"{job.folder}/checkpoint/{number}")


def answers(job: Job) -> pa.Table:
    """The answers that the streams wrote."""
    folders = (job.out / str(number) for number in range(len(job.windows)))
    return long_table(
        [pq.read_table(sorted(map(str, folder.glob("*.parquet")))) for folder in folders]
    )


def delivered(job: Job) -> pa.Table:
    """The same answers with their times of delivery."""

    def read(folder: Path, table: pa.Table) -> pa.Table:
        query = pa.array([int(folder.parent.name)] * table.num_rows, pa.int32())
        return table.append_column("q", query)

    return marked(job, read)
