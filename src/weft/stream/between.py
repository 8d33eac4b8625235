"""Serialises micro-batches and changes: a change is made only while no micro-batch runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, TypeVar

Made = TypeVar("Made")


class Between:
    """Runs work between micro-batches: at once, or at the end of the micro-batch that runs.

    In the latter case the thread that delivers the micro-batch runs it, so that the next one cannot
    begin before.

    >>> turns = Between()
    >>> with turns.micro_batch():
    ...     later = turns.soon(lambda: "made")
    ...     later.done()
    False
    >>> later.result(), turns.soon(lambda: "at once").done()
    ('made', True)
    """

    def __init__(self) -> None:
        self._lock = threading.Condition(threading.RLock())
        self._busy = False
        self._waiting: list[tuple[Callable[[], Any], Future[Any]]] = []

    @contextmanager
    def micro_batch(self) -> Iterator[None]:
        """Held while a micro-batch is delivered, so that nothing changes."""
        with self._lock:
            self._busy = True
        try:
            yield
        finally:
            with self._lock:
                self._busy = False
                waiting, self._waiting = self._waiting, []
                for work, made in waiting:
                    _do(work, made)
                self._lock.notify_all()

    @contextmanager
    def still(self) -> Iterator[None]:
        """Wait until no micro-batch is being delivered, then block changes and micro-batches.

        For a stream that has been halted, in the thread that has halted it.
        """
        with self._lock:
            while self._busy:
                self._lock.wait()
            yield

    def soon(self, work: Callable[[], Made]) -> Future[Made]:
        """Run work between two micro-batches."""
        made: Future[Made] = Future()
        with self._lock:
            if self._busy:
                self._waiting.append((work, made))
            else:
                _do(work, made)
        return made


def _do(work: Callable[[], Any], made: Future[Any]) -> None:
    try:
        made.set_result(work())
    except BaseException as error:
        made.set_exception(error)
