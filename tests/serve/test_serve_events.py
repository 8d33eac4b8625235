"""Server-sent events: the first at once, others when something is new, and an end on stop."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Awaitable
from pathlib import Path

from serve_cases import post_status, write_checkpoint, write_plan

from weft.serve.app import make_app
from weft.serve.events import MOST, events
from weft.serve.guard import Policy
from weft.serve.source import open_source
from weft.spark.streaming.changes import pause_query


def body(event: str) -> dict:
    name, data, *_ = event.split("\n")
    assert name == "event: live"
    return json.loads(data.removeprefix("data: "))


async def within(wait: Awaitable[str], seconds: float = 10.0) -> str:
    return await asyncio.wait_for(wait, seconds)


def test_the_first_event_comes_at_once_and_others_when_something_is_new(tmp_path: Path):
    checkpoint = write_checkpoint(tmp_path)
    source = open_source(str(checkpoint))

    async def listen() -> None:
        told = events(source, threading.Event(), every=0.05)
        first = body(await within(anext(told)))
        assert (first["state"], first["change"], first["status"]) == ("stopped", 2, None)
        post_status(checkpoint, {"kind": "ParquetSink", "path": None})
        assert body(await within(anext(told)))["status"]["rows"] == 500
        pause_query(str(checkpoint), "hourly")
        assert body(await within(anext(told)))["change"] == 3
        await told.aclose()

    asyncio.run(listen())


def test_listening_ends_when_the_server_stops(tmp_path: Path):
    source = open_source(str(write_plan(tmp_path / "plan.json")))
    stopping = threading.Event()

    async def listen() -> int:
        told = events(source, stopping, every=0.05)
        await within(anext(told))
        stopping.set()
        return len([event async for event in told])

    assert asyncio.run(listen()) == 0


def burst(app, count: int, goes: asyncio.Event) -> list[Listening]:
    """Connect many clients at once, which stay until `goes` is set."""
    return [Listening(app, goes) for _ in range(count)]


class Listening:
    """A client of `/api/events`, in a separate task."""

    def __init__(self, app, goes: asyncio.Event) -> None:
        self.status: int | None = None
        self.heard = asyncio.Event()
        self._goes = goes
        scope = {"type": "http", "method": "GET", "path": "/api/events", "query_string": b""}
        scope |= {
            "raw_path": b"/api/events",
            "headers": [(b"host", b"localhost")],
            "scheme": "http",
        }
        scope |= {"http_version": "1.1", "asgi": {"version": "3.0", "spec_version": "2.3"}}
        self.task = asyncio.create_task(app(scope, self._receive, self._send))

    async def _receive(self):
        await self._goes.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        elif message.get("body") or not message.get("more_body"):
            self.heard.set()


async def answered(clients: list[Listening]) -> Counter:
    for client in clients:
        await asyncio.wait_for(client.heard.wait(), 30)
    return Counter(client.status for client in clients)


def test_a_burst_does_not_pass_the_cap(tmp_path: Path):
    app = make_app(open_source(str(write_plan(tmp_path / "plan.json"))), Policy())

    async def rush() -> None:
        for _ in range(2):  # clients that have gone free their places
            goes = asyncio.Event()
            clients = burst(app, MOST + 16, goes)
            assert await answered(clients) == {200: MOST, 429: 16}
            goes.set()
            await asyncio.gather(*(client.task for client in clients))

    asyncio.run(rush())


def test_a_client_that_goes_before_the_first_byte_leaves_its_place(tmp_path: Path):
    app = make_app(open_source(str(write_plan(tmp_path / "plan.json"))), Policy())

    async def rush() -> None:
        gone = asyncio.Event()
        gone.set()
        early = burst(app, MOST + 16, gone)
        await asyncio.gather(*(client.task for client in early))
        cancelled = burst(app, MOST, asyncio.Event())
        await asyncio.sleep(0)
        for client in cancelled:
            client.task.cancel()
        await asyncio.gather(*(client.task for client in cancelled), return_exceptions=True)
        goes = asyncio.Event()
        clients = burst(app, MOST + 1, goes)
        assert await answered(clients) == {200: MOST, 429: 1}
        goes.set()
        await asyncio.gather(*(client.task for client in clients))

    asyncio.run(rush())
