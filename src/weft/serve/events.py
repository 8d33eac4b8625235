"""Live data as server-sent events: each new status, and a notice when the plan has changed."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from weft.serve.models import Live
from weft.serve.source import ApiSource

EVERY = 1.0
"""Seconds between two checks for something new."""
QUIET = 15.0
"""Seconds of silence after which a comment is sent, so that proxies keep the connection."""
RECENT = 10
"""The number of micro-batches in an event; the page has the earlier ones already."""
MOST = 64
"""Most clients that may listen at the same time."""


@dataclass
class Listeners:
    """The number of clients that listen. No lock is needed, as all are on one event loop."""

    most: int = MOST
    now: int = 0


class EventStream(StreamingResponse):
    """A response that sends events; its client counts as a listener until the response ends.

    It is counted here, where checking the limit and counting are one step, and where every kind of
    end is noticed: a generator that never started, because its client has gone, never finishes.
    """

    def __init__(self, told: AsyncIterator[str], listeners: Listeners, full: Response) -> None:
        super().__init__(told, media_type="text/event-stream")
        self._listeners, self._full = listeners, full

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events, or an error if too many clients listen already."""
        if self._listeners.now >= self._listeners.most:
            await self._full(scope, receive, send)
            return
        self._listeners.now += 1
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._listeners.now -= 1


def live_view(source: ApiSource) -> Live:
    """How the stream is doing."""
    told = source.live()
    return Live(
        state=told["state"],
        change=source.snapshot().change,
        at=told.get("at"),
        by=told.get("by"),
        status=told.get("status"),
        history=told["history"],
        marks=told.get("marks", []),
    )


async def events(
    source: ApiSource, stopping: threading.Event, every: float = EVERY
) -> AsyncIterator[str]:
    """Yield `live` events until the server stops: the first at once, others on changes."""
    last: tuple[Any, ...] | None = None
    silent = 0.0
    while not stopping.is_set():
        live = await run_in_threadpool(live_view, source)
        mark = (live.state, live.change, live.at)
        if mark != last:
            last, silent = mark, 0.0
            live.history = live.history[-RECENT:]
            yield event("live", live.model_dump())
        elif silent >= QUIET:
            silent = 0.0
            yield ": still here\n\n"
        await asyncio.sleep(every)
        silent += every


def event(name: str, body: Any) -> str:
    """One event as text.

    >>> event("live", {"a": 1})
    'event: live\\ndata: {"a":1}\\n\\n'
    """
    return f"event: {name}\ndata: {json.dumps(body, separators=(',', ':'))}\n\n"
