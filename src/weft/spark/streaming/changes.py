"""Queries that come and go on a checkpoint, whether a stream runs on it or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from pyspark.sql import DataFrame

from weft.errors import CheckpointError, EngineError
from weft.plan.plan import Plan
from weft.plan.time_axis import TimeAxis
from weft.query.query import Query
from weft.spark.streaming.catalogue import Catalogue, CatalogueFiles, ProgressFile
from weft.spark.streaming.compile import compile_catalogue
from weft.spark.streaming.evolve import next_catalogue
from weft.spark.streaming.heartbeat import is_running
from weft.spark.streaming.requests import Requests

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
    rows: Callable[[], tuple[DataFrame, TimeAxis]],
    *,
    backfill: bool = False,
    timeout: float = 120.0,
) -> Way:
    """Add a query; `rows` gives the stream's DataFrame to check it on if no stream runs."""
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
    then = next_catalogue(catalogue, plan, progress, [query.name] if backfill else [])
    compile_catalogue(then, *rows())
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


def _changeable(catalogue: Catalogue) -> Catalogue:
    if catalogue.settings.engine != "operator":
        raise EngineError(
            "queries of engine='rewrite' are fixed, because Spark ties their state to the plan"
        )
    return catalogue
