"""`weft ask JOB|CHECKPOINT QUERY`: the answers of a window, from the state of a stream."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import click

from weft.cli.changing import checkpoint_of
from weft.cli.jobs import json_option, read_job, spark_for
from weft.cli.output import echo_json, table
from weft.errors import JobError
from weft.stream.instants import shown_instant


@click.command()
@click.argument("target", metavar="JOB|CHECKPOINT")
@click.argument("query")
@click.option(
    "--at",
    metavar="TIME",
    help="Answer the last window that ends at or before TIME.  [default: the current window]",
)
@click.option(
    "--key", "keys", multiple=True, metavar="COLUMN=VALUE",
    help="Only groups with this key (repeatable); COLUMN without a value means null.",
)  # fmt: skip
@click.option(
    "--limit", type=click.IntRange(min=1, max=5000), default=1000, show_default=True,
    help="Show at most this many rows.",
)  # fmt: skip
@click.option(
    "--timeout", type=click.FloatRange(min=1), default=60.0, show_default=True,
    help="Seconds to wait for a running stream.",
)  # fmt: skip
@click.option(
    "--max-age", metavar="DURATION",
    help="Accept a cached answer of at most this age, such as '5 seconds'.",
)  # fmt: skip
@json_option
@click.pass_context
def ask(
    ctx: click.Context,
    /,
    target: str,
    query: str,
    at: str | None,
    keys: tuple[str, ...],
    limit: int,
    timeout: float,
    max_age: str | None,
    as_json: bool,
) -> None:
    """Show the current answers of QUERY, for its open window or the window at a given time.

    The command does not wait for the watermark: an open window is answered too, and marked as open.
    A running stream is reached through its checkpoint; if the stream is stopped, the command starts
    Spark and reads the state itself.

    \b
    weft ask job.yaml hourly_hi --key symbol=ACME
    weft ask checkpoints/trades hourly_hi --at "2026-05-01 12:00"
    """
    from weft.spark.streaming.changes import stored
    from weft.stream.heartbeat import is_running
    from weft.stream.requests import Requests

    path = Path(target)
    is_job = not (path.is_dir() or "://" in target)
    if is_job and not path.exists():
        raise JobError(f"{target} does not exist: name a job file or a checkpoint")
    job = read_job(ctx, path, strict=False) if is_job else None
    checkpoint = checkpoint_of(job) if job is not None else target
    kind = stored(checkpoint).settings.kind
    wanted = dict(map(_key, keys))
    if is_running(checkpoint):
        requests = Requests(checkpoint)
        ticket = requests.ask_answer(query, at, wanted, limit, max_age)
        found = requests.wait(ticket, timeout, patience=timeout)
    else:
        from weft.spark.streaming.as_of_checkpoint import answer_from

        with _spark(ctx, job) as spark:
            found = answer_from(spark, checkpoint, query, at, wanted).to_dict(limit)
    if as_json:
        echo_json(found)
    else:
        _show(found, kind)


def _key(text: str) -> tuple[str, str | None]:
    """A key and its value.

    >>> _key("symbol=A=B"), _key("symbol")
    (('symbol', 'A=B'), ('symbol', None))
    """
    name, equals, value = text.partition("=")
    return name, value if equals else None


@contextmanager
def _spark(ctx: click.Context, job: Any) -> Iterator[Any]:
    """The job's session, or a local one for a bare checkpoint."""
    if job is not None:
        with spark_for(ctx, job) as spark:
            yield spark
        return
    from weft.spark.session import local_session

    spark = local_session()
    try:
        yield spark
    finally:
        spark.stop()


def _show(found: Mapping[str, Any], kind: str) -> None:
    names = [column["name"] for column in found["columns"]]
    rows = [dict(zip(names, row, strict=True)) for row in found["rows"]]
    if found["window"] is None and found["windows"]:
        edges = ({"start": _at(a, kind), "end": _at(b, kind)} for a, b in found["windows"])
        rows = [{"window": window, **row} for window, row in zip(edges, rows, strict=True)]
    table(rows)
    if found["window"] is None:
        what = f"{found['groups']:,} open sessions"
    else:
        start, end = (shown_instant(edge, kind) for edge in found["window"])
        state = "open, more rows may come" if found["open"] else "closed, final"
        what = f"window {start} .. {end} ({state}), {found['groups']:,} rows"
    less = f", of which {len(rows):,} are shown (--limit)" if len(rows) < found["groups"] else ""
    click.echo(f"{found['query']}: {what}{less}; as of micro-batch {found['batch']}")


def _at(units: int, kind: str) -> Any:
    if kind == "integer":
        return units
    return datetime.fromtimestamp(units / 1e6, timezone.utc).replace(tzinfo=None)
