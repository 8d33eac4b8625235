"""Whether a stream runs on a checkpoint: a small file that the running process keeps updating."""

from __future__ import annotations

import os
import socket
import threading
import time
from contextlib import suppress
from typing import Any

from weft.errors import CheckpointError
from weft.sinks.files import Folder

EVERY = 2.0
"""Seconds between two beats."""
PATIENCE = 5 * EVERY
"""Seconds without a beat after which the stream is considered stopped."""
_FILE = "running.json"


class Heartbeat:
    """`<checkpoint>/weft/running.json`: process, host and a counter.

    It uses a separate thread, because a stream that is being changed may be busy for a minute.

    >>> import tempfile
    >>> checkpoint = tempfile.mkdtemp()
    >>> is_running(checkpoint)
    False
    >>> heart = Heartbeat(checkpoint).start(); is_running(checkpoint)
    True
    >>> heart.stop(); is_running(checkpoint)
    False
    """

    def __init__(self, checkpoint: str) -> None:
        self._folder = Folder(checkpoint).sub("weft")
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="weft-heartbeat", daemon=True)
        self._count = 0

    def start(self) -> Heartbeat:
        """Write the first beat, and continue in a thread."""
        self._write()
        self._thread.start()
        return self

    def stop(self) -> None:
        """Stop, and remove the file."""
        self._stopped.set()
        if self._thread is not threading.current_thread():
            self._thread.join(2 * EVERY)
        with suppress(OSError):
            self._folder.remove(_FILE)

    def _beat(self) -> None:
        while not self._stopped.wait(EVERY):
            # A temporary failure of the file system must not end the stream.
            with suppress(OSError):
                self._write()

    def _write(self) -> None:
        self._count += 1
        body = {"pid": os.getpid(), "host": socket.gethostname(), "count": self._count}
        self._folder.write(_FILE, "heartbeat", body)


def last_beat(checkpoint: str) -> dict[str, Any] | None:
    """The process that runs, or ran, a stream here: `pid`, `host`, `count`; None if none did."""
    folder = Folder(checkpoint).sub("weft")
    try:
        beat: dict[str, Any] = folder.read(_FILE, "heartbeat")
    except CheckpointError:
        return None
    return beat


def is_running(checkpoint: str, patience: float = PATIENCE) -> bool:
    """Whether a stream runs on this checkpoint.

    A file left behind by a crash is recognised by its process, if that was on this host, and
    otherwise because it does not change for `patience` seconds; clocks are never compared.
    """
    first = last_beat(checkpoint)
    if first is None or _is_dead(first):
        return False
    if first["host"] == socket.gethostname() and first["pid"] == os.getpid():
        return True
    ends = time.monotonic() + patience
    while time.monotonic() < ends:
        time.sleep(0.1)
        now = last_beat(checkpoint)
        if now is None:
            return False
        if now != first:
            return True
    return False


class Pulse:
    """Whether a stream runs, by looking repeatedly instead of waiting for a beat.

    >>> import tempfile
    >>> checkpoint = tempfile.mkdtemp()
    >>> pulse = Pulse(checkpoint); pulse.look() is None
    True
    >>> heart = Heartbeat(checkpoint).start(); pulse.look()["pid"] == os.getpid()
    True
    >>> heart.stop(); pulse.look() is None
    True
    """

    def __init__(self, checkpoint: str, patience: float = PATIENCE) -> None:
        self._checkpoint, self._patience = checkpoint, patience
        self._last: dict[str, Any] | None = None
        self._changed = time.monotonic()

    def look(self) -> dict[str, Any] | None:
        """The process that runs the stream: `pid`, `host`, `count`; None if surely none does.

        A beat seen for the first time counts until it has not changed for `PATIENCE` seconds.
        """
        beat = last_beat(self._checkpoint)
        if beat is None or _is_dead(beat):
            self._last = None
            return None
        if beat != self._last:
            self._last, self._changed = beat, time.monotonic()
        return beat if time.monotonic() - self._changed < self._patience else None


def refuse_second(checkpoint: str) -> None:
    """Refuse to start a stream where another one runs: two would spoil each other's state."""
    beat = last_beat(checkpoint)
    # A process that is about to start a stream may have the same pid as one that crashed.
    if beat is None or (beat["pid"] == os.getpid() and beat["host"] == socket.gethostname()):
        return
    if is_running(checkpoint):
        raise CheckpointError(
            f"{checkpoint}: a stream runs on this checkpoint already, as process {beat['pid']} on "
            f"{beat['host']}: stop it first, or name another checkpoint"
        )


def _is_dead(beat: dict[str, Any]) -> bool:
    """Whether the process is known to have ended."""
    if beat["host"] != socket.gethostname():
        return False
    try:
        os.kill(int(beat["pid"]), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False
