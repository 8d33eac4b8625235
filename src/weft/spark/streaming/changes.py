"""Changes of the queries on a checkpoint, whether its stream is running or not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal

from weft.errors import CheckpointError
from weft.plan.time_axis import TimeAxis
from weft.stream.burst import (
    Burst,
    Change,
    added_queries,
    history_changes,
    placed_changes,
    wholes,
)
from weft.stream.catalogue import Catalogue
from weft.stream.catalogue_files import CatalogueFiles
from weft.stream.heartbeat import is_running
from weft.stream.progress import ProgressFile
from weft.stream.requests import Requests

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from weft.sinks import Sink

Way = Literal["running", "stored"]
"""Whether a change was made by the running stream, or written for its next start."""
Rows = Callable[[], "tuple[DataFrame, TimeAxis, Sink | None]"]
"""Returns the stream's rows and sink, to check a query if the stream is not running."""


def stored(checkpoint: str) -> Catalogue:
    """The catalogue of a checkpoint; an error if no stream has been started on it."""
    catalogue = CatalogueFiles(checkpoint).latest()
    if catalogue is None:
        raise CheckpointError(f"{checkpoint}: no stream has been started on this checkpoint yet")
    return catalogue


def change_queries(
    checkpoint: str, asked: Sequence[Change], rows: Rows | None = None, *, timeout: float = 120.0
) -> tuple[Way, dict[str, Any]]:
    """Make some changes, all or none; returns by whom they were made, and when they took effect.

    Changes are those of `Running.apply`, with queries as JSON values.
    """
    catalogue = stored(checkpoint)
    Burst.of(catalogue, asked)  # raises if a change is invalid
    if is_running(checkpoint):
        requests = Requests(checkpoint)
        return "running", requests.wait(requests.ask_all(asked), timeout)
    then = _checked(catalogue, asked, checkpoint, rows)
    CatalogueFiles(checkpoint).write(then)
    return "stored", then.since()


def add_with_history(
    checkpoint: str,
    asked: Sequence[Change],
    rows: Rows,
    history: Callable[[], DataFrame],
    *,
    timeout: float = 120.0,
) -> tuple[Way, dict[str, Any]]:
    """Add queries with the rows before the stream's own; returns by whom, and when it took effect.

    The shards are computed by a Spark session of this process while the stream continues. If that
    fails, the queries are dropped again.
    """
    from weft.spark.streaming.compile import compile_catalogue
    from weft.spark.streaming.history import check_history, write_history

    queries = added_queries(asked)
    df, axis, _ = rows()
    past = history()
    check_history(past, axis, df)
    waiting = [{**change, "history": True} for change in asked]
    change_queries(checkpoint, waiting, rows, timeout=timeout)
    try:
        catalogue = stored(checkpoint)
        compiled = compile_catalogue(catalogue, df, axis)
        names = [query.name for query in queries]
        places = write_history(past, axis, catalogue, compiled, checkpoint, names)
        return change_queries(checkpoint, history_changes(places), timeout=timeout)
    except BaseException:
        drops = [{"op": "drop", "name": name} for name in wholes(queries)]
        with suppress(Exception):  # report the first error, not this one
            change_queries(checkpoint, drops, timeout=timeout)
        raise


def _checked(
    catalogue: Catalogue, asked: Sequence[Change], checkpoint: str, rows: Rows | None
) -> Catalogue:
    """The catalogue after a change, after checking that its new queries can run on the rows."""
    progress = ProgressFile(checkpoint).read()
    burst = Burst.of(catalogue, asked)
    if not burst.added or rows is None:
        return burst.made_of(catalogue, progress, {})
    from weft.spark.calendars import in_session  # Spark is not needed before this point
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
    """What changes need that the running stream does not project; an error if they are invalid."""
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
    """Stop a query's answers; its state is kept up to date."""
    return change_queries(checkpoint, [{"op": "pause", "name": name}], timeout=timeout)[0]


def resume_query(checkpoint: str, name: str, *, timeout: float = 120.0) -> Way:
    """Answer a paused or failed query again."""
    return change_queries(checkpoint, [{"op": "resume", "name": name}], timeout=timeout)[0]
