"""Changes made on the page, by the same requests and catalogue that `weft query` uses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Literal, NoReturn

from weft.errors import CheckpointError, EngineError
from weft.query.query import Query
from weft.serve.models import Done
from weft.serve.source import ApiSource
from weft.serve.stream import StreamSource
from weft.spark.streaming.changes import (
    Way,
    change_queries,
    drop_query,
    pause_query,
    preview,
    resume_query,
)
from weft.stream.requests import RequestRefused

TIMEOUT = 120.0
"""Seconds to wait for a running stream to make a change."""
GLANCE = 2.0
"""Seconds to wait for it to say what a change would need, while the user types."""
Verb = Literal["dropped", "paused", "resumed"]
_CHANGES: dict[Verb, Callable[..., Way]] = {
    "dropped": drop_query,
    "paused": pause_query,
    "resumed": resume_query,
}


def obstacle(source: ApiSource) -> str:
    """Why nothing can be changed here; empty if changes are possible."""
    if not isinstance(source, StreamSource):
        return "This is a stored plan: it has no stream whose queries could change."
    catalogue = source.snapshot().catalogue
    if catalogue is None:
        return f"The stream has never been started: run `weft stream {source.name}` first."
    if catalogue.settings.engine != "operator":
        return (
            "The stream runs on engine='rewrite', whose queries are fixed, because Spark ties "
            "their state to the plan."
        )
    return ""


def changeable(source: ApiSource) -> tuple[StreamSource, str]:
    """The stream and its checkpoint, or an error that says why it cannot be changed."""
    why = obstacle(source)
    if why:
        raise EngineError(why)
    assert isinstance(source, StreamSource)
    assert source.checkpoint is not None
    return source, source.checkpoint


def add(
    source: ApiSource, queries: list[Query], *, sql: str, name: str | None, backfill: bool
) -> Done:
    """Add the queries of a text.

    A running stream adds them itself. If the job is not running, `weft query add` does, which
    parses the text again.
    """
    stream, checkpoint = changeable(source)
    by: Way = "running"
    if stream.running:
        asked = [{"op": "add", "query": q.to_dict(), "backfill": backfill} for q in queries]
        by, _ = change_queries(checkpoint, asked, _no_rows, timeout=TIMEOUT)
    else:
        by = _add_at_rest(stream, sql, name, backfill)
    stream.forget()
    return Done(queries=[query.name for query in queries], done="added", by=by)


def needs(source: ApiSource, queries: list[Query]) -> list[str] | None:
    """The expressions that the queries need and the running stream does not project.

    None if that cannot be found out.
    """
    if obstacle(source) or not (isinstance(source, StreamSource) and source.running):
        return None
    assert source.checkpoint is not None
    asked = [{"op": "add", "query": query.to_dict()} for query in queries]
    try:
        return preview(source.checkpoint, asked, _no_rows, timeout=GLANCE)[1]
    except RequestRefused:
        raise
    except CheckpointError:  # the stream has stopped or is busy
        return None


def change(source: ApiSource, verb: Verb, name: str) -> Done:
    """Drop, pause or resume a query."""
    stream, checkpoint = changeable(source)
    by = _CHANGES[verb](checkpoint, name, timeout=TIMEOUT)
    stream.forget()
    return Done(queries=[name], done=verb, by=by)


def _no_rows() -> NoReturn:
    raise CheckpointError("the stream has just stopped: try again")


def _add_at_rest(stream: StreamSource, sql: str, name: str | None, backfill: bool) -> Way:
    """Add queries in a separate process, as checking them against the columns needs Spark."""
    if stream.job_file is None:
        raise EngineError(
            "the stream is not running, and without its job file a query cannot be checked "
            "against the stream's columns: start the stream, or serve the job file"
        )
    command = [sys.executable, "-m", "weft.cli", "query", "add", str(stream.job_file), "--json"]
    command += [*(["--name", name] if name else []), *(["--backfill"] if backfill else [])]
    command += ["--", sql]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=TIMEOUT, check=False, env=os.environ
    )
    if done.returncode:
        raise EngineError(done.stderr.strip().removeprefix("weft: ")[-2000:] or "weft query failed")
    way: Way = json.loads(done.stdout)["changes"][0]["by"]
    return way
