"""Server-sent events: the first at once, others when something is new, and an end when asked."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable
from pathlib import Path

from serve_cases import post_status, write_checkpoint, write_plan

from weft.serve.events import events
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
