"""`weft stream JOB`: start or continue a stream, until it is told to stop."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from weft.cli.jobs import (
    finals_option,
    job_argument,
    json_option,
    read_job,
    spark_for,
    strict_option,
    tell_refused,
)
from weft.cli.output import echo_json, size
from weft.stream.events import differences

if TYPE_CHECKING:
    from weft.job.model import Job

NEEDS = {
    "checkpoint": "a directory in which the stream keeps its state",
    "sink": "where the answers go",
    "source.watermark": "how late a row may arrive, for instance 30 seconds",
}


@click.command()
@job_argument
@click.option("--once", is_flag=True, help="Process the available rows, then stop (available_now).")
@click.option(
    "--log",
    "log_as",
    type=click.Choice(["text", "json"]),
    help="Log sentences, or one line of JSON per event.  [default: the job's log:, or text]",
)
@click.option("--openlineage", metavar="TARGET", help="File or URL to send OpenLineage events to.")
@click.option(
    "--idle", metavar="DURATION", help="After this long without rows, close windows by the clock."
)
@click.option(
    "--late-to", metavar="DIR", help="Write late and lost rows to this directory (late: deliver)."
)
@finals_option
@strict_option
@json_option
@click.pass_context
def stream(
    ctx: click.Context,
    /,
    job: Path,
    once: bool,
    log_as: str | None,
    openlineage: str | None,
    idle: str | None,
    late_to: str | None,
    finals: str | None,
    strict: bool,
    as_json: bool,
) -> None:
    """Start the stream of JOB, or continue from its checkpoint.

    Prints a line for every micro-batch. Ctrl-C or SIGTERM stops the stream after the current
    micro-batch; the next start continues from there. A second Ctrl-C does not wait.
    """
    from weft.job import need
    from weft.job.model import located
    from weft.job.streams import as_stream
    from weft.spark.jobs import within_windows
    from weft.stream.heartbeat import refuse_second
    from weft.stream.idle import idle_micros

    if idle is not None:
        idle_micros(idle)  # refuse a wrong value before Spark starts
    if as_json and log_as is not None:
        raise click.UsageError("Give either --json (the whole status) or --log (events).")
    read = as_stream(read_job(ctx, job, finals=finals, strict=False), strict=strict)
    lineage = openlineage and located(Path(), openlineage)
    read = replace(read, log=log_as or read.log, openlineage=lineage or read.openlineage)
    read = replace(read, idle=idle or read.idle)
    if late_to is not None:
        read = replace(read, late="deliver", late_to=located(Path(), late_to))
    need(read, NEEDS)
    refuse_second(read.locate(read.checkpoint or ""))
    with spark_for(ctx, read) as spark, stopping() as stop:
        read = within_windows(spark, read, strict=strict)
        tell_refused(read.refused)
        running = started(spark, read, trigger="available_now" if once else None)
        say = silence if read.log == "json" and not as_json else lines(as_json)
        say("started", {"queries": [query.name for query in running.queries]})
        follow(running, stop, say)
        status = running.status()
        by_query = {query.name: query.answers for query in status.queries}
        facts = {"batch": status.batch, "answers": by_query, "total": status.answers}
        say("stopped" if stop.is_set() else "ended", facts)


def started(spark: Any, job: Job, *, trigger: str | None = None) -> Any:
    """Start the stream, with the job's trigger unless another is given.

    Everything that can be checked is checked before anything is written.
    """
    from weft.spark.jobs import history_frame, job_loom, job_sink
    from weft.stream.planning import plan_options

    sink = job_sink(spark, job)
    history = None if job.history is None else history_frame(spark, job, job.history)
    return job_loom(spark, job, streaming=True).start(
        sink,
        checkpoint=job.locate(job.checkpoint or ""),
        trigger=trigger or job.trigger,
        output_mode=cast(Any, job.output_mode),
        buckets=job.buckets,
        emit=cast(Any, job.emit),
        idle=job.idle,
        late=cast(Any, job.late),
        late_to=job.late_to and job.locate(job.late_to),
        adaptive=job.adaptive,
        metrics_port=job.metrics_port,
        max_ahead=job.source.max_ahead,
        limits=job.limits,
        log=click.echo if job.log == "json" else None,
        openlineage=job.openlineage and job.locate(job.openlineage),
        hide=job.scrub,
        history=history,
        **plan_options(job, streaming=True),
    )


@contextmanager
def stopping() -> Iterator[threading.Event]:
    """An event that Ctrl-C or SIGTERM sets; a second one interrupts as usual."""
    event = threading.Event()

    def ask(number: int, frame: Any) -> None:
        if event.is_set():
            raise KeyboardInterrupt
        event.set()

    if threading.current_thread() is not threading.main_thread():
        yield event  # not in the main thread, which alone may handle signals
        return
    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield event
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def follow(running: Any, stop: threading.Event, say: Callable[[str, dict[str, Any]], None]) -> None:
    """Report every micro-batch and all changes, until the stream ends."""
    known = running.status()
    ended = False
    while not (ended or stop.is_set()):
        try:
            ended = running.await_termination(0.5)
        except Exception:
            # Ctrl-C also reaches the Python workers, whose micro-batch fails and will be repeated.
            if not stop.is_set():
                tell(running, known, say, last=True)
                raise
        known = tell(running, known, say, last=ended)
    if not ended:
        say("stopping", {})
        running.stop()
        tell(running, known, say, last=True)


def tell(
    running: Any, known: Any, say: Callable[[str, dict[str, Any]], None], *, last: bool
) -> Any:
    """Report what is new since the status was `known`; returns the current status."""
    status = running.status()
    for event, facts in differences(known, status):
        say(event, facts)
    for batch in running.batches(last=last):
        own = {"rows_per_second": batch.rows / batch.seconds if batch.seconds else 0.0}
        facts = {**asdict(batch), "batch_seconds": batch.seconds, **own}
        say("batch", {**asdict(status), **facts})
    return status


def silence(event: str, facts: dict[str, Any]) -> None:
    """Print nothing, because the stream logs its events itself."""


def lines(as_json: bool) -> Callable[[str, dict[str, Any]], None]:
    """A function that prints events with their time: as lines of JSON, or as sentences."""

    def say(event: str, facts: dict[str, Any]) -> None:
        at = facts.get("at", time.time())
        when = datetime.fromtimestamp(at, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        if as_json:
            echo_json({"event": event, **facts, "at": when}, indent=None)
        else:
            click.echo(f"{when} {sentence(event, facts)}")

    return say


def sentence(event: str, facts: dict[str, Any]) -> str:
    """An event in words.

    >>> sentence("started", {"queries": ["a", "b"]})
    'started: 2 queries (Ctrl-C stops it)'
    >>> sentence("added", {"query": "hourly", "complete_from": None})
    "added: query 'hourly'"
    """
    if event == "started":
        return f"started: {_counted(len(facts['queries']))} (Ctrl-C stops it)"
    if event == "failed":
        return str(facts["error"])
    if event == "error":
        return f"error: {facts['error']}"
    if event == "limited":
        limits = facts["limits"] or {}
        shown = ", ".join(f"{name}={value}" for name, value in limits.items()) or "none"
        return f"limits: query {facts['query']!r}: {shown}"
    if "query" in facts:
        why = f" ({facts['why']})" if facts.get("why") else ""
        return f"{event}: query {facts['query']!r}{why}"
    if event == "replanned":
        trees = f"{facts['trees']:,} tree{'' if facts['trees'] == 1 else 's'}"
        return f"replanned: change {facts['change']}, {trees}"
    if event == "stopping":
        return "stopping after the current micro-batch"
    if event == "batch":
        return (
            f"batch {facts['batch']}: {facts['rows']:,} rows in {facts['seconds']:.2f} s, "
            f"watermark {_instant(facts['watermark'], facts['lag'])}, "
            f"{facts['slices']:,} slices, {size(facts['state_bytes'])} held, "
            f"{facts['answers']:,} answers so far{_set_aside(facts)}"
        )
    return f"{event} after batch {facts['batch']}: {facts['total']:,} answers since the start"


def _counted(queries: int) -> str:
    return f"{queries:,} quer{'y' if queries == 1 else 'ies'}"


def _set_aside(facts: dict[str, Any]) -> str:
    """What was set aside, as text; empty if nothing was.

    >>> _set_aside({"ahead_rows": 2, "damaged_requests": ("ck/weft/x.json",)})
    '; set aside: 2 rows far ahead of the clock, 1 damaged request (ck/weft/x.json)'
    """
    said = []
    if facts["ahead_rows"]:
        said.append(f"{facts['ahead_rows']:,} rows far ahead of the clock")
    damaged = facts["damaged_requests"]
    if damaged:
        plural = "" if len(damaged) == 1 else "s"
        said.append(f"{len(damaged):,} damaged request{plural} ({damaged[0]})")
    return f"; set aside: {', '.join(said)}" if said else ""


def _instant(units: int | None, lag: float | None) -> str:
    """A watermark as text: a time, or a number on an integer axis, which has no lag."""
    if units is None:
        return "-"
    if lag is None:
        return f"{units:,}"
    return datetime.fromtimestamp(units / 1e6, timezone.utc).strftime("%Y-%m-%d %H:%M:%S UTC")
