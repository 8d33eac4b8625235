"""Queries that come and go on a checkpoint, whether a stream runs on it or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from weft.errors import CheckpointError, EngineError
from weft.plan.plan import Plan
from weft.plan.time_axis import TimeAxis
from weft.query.query import Query
from weft.stream.catalogue import Catalogue, CatalogueFiles, ProgressFile
from weft.stream.evolve import next_catalogue
from weft.stream.heartbeat import is_running
from weft.stream.requests import Requests

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from weft.sinks import Sink

Way = Literal["running", "stored"]
"""A change was made by the running stream, or written for the next one that starts."""


def stored(checkpoint: str) -> Catalogue:
    """The catalogue of a checkpoint; an error if no stream has been started on it."""
    catalogue = CatalogueFiles(checkpoint).latest()
    if catalogue is None:
        raise CheckpointError(f"{checkpoint}: no stream has been started on this checkpoint yet")
    return catalogue


def add_query(
    checkpoint: str,
    query: Query,
    rows: Callable[[], tuple[DataFrame, TimeAxis, Sink | None]],
    *,
    backfill: bool = False,
    timeout: float = 120.0,
) -> Way:
    """Add a query; `rows` gives the stream's rows and sink to check it on if no stream runs."""
    catalogue = stored(checkpoint)
    known = {entry.query.name.lower() for entry in catalogue.entries}
    if query.name.lower() in known:
        raise EngineError(f"query {query.name!r} runs already; drop it first")
    if is_running(checkpoint):
        requests = Requests(checkpoint)
        requests.wait(requests.ask_add(query, backfill=backfill), timeout)
        return "running"
    plan = Plan.from_dict(_changeable(catalogue).plan).add([query])
    progress = ProgressFile(checkpoint).read()
    from weft.spark.streaming.compile import (  # Spark is needed only from here on
        argument_types,
        compile_catalogue,
    )

    df, axis, sink = rows()
    types = argument_types(df, axis, [query])
    past = [query.name] if backfill else []
    then = next_catalogue(catalogue, plan, progress, past, types)
    compiled = compile_catalogue(then, df, axis)
    if sink is not None:
        sink.check(compiled.answered, then.settings.mode)
    CatalogueFiles(checkpoint).write(then)
    return "stored"


def drop_query(checkpoint: str, name: str, *, timeout: float = 120.0) -> Way:
    """Drop a query."""
    catalogue = stored(checkpoint)
    entry = catalogue.entry(name)
    if len(catalogue.entries) == 1:
        raise EngineError(f"{name!r} is the last query of the stream: stop the stream instead")
    if is_running(checkpoint):
        requests = Requests(checkpoint)
        requests.wait(requests.ask_drop(name), timeout)
        return "running"
    plan = Plan.from_dict(_changeable(catalogue).plan).drop([entry.query.name])
    then = next_catalogue(catalogue, plan, ProgressFile(checkpoint).read())
    CatalogueFiles(checkpoint).write(then)
    return "stored"


def pause_query(checkpoint: str, name: str, *, timeout: float = 120.0) -> Way:
    """Hold a query's answers back; what it needs is kept up to date all the while."""
    return _set_paused(checkpoint, name, True, timeout)


def resume_query(checkpoint: str, name: str, *, timeout: float = 120.0) -> Way:
    """Answer a paused query again: every window that closes from now on, complete."""
    return _set_paused(checkpoint, name, False, timeout)


def _set_paused(checkpoint: str, name: str, paused: bool, timeout: float) -> Way:
    catalogue = stored(checkpoint)
    entry = catalogue.entry(name)
    if (entry.paused is not None) == paused:
        raise EngineError(f"query {name!r} is {'paused already' if paused else 'not paused'}")
    if is_running(checkpoint):
        requests = Requests(checkpoint)
        ask = requests.ask_pause if paused else requests.ask_resume
        requests.wait(ask(name), timeout)
        return "running"
    since = ProgressFile(checkpoint).read().batch + 1 if paused else None
    CatalogueFiles(checkpoint).write(catalogue.with_paused(name, since))
    return "stored"


def _changeable(catalogue: Catalogue) -> Catalogue:
    if catalogue.settings.engine != "operator":
        raise EngineError(
            "queries of engine='rewrite' are fixed, because Spark ties their state to the plan"
        )
    return catalogue
