"""Comparison of the rows of two engines."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from engines import plain

from weft.plan.time_axis import TimeAxis
from weft.query.query import Query
from weft.spark.verify.native import native

AXIS = TimeAxis("ts")


def rows(found) -> Counter:
    """Rows as a multiset."""
    return Counter(plain(tuple(row)) for row in found)


def start_native(
    stream,
    query: Query,
    checkpoint: Path,
    watermark: str,
    mode: str = "append",
    *,
    numbered: bool = False,
):
    """Start the plain Spark query over a stream; its rows are collected in the returned list.

    If `numbered`, each row begins with the number of its micro-batch.

    Spark pushes a predicate below the watermark, which would then lag behind that of the stream;
    one that names the time stays above it, so that all queries see the same watermark.
    """
    if query.where is not None:
        query = Query(
            query.name,
            aggs=query.aggs,
            window=query.window,
            by=query.by,
            having=query.having,
            where=f"({query.where}) OR ts IS NULL",
        )
    found: list = []

    def gather(batch, number: int) -> None:
        found.extend((number, *row) if numbered else row for row in batch.collect())

    frame = native(stream.withWatermark("ts", watermark), AXIS, query)
    running = (
        frame.writeStream.foreachBatch(gather)
        .option("checkpointLocation", str(checkpoint))
        .outputMode(mode)
        .trigger(availableNow=True)
        .start()
    )
    return running, found


def assert_same(name: str, got: Counter, expected: Counter) -> None:
    missing, extra = expected - got, got - expected
    assert not missing, f"{name}: {sum(missing.values())} missing, such as {next(iter(missing))}"
    assert not extra, f"{name}: {sum(extra.values())} extra, such as {next(iter(extra))}"
