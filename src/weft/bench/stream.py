"""Micro-batches of many shared queries against native ones, and long windows over many keys."""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from weft.bench.report import BenchReport
from weft.query.query import Query
from weft.query.window import Window

SCHEMA = "ts timestamp, k int, x double"
WATERMARK = "10 seconds"
SECOND = 1_000_000
SPAN = 16 * 60 * SECOND
"""Event time of a micro-batch."""
START = 1_700_000_000 * SECOND // (3600 * SECOND) * 3600 * SECOND
FILES = 2
"""Files of a micro-batch."""
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
AGGS = {"n": "count(*)", "total": "sum(x)", "hi": "max(x)"}


def run(quick: bool = True) -> BenchReport:
    """The quick form has smaller micro-batches and leaves out the sixteen native queries."""
    report = BenchReport()
    with tempfile.TemporaryDirectory(prefix="weft-bench-", ignore_cleanup_errors=True) as folder:
        _streams(report, Path(folder), quick)
    _long_windows(report, quick)
    if not quick:
        with tempfile.TemporaryDirectory(
            prefix="weft-bench-", ignore_cleanup_errors=True
        ) as folder:
            report.rows += long_window_stream(Path(folder), report)
    return report


def workload(count: int, seed: int = 0) -> list[Query]:
    """Ranges to an hour, slides from one to ten minutes, by key.

    >>> [q.name for q in workload(2)], all(q.window.range <= 3600 * SECOND for q in workload(99))
    (['q0', 'q1'], True)
    """
    draw = np.random.default_rng(seed)
    queries = []
    for number in range(count):
        slide = int(draw.integers(1, 11))
        range_ = slide * int(draw.integers(1, 60 // slide + 1))
        window = Window(range=f"{range_} minutes", slide=f"{slide} minutes")
        queries.append(Query(f"q{number}", aggs=AGGS, window=window, by=["k"]))
    return queries


def _streams(report: BenchReport, folder: Path, quick: bool) -> None:
    rows, batches = (200_000, 4) if quick else (1_000_000, 10)
    write_feed(folder / "in", batches, rows)
    spark = session()
    counts = (1, 16, 256) if quick else (1, 16, 64, 256)
    tumbling = [Query("t", aggs=AGGS, window=Window(range="1 minute"), by=["k"])]
    native_seconds, _ = native_run(spark, folder, tumbling, "native")
    report.add(_row("one native tumbling", 1, native_seconds, None))
    found: dict[int, float] = {}
    for count in counts:
        queries = workload(count)
        seconds, empty, status = weft_run(spark, folder, queries, f"weft-{count}")
        found[count] = seconds
        row = _row("weft", count, seconds, empty)
        row |= {"state_bytes": status.state_bytes, "slices": status.slices}
        row |= {"x_native": seconds / native_seconds}
        report.add(row)
        report.failures += check(spark, folder, queries[: 2 if quick else 4], f"weft-{count}")
        if empty > 1.5:
            report.summary.append(f"MISSED: a micro-batch with no input took {empty:.2f} s")
    ratio = found[256] / native_seconds
    report.summary.append(
        f"256 shared queries cost {ratio:.2f}x of one native tumbling query per micro-batch "
        f"(target: at most 2x){'' if ratio <= 2 else ': MISSED'}"
    )
    if not quick:
        sliding, _ = native_run(spark, folder, workload(16), "sliding")
        report.add(_row("16 native sliding", 16, sliding, None))
        report.summary.append(
            f"16 native sliding queries cost {sliding / found[256]:.1f}x of 256 shared ones and "
            f"{sliding / found[16]:.1f}x of the same 16 shared (target: 10x)"
        )


def _row(what: str, queries: int, seconds: float, empty: float | None) -> dict[str, Any]:
    return {
        "what": what,
        "queries": queries,
        "seconds_per_batch": seconds,
        "x_native": None,
        "empty_batch_seconds": empty,
        "state_bytes": None,
        "slices": None,
    }


def write_feed(folder: Path, batches: int, rows: int, keys: int = 100) -> None:
    """Micro-batches of rows in order of time, spread over the keys."""
    draw = np.random.default_rng(0)
    folder.mkdir(parents=True)
    for number in range(batches):
        times = np.sort(START + number * SPAN + draw.integers(0, SPAN, rows))
        table = pa.table(
            {
                "ts": pa.array(times, pa.timestamp("us", "UTC")),
                "k": pa.array(draw.integers(0, keys, rows), pa.int32()),
                "x": pa.array(draw.normal(0.0, 1.0, rows)),
            }
        )
        _write_batch(folder, number, table)


def _write_batch(folder: Path, number: int, table: pa.Table) -> None:
    """A micro-batch as two files, one for each of two cores, as two partitions of a topic."""
    half = table.num_rows // FILES
    for part in range(FILES):
        path = folder / f"{number:04d}-{part}.parquet"
        pq.write_table(table.slice(part * half, half if part + 1 < FILES else None), path)
        os.utime(path, (1_000_000 + number, 1_000_000 + number))


def session() -> Any:
    """A Spark session on this machine's cores, or the one that runs."""
    from weft.spark.session import local_session

    store = "spark.sql.streaming.stateStore."
    return local_session(
        memory="4g",
        settings={
            "spark.sql.session.timeZone": "UTC",
            "spark.log.level": "OFF",
            # The native queries keep their state as weft does.
            f"{store}providerClass": ROCKSDB,
            f"{store}rocksdb.changelogCheckpointing.enabled": "true",
        },
    )


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

    Into `traffic` go the bytes read, written and held of every micro-batch.
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
    """Note what every micro-batch reads, writes and holds, until the stream ends."""
    batch = -1
    while not running.await_termination(0.05) or running.status().batch != batch:
        status = running.status()
        if status.batch != batch:
            traffic.append((status.read_bytes, status.written_bytes, status.state_bytes))
        batch = status.batch


def native_run(spark: Any, folder: Path, queries: list[Query], name: str) -> tuple[float, float]:
    """The same of native streaming queries, started side by side; their times overlap."""
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


def steady_seconds(queries: list[Any]) -> tuple[float, float]:
    """The median micro-batch after the first two; of several queries, the slowest of each."""
    by_batch: dict[int, list[float]] = {}
    empty: list[float] = []
    for query in queries:
        for progress in query.recentProgress:
            seconds = progress["durationMs"]["triggerExecution"] / 1000.0
            if progress["numInputRows"] == 0:
                empty.append(seconds)
            elif progress["batchId"] >= 2:
                by_batch.setdefault(progress["batchId"], []).append(seconds)
    steady = statistics.median(max(some) for some in by_batch.values())
    return steady, max(empty, default=0.0)


def check(spark: Any, folder: Path, queries: list[Query], name: str) -> list[str]:
    """Whether some queries' rows are those of the batch query, as far as windows are closed."""
    from weft.plan.time_axis import TimeAxis
    from weft.spark.verify.native import native

    batch = spark.read.schema(SCHEMA).parquet(str(folder / "in"))
    latest = batch.selectExpr("unix_micros(max(ts))").first()[0]
    closed = (latest - 10 * SECOND) // 1000 * 1000
    answers = spark.read.parquet(str(folder / name))
    wrong = []
    for query in queries:
        expected = native(batch, TimeAxis("ts"), query)
        expected = expected.where(f"window.end <= timestamp_micros({closed})")
        found = answers.where(f"query = '{query.name}'")
        columns = ["window.start", "k", "n", "round(total, 6)", "hi"]
        right, given = expected.selectExpr(*columns), found.selectExpr(*columns)
        missing, extra = right.exceptAll(given).count(), given.exceptAll(right).count()
        if missing or extra or not given.count():
            wrong.append(f"{name}: {query.name}: {missing} rows missing, {extra} too many")
    return wrong


def _long_windows(report: BenchReport, quick: bool) -> None:
    """A day's window every minute over many keys: what each micro-batch reads and writes."""
    keys, hours = (500, 30) if quick else (2_500, 36)  # 10,000 keys are four buckets of 2,500
    traffic, held = long_window_traffic(keys, hours * 60)
    by_hour = [
        (
            statistics.mean(t.read_bytes for t in traffic[hour * 60 : hour * 60 + 60]),
            statistics.mean(t.written_bytes for t in traffic[hour * 60 : hour * 60 + 60]),
        )
        for hour in range(hours)
    ]
    for hour in range(0, hours, 3):
        read, written = by_hour[hour]
        report.add(
            {
                "what": f"24 h by 1 min, {keys} keys in a bucket",
                "hour": hour,
                "read_bytes_per_batch": round(read),
                "written_bytes_per_batch": round(written),
                "state_bytes": held,
            }
        )
    day, after = by_hour[24][0], statistics.mean(read for read, _ in by_hour[25:])
    share = after / held
    report.summary.append(
        f"24 h by 1 minute: a steady micro-batch reads {after:,.0f} bytes, {share:.1%} of the "
        f"{held:,} held, and writes {by_hour[-1][1]:,.0f}"
    )
    if share > 0.25 or after > 1.5 * day:
        report.failures.append("24 h by 1 minute: traffic is not flat over the day")


def long_window_traffic(keys: int, minutes: int) -> tuple[list[Any], int]:
    """Traffic of every micro-batch of a bucket, one a minute, and the bytes that it then holds."""
    from weft.algebra.part import Part
    from weft.engine.parcel import Parcel
    from weft.engine.preaggregate import Preaggregate
    from weft.engine.program import FAR, Program, QueryWindows, RowColumns, TreeProgram
    from weft.engine.shards import NumberedKey, NumberedPart, ShardSchema
    from weft.engine.state.bucket import Bucket
    from weft.engine.state.due import closing_answers

    minute, day = 60 * SECOND, 86_400 * SECOND
    parts = (
        NumberedPart(0, Part("sum", ("x",)), (pa.float64(),)),
        NumberedPart(1, Part("count"), (pa.int64(),)),
    )
    service = QueryWindows(1, day, minute, 0, -FAR, FAR, (0,), None, (0, 1))
    columns = RowColumns((), None, ("k",), ((("x",), None), ((), None)))
    store = TreeProgram(
        1, ShardSchema((NumberedKey(0, pa.int32()),), parts), ((0, minute),), (), None,
        (service,), columns,
    )  # fmt: skip
    program = Program(1, (store,), 1, 1000, "append")
    state = _Memory()
    traffic = []
    ones, ahead = pa.array(np.ones(keys)), pa.array(np.zeros(keys, dtype=bool))
    numbers = pa.array(np.arange(keys), pa.int32())
    for at in range(minutes):
        times = pa.array(np.full(keys, START + at * minute + 1))
        made = {"t": times, "ahead": ahead, "k": numbers, "x": ones}
        rows = pa.RecordBatch.from_pydict(made)
        (parcels,) = Preaggregate(program)(iter([rows]))
        parcel = Parcel.from_bytes(parcels.column("parcel")[0].as_py())
        bucket = Bucket(program, state)
        bucket.index.max_event_time = parcel.max_event_time
        for shipment in parcel.shipments:
            shards, counts = shipment.split()
            bucket.index.fragment(0)
            bucket.absorb(store, store.schema.conform(shards), counts)
        watermark = START + at * minute
        answered = sum(len(found.start) for found in closing_answers(bucket, store, watermark))
        if at > 0 and answered != keys:
            raise AssertionError(f"minute {at}: {answered} answers for {keys} keys")
        bucket.index.frontier = watermark
        bucket.evict(store)
        bucket.save()
        traffic.append(bucket.traffic)
    return traffic, sum(len(value) for value in state.values())


def long_window_stream(
    folder: Path, report: BenchReport, *, keys: int = 10_000, hours: int = 36
) -> list[dict[str, Any]]:
    """A day's window every minute through Spark: half an hour of every key to a micro-batch."""
    draw, minute, half = np.random.default_rng(0), 60 * SECOND, 30
    (folder / "in").mkdir(parents=True)
    for number in range(2 * hours):
        first = START + number * half * minute
        times = np.repeat(first + np.arange(half) * minute, keys) + 1
        table = pa.table(
            {
                "ts": pa.array(times, pa.timestamp("us", "UTC")),
                "k": pa.array(np.tile(np.arange(keys, dtype=np.int32), half)),
                "x": pa.array(draw.normal(0.0, 1.0, len(times))),
            }
        )
        _write_batch(folder / "in", number, table)
    aggs = {"n": "count(*)", "total": "sum(x)"}
    day = Query("day", aggs=aggs, window=Window(range="24 hours", slide="1 minute"), by=["k"])
    traffic: list[Any] = []
    seconds, _, status = weft_run(session(), folder, [day], "day", traffic)
    rows = [
        {
            "what": f"24 h by 1 min, {keys:,} keys, through Spark",
            "hour": at // 2,
            "read_bytes_per_batch": read,
            "written_bytes_per_batch": written,
            "state_bytes": held,
        }
        for at, (read, written, held) in enumerate(traffic)
        if at % 6 == 0 or at == len(traffic) - 1
    ]
    read, written, held = (statistics.mean(some) for some in zip(*traffic[-12:], strict=True))
    report.summary.append(
        f"24 h through Spark, {keys:,} keys: a micro-batch of half an hour takes {seconds:.2f} s, "
        f"reads {read:,.0f} and writes {written:,.0f} bytes of {held:,.0f} held; "
        f"{status.slices:,} slices"
    )
    if read > 0.5 * held:
        report.failures.append("24 h through Spark: a micro-batch reads most of the state")
    # Every key has a row a minute, so a window has as many rows as minutes, up to a day's.
    answers = session().read.parquet(str(folder / "day"))
    minutes = f"least(1440, (unix_micros(window.end) - {START}L) DIV {minute}L)"
    wrong = answers.where(f"n <> {minutes}").count()
    closed = answers.select("window").distinct().count()
    if wrong or answers.count() != closed * keys or closed < (hours - 1) * 60:
        report.failures.append(f"24 h through Spark: {wrong} wrong counts in {closed} windows")
    return rows


class _Memory(dict[str, bytes]):
    """A state store in memory."""

    def put(self, name: str, value: bytes) -> None:
        self[name] = value

    def remove(self, name: str) -> None:
        self.pop(name, None)


if __name__ == "__main__":
    began = time.perf_counter()
    result = run(quick="--full" not in sys.argv)
    for line in (*result.rows, *result.summary, *result.failures):
        print(line)
    print(f"{time.perf_counter() - began:.0f} s")
