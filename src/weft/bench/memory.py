"""The memory of this process and all that it started, JVM and Python workers, at its peak."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread

EVERY = 0.2
"""Seconds between looks."""


@dataclass
class Peak:
    """The most that was seen."""

    bytes: int = 0


@contextmanager
def peak_memory() -> Iterator[Peak]:
    """Watch while the block runs; pages that processes share are counted for each.

    >>> with peak_memory() as peak:
    ...     pass
    >>> peak.bytes > 2**20
    True
    """
    peak, stop = Peak(held_memory()), Event()

    def watch() -> None:
        while not stop.wait(EVERY):
            peak.bytes = max(peak.bytes, held_memory())

    thread = Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield peak
    finally:
        stop.set()
        thread.join()
        peak.bytes = max(peak.bytes, held_memory())


def held_memory() -> int:
    """Resident bytes of this process and its descendants."""
    parents: dict[int, int] = {}
    held: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            after_name = (entry / "stat").read_text().rpartition(")")[2].split()
            pages = int((entry / "statm").read_text().split()[1])
        except (OSError, IndexError):
            continue  # it has ended meanwhile
        parents[int(entry.name)] = int(after_name[1])
        held[int(entry.name)] = pages * os.sysconf("SC_PAGE_SIZE")
    return sum(size for pid, size in held.items() if _descends(pid, parents))


def _descends(pid: int, parents: dict[int, int]) -> bool:
    while pid > 1:
        if pid == os.getpid():
            return True
        pid = parents.get(pid, 0)
    return False
