"""Whether a stream runs on a checkpoint: a small file that whoever runs it keeps fresh."""

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
"""A heart that has not beaten for so many seconds has stopped."""
_FILE = "running.json"


class Heartbeat:
    """`<checkpoint>/weft/running.json`: process, host and a count that goes up.

    It has a thread of its own, because a stream that is being changed may be busy for a minute.

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
        """Beat now, and from now on."""
        self._write()
        self._thread.start()
        return self

    def stop(self) -> None:
        """Stop, and take the file away."""
        self._stopped.set()
        if self._thread is not threading.current_thread():
            self._thread.join(2 * EVERY)
        with suppress(OSError):
            self._folder.remove(_FILE)

    def _beat(self) -> None:
        while not self._stopped.wait(EVERY):
            # A file system that fails for a moment is no reason to end a stream.
            with suppress(OSError):
                self._write()

    def _write(self) -> None:
        self._count += 1
        body = {"pid": os.getpid(), "host": socket.gethostname(), "count": self._count}
        self._folder.write(_FILE, "heartbeat", body)


def last_beat(checkpoint: str) -> dict[str, Any] | None:
    """Who runs, or ran, a stream on this checkpoint: `pid`, `host`, `count`; None if nobody."""
    folder = Folder(checkpoint).sub("weft")
    try:
        beat: dict[str, Any] = folder.read(_FILE, "heartbeat")
    except CheckpointError:
        return None
    return beat


def is_running(checkpoint: str, patience: float = PATIENCE) -> bool:
    """Whether a stream runs on this checkpoint.

    A file that a crash left behind is recognised by its process, if that was on this host, and
    otherwise by not changing for `patience` seconds: clocks of two machines are not compared.
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
    """Whether a stream runs, told by looking now and then instead of by waiting for a beat.

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
        """Who runs the stream: `pid`, `host`, `count`; None if it is known that nobody does.

        A beat seen for the first time is believed until it has not changed for the patience.
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
    # A process that is only about to start a stream may bear the number of one that crashed.
    if beat is None or (beat["pid"] == os.getpid() and beat["host"] == socket.gethostname()):
        return
    if is_running(checkpoint):
        raise CheckpointError(
            f"{checkpoint}: a stream runs on this checkpoint already, as process {beat['pid']} on "
            f"{beat['host']}: stop it first, or name another checkpoint"
        )


def _is_dead(beat: dict[str, Any]) -> bool:
    """Whether the process is known to be gone."""
    if beat["host"] != socket.gethostname():
        return False
    try:
        os.kill(int(beat["pid"]), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False
