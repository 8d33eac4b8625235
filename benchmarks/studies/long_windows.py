"""A window of a day every minute over many keys: what each micro-batch reads and writes."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.studies.micro_batches import SECOND, START, session, weft_run, write_batch
from benchmarks.support.harness import Row, Rows, check, pick
from weft.query.query import Query
from weft.query.window import Window

BUCKET, SPARK = "24 h by 1 min, one bucket", "24 h by 1 min, through Spark"
STEADY, MOST = 0.25, 0.5
"""Fractions of the state that a steady micro-batch may read: of a bucket, and through Spark."""


def one_bucket(full: bool) -> Rows:
    """Run a bucket without Spark, a micro-batch per minute; its traffic must stay flat all day."""
    keys, hours = (2_500, 36) if full else (500, 30)  # 10,000 keys are four buckets of 2,500
    traffic, held = bucket_traffic(keys, hours * 60)
    by_hour = [traffic[hour * 60 : hour * 60 + 60] for hour in range(hours)]
    read = [statistics.mean(one.read_bytes for one in some) for some in by_hour]
    written = [statistics.mean(one.written_bytes for one in some) for some in by_hour]
    after = statistics.mean(read[25:])
    check(
        after <= STEADY * held and after <= 1.5 * read[24],
        f"24 h by 1 minute: traffic is not flat over the day: {after:,.0f} bytes read of {held:,}",
    )
    return [
        {
            "what": BUCKET,
            "keys": keys,
            "hour": hour,
            "read_bytes_per_batch": round(read[hour]),
            "written_bytes_per_batch": round(written[hour]),
            "state_bytes": held,
        }
        for hour in (*range(0, hours, 3), hours - 1)
    ]


def bucket_traffic(keys: int, minutes: int) -> tuple[list[Any], int]:
    """Traffic and size in bytes of a bucket after every micro-batch, one per minute."""
    from weft.algebra.part import Part
    from weft.engine.parcel import Parcel
    from weft.engine.preaggregate import Preaggregate
    from weft.engine.program import Program, RowColumns, TreeProgram
    from weft.engine.query_windows import FAR, QueryWindows
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
    ones, numbers = pa.array(np.ones(keys)), pa.array(np.arange(keys), pa.int32())
    for at in range(minutes):
        times = pa.array(np.full(keys, START + at * minute + 1))
        rows = pa.RecordBatch.from_pydict({"t": times, "k": numbers, "x": ones})
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
        right = at == 0 or answered == keys
        check(right, f"minute {at}: {answered} answers for {keys} keys")
        bucket.index.frontier = watermark
        bucket.evict(store)
        bucket.save()
        traffic.append(bucket.traffic)
    return traffic, sum(len(value) for value in state.values())


def through_spark(folder: Path, *, keys: int = 10_000, hours: int = 36) -> Rows:
    """Run the window through Spark; each micro-batch has half an hour of rows of every key."""
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
        write_batch(folder / "in", number, table)
    aggs = {"n": "count(*)", "total": "sum(x)"}
    day = Query("day", aggs=aggs, window=Window(range="24 hours", slide="1 minute"), by=["k"])
    traffic: list[Any] = []
    seconds, _, status = weft_run(session(), folder, [day], "day", traffic)
    check(
        statistics.mean(read for read, _, _ in traffic[-12:])
        <= MOST * statistics.mean(held for _, _, held in traffic[-12:]),
        "24 h through Spark: a micro-batch reads most of the state",
    )
    # Every key has a row per minute: a window has as many rows as minutes, up to a day.
    answers = session().read.parquet(str(folder / "day"))
    minutes = f"least(1440, (unix_micros(window.end) - {START}L) DIV {minute}L)"
    wrong = answers.where(f"n <> {minutes}").count()
    closed = answers.select("window").distinct().count()
    check(
        not wrong and answers.count() == closed * keys and closed >= (hours - 1) * 60,
        f"24 h through Spark: {wrong} wrong counts in {closed} windows",
    )
    return [
        {
            "what": SPARK,
            "keys": keys,
            "hour": at // 2,
            "read_bytes_per_batch": read,
            "written_bytes_per_batch": written,
            "state_bytes": held,
            "seconds_per_batch": seconds,
            "slices": status.slices,
        }
        for at, (read, written, held) in enumerate(traffic)
        if at % 6 == 0 or at == len(traffic) - 1
    ]


def told(rows: Rows) -> list[str]:
    """A sentence about the last micro-batches for each of the two ways that was run."""
    said = []
    for what in (BUCKET, SPARK):
        some: list[Row] = pick(rows, what=what)
        if some:
            last = some[-1]
            read, held = last["read_bytes_per_batch"], last["state_bytes"]
            said.append(
                f"{what}, {last['keys']:,} keys: a steady micro-batch reads {read:,} bytes, "
                f"{read / held:.1%} of the {held:,} held, and writes "
                f"{last['written_bytes_per_batch']:,}"
            )
    return said


class _Memory(dict[str, bytes]):
    """A state store in memory."""

    def put(self, name: str, value: bytes) -> None:
        self[name] = value

    def remove(self, name: str) -> None:
        self.pop(name, None)
