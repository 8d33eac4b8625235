"""Bytewax: one dataflow, with a fold_window over sliding windows by key for each query.

It has one worker, because operators are Python code: a second thread would wait for the first.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute
import pyarrow.csv
import pyarrow.parquet as pq

from benchmarks.peers.delivery import printed
from benchmarks.peers.job import DELAY, Job

NEEDS = ("bytewax==0.21.1", "pyarrow==24.0.0")
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
NAMES = ["q", "start", "k", "n", "total", "hi", "mean"]
SOME = 1_000
"""Rows per batch of the source."""
Event = tuple[datetime, int]
Sums = tuple[int, int, int]


def version() -> str:
    """The installed version."""
    from importlib.metadata import version

    return version("bytewax")


@contextmanager
def stream(job: Job) -> Iterator[Callable[[], None]]:
    """Read the rows from one file, and write answers to a text file."""
    from bytewax.connectors.files import FileSink
    from bytewax.testing import run_main

    flow = _flow(job, _parts(lambda: _from_file(job)), FileSink(Path(job.out)), keyed=True)
    yield lambda: run_main(flow)


@contextmanager
def live(job: Job) -> Iterator[Callable[[], None]]:
    """Read the rows from the feed's socket, and print answers."""
    from bytewax.connectors.stdio import StdOutSink
    from bytewax.testing import run_main

    flow = _flow(job, _parts(lambda: _from_feed(job)), StdOutSink(), keyed=False)
    yield lambda: run_main(flow)


def _flow(job: Job, source: Any, sink: Any, *, keyed: bool) -> Any:
    import bytewax.operators as op
    from bytewax.dataflow import Dataflow
    from bytewax.operators import windowing as win

    flow = Dataflow("peers")
    rows = op.input("rows", flow, source)
    clock = win.EventClock(lambda event: event[0], timedelta(seconds=DELAY))
    lines = []
    for number, (range_, slide) in enumerate(job.windows):
        windower = win.SlidingWindower(
            length=timedelta(seconds=range_), offset=timedelta(seconds=slide), align_to=EPOCH
        )
        found = win.fold_window(f"w{number}", rows, clock, windower, _nothing, _fold, _merge)

        def told(item: Any, number: int = number, slide: int = slide) -> Any:
            key, (window, (n, total, hi)) = item
            # Windows are numbered by slides since the instant that they are aligned to.
            start = window * slide * 1000
            line = ",".join(map(str, (number, start, key, n, total, hi, total / n)))
            return (key, line) if keyed else f"+I[{line}]"

        lines.append(op.map(f"m{number}", found.down, told))
    op.output("answers", op.merge("all", *lines), sink)
    return flow


def _nothing() -> Sums:
    return (0, 0, -1)


def _fold(sums: Sums, event: Event) -> Sums:
    value = event[1]
    return (sums[0] + 1, sums[1] + value, max(sums[2], value))


def _merge(some: Sums, other: Sums) -> Sums:
    return (some[0] + other[0], some[1] + other[1], max(some[2], other[2]))


def _parts(rows: Callable[[], Iterator[list[tuple[str, Event]]]]) -> Any:
    """A source with one partition, over an iterator."""
    from bytewax.inputs import FixedPartitionedSource, StatefulSourcePartition

    class Part(StatefulSourcePartition[Any, None]):  # type: ignore[misc]
        def __init__(self) -> None:
            self.rows = rows()

        def next_batch(self) -> list[tuple[str, Event]]:
            return next(self.rows)  # StopIteration ends the source

        def snapshot(self) -> None:
            return None

    class Rows(FixedPartitionedSource[Any, None]):  # type: ignore[misc]
        def list_parts(self) -> list[str]:
            return ["all"]

        def build_part(self, step_id: str, for_part: str, resume_state: None) -> Part:
            return Part()

    return Rows()


def _from_file(job: Job) -> Iterator[list[tuple[str, Event]]]:
    for batch in pq.ParquetFile(job.whole).iter_batches(SOME):
        ts, k, v = (column.cast(pa.int64()).to_pylist() for column in batch.columns)
        yield [
            (str(key), (EPOCH + timedelta(microseconds=at), value))
            for at, key, value in zip(ts, k, v, strict=True)
        ]


def _from_feed(job: Job) -> Iterator[list[tuple[str, Event]]]:
    with socket.create_connection(("127.0.0.1", job.port)) as feed:
        rest = b""
        while some := feed.recv(1 << 16):
            *lines, rest = (rest + some).split(b"\n")
            found = []
            for line in lines:
                at, key, value = line.decode().split(",")
                found.append((key, (EPOCH + timedelta(milliseconds=int(at)), int(value))))
            yield found


def answers(job: Job) -> pa.Table:
    """The answers that the dataflow wrote, with window starts in milliseconds."""
    found = pa.csv.read_csv(job.out, pa.csv.ReadOptions(column_names=NAMES))
    return found.set_column(1, "start", pa.compute.multiply(found["start"], 1000))


def delivered(job: Job) -> pa.Table:
    """The printed answers, with the times at which they appeared."""
    return printed(job)
