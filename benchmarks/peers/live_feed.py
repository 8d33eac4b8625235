"""Rows at a steady rate, over a loopback socket or as files, in event time faster than the clock.

Flink and Bytewax read the socket. Spark's socket source is meant for tests, and weft fell behind
on it in a trial on a busy machine; Spark and weft read files that appear in a folder, whole.
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
"""Seconds of event time in one of the clock: windows of an hour are full after a minute."""
SETTLE = 30.0
"""Seconds after the very first rows, for what an engine does but once: workers, compilation."""


class LiveFeed(ABC):
    """Gives rows, each due at its place in the table whether or not readers keep up."""

    every: float
    """Seconds between two givings."""

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
            # The last row of these is due now; the first ones come at once.
            early = self.began + (at + some) / RATE - time.time() if at else 0.0
            if self._stop.wait(max(early, 0.0)):
                return
            self.give(self.table.slice(at, some))
        self.close()
        self.job.fed.touch()

    @abstractmethod
    def wanted(self) -> bool:
        """Whether somebody reads."""

    @abstractmethod
    def give(self, table: pa.Table) -> None:
        """Hand rows over."""

    @abstractmethod
    def close(self) -> None:
        """Let readers know that this is all."""


class FileFeed(LiveFeed):
    """A file every tenth of a second, in `Job.batches`; it begins when the engine is ready."""

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
                continue  # it is behind
            except OSError:
                self._reader = None  # it has gone

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
