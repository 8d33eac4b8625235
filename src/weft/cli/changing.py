"""Changes to a stream's queries from the command line: all or none, with a report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from weft.cli.jobs import read_job
from weft.cli.output import echo_json
from weft.stream.instants import shown_instant

if TYPE_CHECKING:
    from weft.job.model import Job

HOW = {
    "running": "takes effect in the running stream from micro-batch {batch} on",
    "stored": "the stream is not running; takes effect when it next starts",
}


def each(
    ctx: click.Context,
    job: Path,
    names: tuple[str, ...],
    op: str,
    done: str,
    timeout: float,
    as_json: bool,
) -> None:
    """Make the same change to each of some queries (all or none), and report it."""
    checkpoint = checkpoint_of(read_job(ctx, job, strict=False))
    changes = [{"op": op, "name": name} for name in names]
    make(checkpoint, changes, names, done, timeout, as_json)


def make(
    checkpoint: str,
    changes: Sequence[Mapping[str, Any]],
    names: Sequence[str],
    done: str,
    timeout: float,
    as_json: bool,
    rows: Callable[[], Any] | None = None,
) -> None:
    """Make changes, all or none, and report for each query when it took effect."""
    from weft.spark.streaming.changes import change_queries

    by, made = change_queries(checkpoint, changes, rows, timeout=timeout)
    tell(checkpoint, by, made, names, done, as_json)


def tell(
    checkpoint: str,
    by: str,
    made: Mapping[str, Any],
    names: Sequence[str],
    done: str,
    as_json: bool,
) -> None:
    """Report for each query when a change took effect."""
    from weft.spark.streaming.changes import stored

    kind = stored(checkpoint).settings.kind
    told = []
    for name in names:
        one = {"query": name, "done": done, "by": by, "batch": made.get("batch")}
        if done in ("added", "resumed"):
            starts = {asked.lower(): start for asked, start in made["complete_from"].items()}
            one["answered from"] = since(starts.get(name.lower()), kind)
        told.append(one)
    if as_json:
        echo_json({"changes": told})
        return
    for one in told:
        first = f"; answered from {one['answered from']} on" if "answered from" in one else ""
        click.echo(f"{done} {one['query']}: {HOW[by].format(batch=one['batch'])}{first}")


def tell_needs(
    checkpoint: str,
    changes: Sequence[Mapping[str, Any]],
    names: Sequence[str],
    timeout: float,
    as_json: bool,
    rows: Callable[[], Any],
) -> None:
    """Report what adding queries would require."""
    from weft.spark.streaming.changes import preview

    by, needs = preview(checkpoint, changes, rows, timeout=timeout)
    if as_json:
        echo_json({"queries": list(names), "by": by, "restart": bool(needs), "needs": needs})
    elif by == "stored":
        click.echo(f"{', '.join(names)}: can be added; the stream is not running")
    elif needs:
        click.echo(
            f"{', '.join(names)}: the stream would restart, because it does not project "
            f"{', '.join(needs)} yet (list such expressions under offer: in the job to avoid this)"
        )
    else:
        click.echo(f"{', '.join(names)}: needs no restart; starts with the next micro-batch")


def checkpoint_of(job: Job) -> str:
    """The checkpoint of the job's stream."""
    from weft.job import need

    need(job, {"checkpoint": "it holds the stream's queries"})
    return job.locate(job.checkpoint or "")


def since(units: int | None, kind: str) -> str:
    """The time from which a query is answered, as text.

    >>> since(None, "timestamp"), since(0, "timestamp"), since(1000, "integer")
    ('its first window', '1970-01-01 00:00:00 UTC', '1,000')
    """
    if units is None:
        return "its first window"
    return shown_instant(units, kind)
