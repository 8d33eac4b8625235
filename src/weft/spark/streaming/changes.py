"""Queries that come and go on a checkpoint, whether a stream runs on it or not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from weft.errors import CheckpointError
from weft.plan.time_axis import TimeAxis
from weft.stream.burst import Burst, Change, placed_changes
from weft.stream.catalogue import Catalogue, CatalogueFiles, ProgressFile
from weft.stream.heartbeat import is_running
from weft.stream.requests import Requests

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from weft.sinks import Sink

Way = Literal["running", "stored"]
"""A change was made by the running stream, or written for the next one that starts."""
Rows = Callable[[], "tuple[DataFrame, TimeAxis, Sink | None]"]
"""Gives the stream's rows and sink, to check a query on if no stream runs."""


def stored(checkpoint: str) -> Catalogue:
    """The catalogue of a checkpoint; an error if no stream has been started on it."""
    catalogue = CatalogueFiles(checkpoint).latest()
    if catalogue is None:
        raise CheckpointError(f"{checkpoint}: no stream has been started on this checkpoint yet")
    return catalogue


def change_queries(
    checkpoint: str, asked: Sequence[Change], rows: Rows | None = None, *, timeout: float = 120.0
) -> tuple[Way, dict[str, Any]]:
    """Make some changes, all or none; returns by whom, and since when they hold.

    Changes are those of `Running.apply`, with queries as JSON values.
    """
    catalogue = stored(checkpoint)
    Burst.of(catalogue, asked)  # what is wrong with it is said here
    if is_running(checkpoint):
        requests = Requests(checkpoint)
        return "running", requests.wait(requests.ask_all(asked), timeout)
    then = _checked(catalogue, asked, checkpoint, rows)
    CatalogueFiles(checkpoint).write(then)
    return "stored", then.since()


def _checked(
    catalogue: Catalogue, asked: Sequence[Change], checkpoint: str, rows: Rows | None
) -> Catalogue:
    """The catalogue after a change, whose new queries can run on the rows."""
    progress = ProgressFile(checkpoint).read()
    burst = Burst.of(catalogue, asked)
    if not burst.added or rows is None:
        return burst.made_of(catalogue, progress, {})
    from weft.spark.calendars import in_session  # Spark is needed only from here on
    from weft.spark.streaming.compile import argument_types, compile_catalogue

    df, axis, sink = rows()
    burst = Burst.of(catalogue, placed_changes(asked, lambda query: in_session(query, df, axis)))
    then = burst.made_of(catalogue, progress, argument_types(df, axis, burst.added))
    compiled = compile_catalogue(then, df, axis)
    if sink is not None:
        sink.check(compiled.answered, then.settings.mode)
    return then


def preview(
    checkpoint: str, asked: Sequence[Change], rows: Rows, *, timeout: float = 120.0
) -> tuple[Way, list[str]]:
    """What changes would ask for that the running stream does not project; an error if amiss."""
    catalogue = stored(checkpoint)
    Burst.of(catalogue, asked)
    if is_running(checkpoint):
        requests = Requests(checkpoint)
        made = requests.wait(requests.ask_preview(asked), timeout)
        return "running", list(made["needs"])
    _checked(catalogue, asked, checkpoint, rows)
    return "stored", []


def drop_query(checkpoint: str, name: str, *, timeout: float = 120.0) -> Way:
    """Drop a query."""
    return change_queries(checkpoint, [{"op": "drop", "name": name}], timeout=timeout)[0]


def pause_query(checkpoint: str, name: str, *, timeout: float = 120.0) -> Way:
    """Hold a query's answers back; what it needs is kept up to date all the while."""
    return change_queries(checkpoint, [{"op": "pause", "name": name}], timeout=timeout)[0]


def resume_query(checkpoint: str, name: str, *, timeout: float = 120.0) -> Way:
    """Answer a paused or failed query again."""
    return change_queries(checkpoint, [{"op": "resume", "name": name}], timeout=timeout)[0]
