"""How much memory a driver, its JVM and its Python workers hold, as reported by Linux."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread

EVERY = 0.2
"""Seconds between two samples."""


@dataclass(frozen=True)
class Memory:
    """Bytes of memory; pages that processes share are split between them."""

    driver: int
    jvm: int
    workers: int

    @property
    def total(self) -> int:
        """The sum over all processes."""
        return self.driver + self.jvm + self.workers


@dataclass
class Peak:
    """The most memory seen so far."""

    bytes: int = 0


@contextmanager
def peak_memory(driver: int | None = None) -> Iterator[Peak]:
    """Monitor a process (default: this one) and its descendants while the block runs.

    >>> with peak_memory() as peak:
    ...     pass
    >>> peak.bytes > 2**20
    True
    """
    peak, stop = Peak(memory(driver).total), Event()

    def watch() -> None:
        while not stop.wait(EVERY):
            peak.bytes = max(peak.bytes, memory(driver).total)

    thread = Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield peak
    finally:
        stop.set()
        thread.join()
        peak.bytes = max(peak.bytes, memory(driver).total)


def memory(driver: int | None = None) -> Memory:
    """The memory of a process and its descendants.

    >>> memory().driver > 10_000_000
    True
    """
    driver = os.getpid() if driver is None else driver
    held = {"driver": _held(driver), "jvm": 0, "workers": 0}
    for process in _under(driver):
        try:
            name = Path(f"/proc/{process}/comm").read_text().strip()
        except OSError:  # it has just ended
            continue
        held["jvm" if name == "java" else "workers"] += _held(process)
    return Memory(**held)


def _under(process: int) -> list[int]:
    """The descendants of a process."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
            except OSError:
                continue
            parent = int(stat.rpartition(")")[2].split()[1])
            parents.setdefault(parent, []).append(int(entry.name))
    found, left = [], list(parents.get(process, ()))
    while left:
        one = left.pop()
        found.append(one)
        left += parents.get(one, ())
    return found


def _held(process: int) -> int:
    for file, field in (("smaps_rollup", "Pss:"), ("status", "VmRSS:")):
        try:
            lines = Path(f"/proc/{process}/{file}").read_text().splitlines()
        except OSError:  # it has ended, or is another user's
            continue
        for line in lines:
            if line.startswith(field):
                return int(line.split()[1]) * 1024
    return 0
