"""Rows over a loopback socket at a steady rate, in event time that runs faster than the clock."""

from __future__ import annotations

import socket
import time
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread

import pyarrow as pa
import pyarrow.csv

RATE = 20_000
"""Rows a second."""
SPEED = 60
"""Seconds of event time in one of the clock: windows of an hour are full after a minute."""
EVERY = 0.01
"""Seconds between two sends."""
SETTLE = 30.0
"""Seconds after the very first rows, for what an engine does but once: workers, compilation."""


class LiveFeed:
    """Sends `time in milliseconds,k,v` lines to those who connect, once enough of them have.

    A row is due at its place in the table, whether or not the readers keep up: who is slow is late.
    """

    def __init__(self, table: pa.Table, readers: int, fed: Path) -> None:
        self.table, self.readers, self.fed = table, readers, fed
        self.began: float | None = None
        self._stop = Event()
        self._server = socket.create_server(("127.0.0.1", 0), backlog=readers)
        self._server.settimeout(0.2)
        self._thread = Thread(target=self._run, daemon=True)

    @property
    def port(self) -> int:
        """Where to connect."""
        return int(self._server.getsockname()[1])

    @property
    def seconds(self) -> float:
        """How long it sends."""
        return self.table.num_rows / RATE

    def __enter__(self) -> LiveFeed:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self._server.close()

    def _run(self) -> None:
        readers: list[socket.socket] = []
        try:
            while len(readers) < self.readers and not self._stop.is_set():
                with suppress(TimeoutError):
                    reader = self._server.accept()[0]
                    reader.settimeout(1.0)
                    readers.append(reader)
            self._send(readers)
            self.fed.touch()
        finally:
            for reader in readers:
                reader.close()

    def _send(self, readers: list[socket.socket]) -> None:
        some = round(RATE * EVERY)
        self.began = time.time() + SETTLE
        for at in range(0, self.table.num_rows, some):
            early = self.began + (at + some) / RATE - time.time() if at else 0.0
            if self._stop.wait(max(early, 0.0)):
                return
            lines = _lines(self.table.slice(at, some))
            for reader in list(readers):
                if not self._sent(reader, lines):
                    readers.remove(reader)

    def _sent(self, reader: socket.socket, lines: memoryview) -> bool:
        """Whether a reader took the lines; one that has gone gets no more."""
        while lines and not self._stop.is_set():
            try:
                lines = lines[reader.send(lines) :]
            except TimeoutError:
                continue  # it is behind
            except OSError:
                return False
        return True


def _lines(table: pa.Table) -> memoryview:
    milliseconds = table["ts"].cast(pa.timestamp("ms", "UTC")).cast(pa.int64())
    out = pa.BufferOutputStream()
    plain = pa.csv.WriteOptions(include_header=False)
    pa.csv.write_csv(table.set_column(0, "ts", milliseconds), out, plain)
    return memoryview(out.getvalue())
