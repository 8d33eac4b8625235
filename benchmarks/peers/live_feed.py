"""Rows at a steady rate, over a loopback socket or as files; event time is faster than the clock.

Flink and Bytewax read the socket. Spark and weft read files that appear atomically in a folder:
Spark's socket source is meant for tests, and in a trial on a busy machine weft fell behind on it.
"""

from __future__ import annotations

import os
import socket
import time
from abc import ABC, abstractmethod
from contextlib import suppress
from threading import Event, Thread

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from benchmarks.peers.job import Job

RATE = 20_000
"""Rows a second."""
SPEED = 60
"""Seconds of event time per second of the clock: windows of an hour are full after a minute."""
SETTLE = 30.0
"""Seconds after the first rows for one-off work of an engine: starting workers, compiling."""


class LiveFeed(ABC):
    """Sends rows, each at the time given by its position in the table, even if readers lag."""

    every: float
    """Seconds between two sends."""

    def __init__(self, table: pa.Table, job: Job) -> None:
        self.table, self.job = table, job
        self.began: float | None = None
        self._stop = Event()
        self._thread = Thread(target=self._run, daemon=True)

    @property
    def port(self) -> int:
        """Where to connect, if one can."""
        return 0

    def __enter__(self) -> LiveFeed:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self.close()

    def _run(self) -> None:
        while not self.wanted():
            if self._stop.wait(0.02):
                return
        some = round(RATE * self.every)
        self.began = time.time() + SETTLE
        for at in range(0, self.table.num_rows, some):
            # The last of these rows is due now; the first rows are sent at once.
            early = self.began + (at + some) / RATE - time.time() if at else 0.0
            if self._stop.wait(max(early, 0.0)):
                return
            self.give(self.table.slice(at, some))
        self.close()
        self.job.fed.touch()

    @abstractmethod
    def wanted(self) -> bool:
        """Whether a reader is there."""

    @abstractmethod
    def give(self, table: pa.Table) -> None:
        """Send rows to the reader."""

    @abstractmethod
    def close(self) -> None:
        """Tell readers that there are no more rows."""


class FileFeed(LiveFeed):
    """Writes a file every tenth of a second to `Job.batches`, from when the engine is ready."""

    every = 0.1

    def __init__(self, table: pa.Table, job: Job) -> None:
        super().__init__(table, job)
        job.batches.mkdir(parents=True)
        self._count = 0

    def wanted(self) -> bool:
        return self.job.ready.exists()

    def give(self, table: pa.Table) -> None:
        hidden = self.job.batches / f".{self._count}"
        pq.write_table(table, hidden)
        os.rename(hidden, self.job.batches / f"{self._count:06d}.parquet")
        self._count += 1

    def close(self) -> None:
        pass


class SocketFeed(LiveFeed):
    """`time in milliseconds,k,v` lines every hundredth of a second; it begins with a connection."""

    every = 0.01

    def __init__(self, table: pa.Table, job: Job) -> None:
        super().__init__(table, job)
        self._server = socket.create_server(("127.0.0.1", 0))
        self._server.settimeout(0.2)
        self._reader: socket.socket | None = None

    @property
    def port(self) -> int:
        return int(self._server.getsockname()[1])

    def wanted(self) -> bool:
        with suppress(TimeoutError):
            self._reader = self._server.accept()[0]
            self._reader.settimeout(1.0)
        return self._reader is not None

    def give(self, table: pa.Table) -> None:
        lines = _lines(table)
        while self._reader is not None and lines and not self._stop.is_set():
            try:
                lines = lines[self._reader.send(lines) :]
            except TimeoutError:
                continue  # the reader is behind
            except OSError:
                self._reader = None  # the reader has gone

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()
        self._server.close()


def feed_for(kind: str, table: pa.Table, job: Job) -> LiveFeed:
    """A feed of `files` or a `socket`."""
    return {"files": FileFeed, "socket": SocketFeed}[kind](table, job)


def _lines(table: pa.Table) -> memoryview:
    milliseconds = table["ts"].cast(pa.timestamp("ms", "UTC")).cast(pa.int64())
    out = pa.BufferOutputStream()
    plain = pa.csv.WriteOptions(include_header=False)
    pa.csv.write_csv(table.set_column(0, "ts", milliseconds), out, plain)
    return memoryview(out.getvalue())
