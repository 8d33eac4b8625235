"""weft with `emit="eager"`: micro-batches close windows by their own latest time, one sooner."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from benchmarks.peers.engines import weft
from benchmarks.peers.engines.weft import FEED, delivered, version
from benchmarks.peers.job import Job

__all__ = ["FEED", "delivered", "live", "version"]


def live(job: Job) -> AbstractContextManager[Callable[[], None]]:
    """Run one stream until the feed ends."""
    return weft.live(job, emit="eager")
