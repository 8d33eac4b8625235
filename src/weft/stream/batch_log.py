"""The log of micro-batches: what each one did, and what Spark reports about it later.

A micro-batch is delivered first; its progress report, with its rows and its whole time, comes
through Spark's listeners a moment later. They are matched here by the micro-batch's number.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

KEPT = 1000
"""Micro-batches that are kept until a reader takes them."""
PATIENCE = 5.0
"""Seconds to wait for Spark's report; after that, the values measured at delivery are used."""


@dataclass(frozen=True)
class BatchDone:
    """One micro-batch, and the state of the stream after it."""

    batch: int
    at: float
    """When it was done, in seconds since 1970."""
    rows: int
    seconds: float
    watermark: int | None = None
    high: int | None = None
    slices: int = 0
    state_bytes: int = 0
    answers: int = 0
    """Answers since the stream was started in this process, including those of dropped queries."""


class BatchLog:
    """Micro-batches in the order of their numbers, each returned once.

    >>> log = BatchLog()
    >>> log.delivered(BatchDone(7, at=10.0, rows=0, seconds=0.1, answers=3))
    >>> log.take()
    []
    >>> log.reported({"batchId": 7, "timestamp": "1970-01-01T00:00:09.000Z", "numInputRows": 40,
    ...               "durationMs": {"addBatch": 1400, "triggerExecution": 1500}})
    >>> [(done.batch, done.at, done.rows, done.seconds, done.answers) for done in log.take()]
    [(7, 10.5, 40, 1.5, 3)]
    """

    def __init__(self, patience: float = PATIENCE) -> None:
        self._patience = patience
        self._lock = threading.Lock()
        self._waiting: OrderedDict[int, tuple[float, BatchDone]] = OrderedDict()
        self._reports: OrderedDict[int, tuple[int, float, float]] = OrderedDict()
        self._done: deque[BatchDone] = deque(maxlen=KEPT)
        self.followers: list[BatchLog] = []
        """Logs of other readers, which receive everything that this one receives."""

    def delivered(self, done: BatchDone) -> None:
        """Record a delivered micro-batch; its rows and seconds are those measured at the sink."""
        for other in self.followers:
            other.delivered(done)
        with self._lock:
            self._waiting[done.batch] = (time.monotonic(), done)
            self._match(None)

    def reported(self, report: Mapping[str, Any]) -> None:
        """Record Spark's report of a micro-batch, or that Spark found nothing to do."""
        if "addBatch" not in report["durationMs"]:
            return
        from weft.stream.status_file import sample_of

        for other in self.followers:
            other.reported(report)
        sample = sample_of(report)
        with self._lock:
            ended = sample["at"] + sample["seconds"]
            self._reports[sample["batch"]] = (sample["rows"], sample["seconds"], ended)
            while len(self._reports) > KEPT:
                self._reports.popitem(last=False)
            self._match(None)

    def take(self, *, last: bool = False) -> list[BatchDone]:
        """The micro-batches done since the last call.

        Micro-batches without Spark's report are held back for a limited time, except for the
        `last` ones of a stream.
        """
        with self._lock:
            self._match(0.0 if last else self._patience)
            found = list(self._done)
            self._done.clear()
        return found

    @property
    def is_complete(self) -> bool:
        """Whether Spark has reported on every micro-batch that was delivered."""
        with self._lock:
            return not self._waiting

    def _match(self, patience: float | None) -> None:
        """Match micro-batches with reports, oldest first, so that their order is kept."""
        while self._waiting:
            number, (since, done) = next(iter(self._waiting.items()))
            if number in self._reports:
                rows, seconds, at = self._reports.pop(number)
                done = replace(done, rows=rows, seconds=seconds, at=at)
            elif patience is None or time.monotonic() - since < patience:
                return
            del self._waiting[number]
            self._done.append(done)
