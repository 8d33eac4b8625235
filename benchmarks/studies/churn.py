"""Churn: queries that come and go many times a second on a stream of hundreds (as in AStream).

A stream of large micro-batches runs as fast as it can. Another process requests adds and drops, in
equal numbers, of windows and thresholds that the stream can serve without a restart. The study
reports the seconds from a request to the first micro-batch that uses it, the rows per second with
and without churn, and restarts. At the end, answers of queries that were there from the start and
of queries that were added are compared with Spark's own.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from benchmarks.studies.micro_batches import session
from benchmarks.support.harness import ROOT, Claim, Row, Rows, check, noted
from weft.errors import CheckpointError
from weft.query.query import Query
from weft.query.window import Window
from weft.sinks import ParquetSink
from weft.sinks.contract import Figures, MicroBatch
from weft.stream.requests import Requests

PICTURE = None
LATENCY, LOSS = 2.0, 0.15
"""Our targets at 100 changes a second: the 99th percentile of micro-batches from a request to the
first that uses it, and the fraction of the rows per second that may be lost."""
MINUTE = 60_000_000
ADVANCE = 60_000
"""Milliseconds of event time in a micro-batch."""
START = 1_700_000_040_000
PATIENCE = 60
"""Seconds to wait for replies after the last request; the remaining requests are withdrawn."""
AGGS = {"n": "count(*)", "total": "sum(x)", "hi": "max(x)"}


def run(full: bool) -> Rows:
    """The quick form has a tenth of the rows, an eighth of the queries and shorter phases."""
    return noted(_rows(full))


def staying(count: int) -> list[Query]:
    """The queries that the stream begins with and keeps."""
    return [asked(number, f"q{number}") for number in range(count)]


def asked(number: int, name: str) -> Query:
    """Queries to add: windows up to an hour in whole minutes, a third without a predicate."""
    window = Window(range=f"{1 + number % 60} minutes", slide=f"{1 + number % 3} minutes")
    where = None if number % 3 == 0 else f"x > {number % 97}"
    return Query(name, aggs=AGGS, window=window, by=["k"], where=where)


def source(spark: Any, rows: int) -> Any:
    """A stream of generated rows, the same number in every micro-batch."""
    reader = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", rows)
    reader = reader.option("numPartitions", 2).option("startTimestamp", START)
    return _columns(reader.option("advanceMillisPerBatch", ADVANCE).load())


def same_rows(spark: Any, rows: int, first: int, last: int) -> Any:
    """The rows of some micro-batches as a batch DataFrame."""
    made = spark.range(first * rows, last * rows).withColumnRenamed("id", "value")
    at = f"timestamp_millis({START}L + (value DIV {rows}) * {ADVANCE}L)"
    return _columns(made.selectExpr("value", f"{at} AS timestamp"))


def _columns(frame: Any) -> Any:
    return frame.selectExpr(
        f"timestamp_micros(unix_micros(timestamp) + pmod(value * 7919, {ADVANCE}) * 1000) AS ts",
        "pmod(value, 100) AS k",
        "pmod(value * 31, 100) AS x",
    )


class Timed(ParquetSink):
    """A sink that notes when each micro-batch began."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.began: dict[int, float] = {}

    def deliver(self, batch: MicroBatch) -> Figures:
        self.began[batch.number] = time.time()
        return super().deliver(batch)


def _rows(full: bool) -> Iterator[Row]:
    rows, queries, seconds = (1_000_000, 256, 60) if full else (100_000, 32, 10)
    from weft.spark.loom import Loom

    spark = session()
    with tempfile.TemporaryDirectory(prefix="weft-bench-", ignore_cleanup_errors=True) as folder:
        loom = Loom(source(spark, rows), time="ts", watermark="0 seconds")
        for query in staying(queries):
            loom.add(query)
        sink, checkpoint = Timed(f"{folder}/out"), f"{folder}/ck"
        running = loom.start(sink, checkpoint=checkpoint, rate=rows / 60)
        try:
            until(lambda: running.progress.batch >= 5)
            run_id = str(running.last_query.runId)
            number = 0
            plain: float | None = None
            for rate in (0, 1, 10, 100, 1000) if full else (0, 10, 100):
                row, number = _phase(running, sink, checkpoint, rate, seconds, number)
                plain = row["rows per s"] if plain is None else plain
                row["of rows per s without"] = row["rows per s"] / plain
                row["restarts"] = int(str(running.last_query.runId) != run_id)
                run_id = str(running.last_query.runId)
                yield {"rows": rows, "queries": queries, **row}
            _check(spark, running, sink, rows, queries)
        finally:
            running.stop()
            spark.stop()


