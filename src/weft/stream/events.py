"""What happens to a stream, as events: micro-batches, changes of queries, failures, its end.

    started  batch*  (added | dropped | replaced | paused | resumed | limited | failed | replanned
                      | error)*  stopped

Watchers get the events: a log, a lineage service. Without a watcher no events are made.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

from weft.stream.batch_log import BatchDone, BatchLog
from weft.stream.status import QueryStatus, Status


@dataclass(frozen=True)
class Event:
    """An event, with its time in seconds since 1970."""

    name: str
    at: float
    facts: dict[str, Any] = field(default_factory=dict)
    batch: BatchDone | None = None
    """The micro-batch, if the event is one."""


class Watcher(Protocol):
    """A watcher gets a stream's events in order; a slow one does not delay micro-batches."""

    def tell(self, event: Event) -> None:
        """Handle an event."""

    def close(self) -> None:
        """Called when there will be no more events."""


class News:
    """Detects what has changed in a stream, and sends the events to its watchers."""

    def __init__(self, watchers: Sequence[Watcher], log: BatchLog) -> None:
        self._watchers = list(watchers)
        self._known: Status | None = None
        self._mark: Hashable = None
        self._lock = threading.RLock()
        self._batches = BatchLog()
        if watchers:
            log.followers.append(self._batches)

    def begin(self, status: Callable[[], Status]) -> None:
        """The stream has started."""
        if self._watchers:
            self._known = status()
            queries = [query.name for query in self._known.queries if not query.failed]
            self._tell("started", {"queries": queries, "batch": self._known.batch})

    def look(self, status: Callable[[], Status], mark: Hashable, *, last: bool = False) -> None:
        """Send new events; `mark` differs if queries, plan or error have changed.

        Called after every change, so that the next change does not hide it, and periodically.
        """
        with self._lock:
            if self._known is None:
                return
            for done in self._batches.take(last=last):
                self._tell("batch", {}, done)
            if mark != self._mark:
                now, self._mark = status(), mark
                for name, facts in differences(self._known, now):
                    self._tell(name, facts)
                self._known = now

    def end(self, status: Callable[[], Status], mark: Hashable) -> None:
        """The stream has ended."""
        self.look(status, mark, last=True)
        with self._lock:
            ended, self._known = self._known is None, None
        if ended:
            return
        now = status()
        error = now.error if now.failed else None
        self._tell("stopped", {"batch": now.batch, "answers": now.answers, "error": error})
        for watcher in self._watchers:
            with suppress(Exception):
                watcher.close()

    def _tell(self, name: str, facts: dict[str, Any], batch: BatchDone | None = None) -> None:
        event = Event(name, time.time() if batch is None else batch.at, facts, batch)
        for watcher in self._watchers:
            with suppress(Exception):  # a watcher must not be able to stop the stream
                watcher.tell(event)


def differences(known: Status, status: Status) -> Iterator[tuple[str, dict[str, Any]]]:
    """The events of queries, plan and stream since the status was `known`."""
    before = {query.name: query for query in known.queries}
    names = {query.name for query in status.queries}
    told = False
    for query in status.queries:
        old = before.get(query.name)
        for event, facts in changes_of(old, query):
            told = True
            yield event, {**_named(query), **facts}
    for name in before:
        if name not in names:
            told = True
            yield "dropped", _named(before[name])
    if status.changes != known.changes and not told:
        yield "replanned", {"change": status.changes, "trees": len(status.stores)}
    failed = [query.failed for query in status.queries if query.failed]
    if status.error and status.error != known.error and status.error not in failed:
        yield "error", {"error": status.error}


def _named(query: QueryStatus) -> dict[str, Any]:
    return {"query": query.name, **({"owner": query.owner} if query.owner else {})}


def changes_of(
    old: QueryStatus | None, query: QueryStatus
) -> Iterator[tuple[str, dict[str, Any]]]:  # fmt: skip
    """The events of one query since its status was `old`; None if it was just added."""
    if query.failed:
        if old is None or not old.failed:
            yield "failed", {"error": query.failed}
        return
    since = {"complete_from": query.complete_from}
    if old is None:
        yield "added", since
    elif old.failed:
        yield "resumed", since
    elif old.number != query.number:
        yield "replaced", since
    elif old.paused and not query.paused:
        yield "resumed", since
    if query.paused and (old is None or not old.paused):
        yield "paused", {"why": query.why} if query.why else {}
    if old is not None and old.limits != query.limits:
        yield "limited", {"limits": query.limits}
