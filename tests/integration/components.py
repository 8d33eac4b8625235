"""Real components for tests: if one is missing, the test fails by name, unless it is disabled."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

WITHOUT = {name for name in os.environ.get("WEFT_WITHOUT", "").split(",") if name}
"""Components disabled by the user: WEFT_WITHOUT=kafka,postgres,delta,iceberg,cluster."""


def need(name: str) -> None:
    """Skip a test that needs a disabled component."""
    if name in WITHOUT:
        pytest.skip(f"{name} is switched off by WEFT_WITHOUT")


def free_ports(count: int) -> list[int]:
    """Unused ports on loopback."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


def wait_for(
    ready: Callable[[], bool],
    what: str,
    seconds: float,
    process: subprocess.Popen | None = None,
    *,
    every: float = 0.1,
) -> None:
    """Wait for a condition; fail with its name on a timeout, or if its process has ended."""
    ends = time.monotonic() + seconds
    while not ready():
        if process is not None and process.poll() is not None:
            pytest.fail(f"{what}: its process ended with {process.returncode}")
        if time.monotonic() > ends:
            pytest.fail(f"{what}: not within {seconds:g} s")
        time.sleep(every)


def listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1.0)
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def process(command: list[str], log: Path, **options: object) -> Iterator[subprocess.Popen]:
    """A process in a new process group; at the end, the whole group is killed."""
    with log.open("ab") as written:
        options = {"stdout": written, **options}
        started = subprocess.Popen(command, stderr=written, start_new_session=True, **options)
    try:
        yield started
    finally:
        kill(started)


def kill(started: subprocess.Popen) -> None:
    """SIGKILL to a process that was started here and to its group."""
    if started.poll() is None:
        os.killpg(started.pid, signal.SIGKILL)
    started.wait()
    if started.stdout is not None:
        started.stdout.close()


def weft(*arguments: str) -> list[str]:
    """The command line of weft, as run by this Python."""
    return [sys.executable, "-m", "weft.cli", *arguments]