def _phase(
    running: Any, sink: Timed, checkpoint: str, rate: int, seconds: int, number: int
) -> tuple[Row, int]:
    """Request changes at a rate for some seconds; return the measurements."""
    first, began = max(sink.began), time.time()
    told: list[dict[str, float]] = []
    if rate:
        command = [sys.executable, "-m", "benchmarks.studies.churn", checkpoint]
        command += [str(rate), str(seconds), str(number)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900)
        check(done.returncode == 0, f"{rate} changes a second: {done.stderr[-2000:]}")
        told = json.loads(done.stdout)
    else:
        time.sleep(seconds)
    # Count rows while changes are requested, not while waiting for the last of them.
    ends = began + seconds
    batches = sorted(at for batch, at in sink.began.items() if batch > first and at <= ends)
    check(len(batches) > 2, f"{len(batches)} micro-batches in {seconds} s: too few to tell")
    each = float(np.median(np.diff(batches)))
    until(lambda: all(int(one["batch"]) in sink.began for one in told))
    waited = np.array([sink.began[int(one["batch"])] - one["asked"] for one in told] or [0.0])
    rows_per_batch = running.status().rows
    # One process writes about 300 requests a second; higher rates mean as many as it can.
    return {
        "changes per s": rate,
        "changes": len(told),
        "ms per micro-batch": 1e3 * each,
        "rows per s": rows_per_batch / ((batches[-1] - batches[0]) / (len(batches) - 1)),
        "p50 s": float(np.quantile(waited, 0.5)),
        "p99 s": float(np.quantile(waited, 0.99)),
        "p99 in micro-batches": float(np.quantile(waited, 0.99)) / each,
    }, number + rate * seconds


def ask(checkpoint: str, rate: int, seconds: int, number: int) -> list[dict[str, float]]:
    """The other process: alternate adds and drops; record the time and first batch of each."""
    requests = Requests(checkpoint)
    began = time.time()
    tickets: list[tuple[str, float]] = []
    live: list[str] = []
    for at in range(rate * seconds):
        wait = began + at / rate - time.time()
        if wait > 0:
            time.sleep(wait)
        if at % 2 == 0 or not live:
            name = f"c{number + at}"
            live.append(name)
            tickets.append((requests.ask_add(asked(number + at, name)), time.time()))
        else:
            tickets.append((requests.ask_drop(live.pop(0)), time.time()))
        if time.time() > began + seconds:
            break
    found = []
    ends = began + seconds + PATIENCE
    for ticket, when in tickets:
        with suppress(CheckpointError):  # not done in time: withdrawn
            made = requests.wait(ticket, timeout=max(0.0, ends - time.time()))
            found.append({"asked": when, "batch": made["batch"]})
    return found


def until(condition: Any, seconds: float = 300.0) -> None:
    """Wait until a condition holds."""
    ends = time.monotonic() + seconds
    while not condition():
        check(time.monotonic() < ends, "waited too long")
        time.sleep(0.05)


def _check(spark: Any, running: Any, sink: Timed, rows: int, queries: int) -> None:
    """Compare some queries' answers in the last minutes of event time with Spark's own."""
    from weft.sinks import read_results
    from weft.spark.verify.native import native

    wanted = running.progress.batch + 3
    until(lambda: running.progress.batch >= wanted)
    frontier = running.progress.frontier
    last = (frontier // 1000 - START) // ADVANCE
    first = max(0, last - 8)
    low = (START + first * ADVANCE) * 1000
    batch = same_rows(spark, rows, first, last)
    came = [entry for entry in running.catalogue.entries if entry.query.name.startswith("c")]
    stayed = [entry for entry in running.catalogue.entries if entry.query.name.startswith("q")]
    check(len(stayed) == queries, f"{len(stayed)} of {queries} queries are still there")
    short = [e for e in (*stayed, *came) if e.query.window.range <= 4 * MINUTE][:12]
    for entry in short:
        since = max(low, entry.complete_from or low)
        between = f"window.start >= timestamp_micros({since}) AND window.end <= "
        between += f"timestamp_micros({frontier})"
        expected = native(batch, running.axis, entry.query).where(between)
        found = read_results(spark, sink.path, entry.query.name).where(between)
        wrong = expected.exceptAll(found).count() + found.exceptAll(expected).count()
        check(wrong == 0, f"{entry.query.name}: {wrong} rows differ from Spark's")


def claim(rows: Rows) -> Claim:
    """The effect of 100 changes a second, compared with no churn."""
    by_rate: Mapping[int, Row] = {int(row["changes per s"]): row for row in rows}
    hundred = by_rate[100]
    loss = 1 - hundred["of rows per s without"]
    restarts = sum(int(row["restarts"]) for row in rows)
    return Claim(
        f"none: no restart, p99 below {LATENCY:g} micro-batches, {LOSS:.0%} of rows per s lost",
        f"{restarts} restarts; at 100 changes per s p99 {hundred['p99 in micro-batches']:.1f} "
        f"micro-batches ({hundred['p99 s']:.2f} s), {loss:.0%} of rows per s lost",
        restarts == 0 and hundred["p99 in micro-batches"] < LATENCY and loss <= LOSS,
        also=tuple(
            f"{rate:,} changes per s: {row['changes']:,} in all, p50 {row['p50 s']:.2f} s, p99 "
            f"{row['p99 s']:.2f} s, {row['ms per micro-batch']:,.0f} ms per micro-batch, "
            f"{row['of rows per s without']:.0%} of the rows per s"
            for rate, row in by_rate.items()
        ),
    )


if __name__ == "__main__":
    print(json.dumps(ask(sys.argv[1], *map(int, sys.argv[2:5]))))
