"""Turns of micro-batches and changes: a change is made when no micro-batch runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, TypeVar

Made = TypeVar("Made")


class Between:
    """Work that must not meet a micro-batch is done at once, or else at the micro-batch's end.

    At its end by the thread that delivers it: so the next one cannot begin before.

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
        """While it is delivered, nothing changes."""
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
        """When no micro-batch is delivered any more: nothing else changes, and none begins.

        For a stream that has been halted, in the thread that has halted it.
        """
        with self._lock:
            while self._busy:
                self._lock.wait()
            yield

    def soon(self, work: Callable[[], Made]) -> Future[Made]:
        """Have work done between two micro-batches."""
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
