"""weft: one loom with all of the queries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.peers.delivery import mark, marked, wait_for_feed
from benchmarks.peers.engines.spark import FEED, from_feed, micro_batches
from benchmarks.peers.job import DELAY, Job

__all__ = ["FEED", "answers", "batch", "delivered", "live", "stream", "version"]
AGGS = {"n": "count(*)", "total": "sum(v)", "hi": "max(v)", "mean": "avg(v)"}


def version() -> str:
    """The versions of weft and of the Spark that it runs on."""
    from pyspark import __version__ as spark

    from weft import __version__

    return f"{__version__} on Spark {spark}"


def loom(job: Job, df: Any) -> Any:
    """The queries on a frame."""
    import weft

    made = weft.Loom(df, time="ts", watermark=f"{DELAY} seconds" if df.isStreaming else None)
    for number, (range_, slide) in enumerate(job.windows):
        window = weft.Window(range=f"{range_} seconds", slide=f"{slide} seconds")
        made.add(weft.Query(f"q{number}", aggs=AGGS, window=window, by=["k"]))
    return made


@contextmanager
def batch(job: Job) -> Iterator[Callable[[], list[pa.Table]]]:
    """Query cached rows; each run plans again."""
    from benchmarks.support.sparks import by_value, cached

    with cached(pq.read_table(job.whole)) as df:

        def run() -> list[pa.Table]:
            found = _flat(loom(job, df).run(persist=False).all().toArrow())
            by_query = by_value(found, "query")
            names = ["start", "k", *AGGS]
            return [by_query[f"q{number}"].select(names) for number in range(len(job.windows))]

        yield run


@contextmanager
def stream(job: Job) -> Iterator[Callable[[], None]]:
    """Run one stream with a watermark over all files, and write one long Parquet table."""
    from benchmarks.studies.micro_batches import session

    spark = session()

    def run() -> None:
        _started(job, micro_batches(spark, job), trigger="available_now").await_termination()

    yield run


@contextmanager
def live(job: Job, **options: Any) -> Iterator[Callable[[], None]]:
    """Run one stream until the feed ends."""
    from benchmarks.studies.micro_batches import session

    spark = session()

    def run() -> None:
        running = _started(job, from_feed(spark, job), **options)
        wait_for_feed(job, lambda: running.await_termination(0.0))
        running.stop()

    yield run


def _started(job: Job, df: Any, **options: Any) -> Any:
    """Start the loom's stream."""
    from weft.sinks import LongSink, MicroBatch

    class Marked(LongSink):
        """A sink that marks when each micro-batch is delivered."""

        def deliver(self, batch: MicroBatch) -> Any:
            figures = super().deliver(batch)
            mark(job.out / f"batch={batch.number}")
            return figures

    checkpoint = f"{job.folder}/checkpoint"
    return loom(job, df).start(Marked(str(job.out)), checkpoint=checkpoint, **options)


def answers(job: Job) -> pa.Table:
    """The answers that the stream wrote."""
    return delivered(job).drop_columns("at")


def delivered(job: Job) -> pa.Table:
    """The same answers with their times of delivery."""
    return marked(job, lambda _, table: _numbered(_flat(table)))


def _numbered(found: pa.Table) -> pa.Table:
    """Answers with the query's number instead of its name."""
    number = pc.cast(pc.utf8_slice_codeunits(found["query"].cast(pa.string()), 1), pa.int32())
    return found.append_column("q", number).select(["q", "start", "k", *AGGS])


def _flat(found: pa.Table) -> pa.Table:
    """Answers with the window's start in microseconds."""
    start = pc.struct_field(found["window"].combine_chunks(), "start")
    return found.append_column("start", start.cast(pa.timestamp("us", "UTC")).cast(pa.int64()))
