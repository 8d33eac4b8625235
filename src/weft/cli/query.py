"""`weft query add|drop|pause|resume|limit|list|costs JOB`: a stream's queries, running or not."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from weft.cli.changing import checkpoint_of, each, make, since, tell, tell_needs
from weft.cli.jobs import job_argument, json_option, read_job, spark_for
from weft.cli.output import echo_json, number, size, table
from weft.query.duration import read_number
from weft.query.query_limits import QueryLimits

if TYPE_CHECKING:
    from weft.stream.catalogue import Catalogue, Entry
    from weft.stream.ledger import Cost

TIMEOUT = click.option(
    "--timeout", type=click.FloatRange(min=1), default=120.0, show_default=True,
    help="Seconds to wait for a running stream.",
)  # fmt: skip


@click.group()
def query() -> None:
    """Add, drop, pause, resume, limit and list the queries of a job's stream, and show their costs.

    A running stream is reached through its checkpoint, from any process that can write there.
    """


# SQL may begin with a comment, `-- name: x`, which looks like an option.
@query.command(context_settings={"ignore_unknown_options": True})
@job_argument
@click.argument("sql")
@click.option("--name", help="Name of the query; or write a comment '-- name: x' in the SQL.")
@click.option(
    "--backfill", is_flag=True, help="Also answer open windows whose slices are still in state."
)
@click.option(
    "--history", type=click.Path(), metavar="PATH",
    help="File or folder with all earlier rows, so that the first answers are complete.",
)  # fmt: skip
@click.option("--limits", help="Limits, such as groups=10000,over=pause; see `weft query limit`.")
@click.option("--owner", help="Who its costs are charged to; or a comment '-- owner: x'.")
@click.option(
    "--lateness", metavar="DURATION",
    help="How much longer than the watermark allows to accept late rows, such as '10 minutes'; or "
    "a comment '-- lateness: 10 minutes'.",
)  # fmt: skip
@click.option(
    "--dry-run", is_flag=True, help="Change nothing; only say whether a restart would be needed."
)
@TIMEOUT
@json_option
@click.pass_context
def add(
    ctx: click.Context,
    /,
    job: Path,
    sql: str,
    name: str | None,
    backfill: bool,
    history: str | None,
    limits: str | None,
    owner: str | None,
    lateness: str | None,
    dry_run: bool,
    timeout: float,
    as_json: bool,
) -> None:
    """Add the queries in SQL (statements, or a file of statements) to the stream of JOB.

    \b
    weft query add job.yaml "SELECT symbol, max(price) AS hi FROM trades
      GROUP BY window(ts, '1 hour', '10 minutes'), symbol" --name hourly_hi
    """
    from weft.job.asked import asked_queries
    from weft.spark.streaming.changes import stored

    read = read_job(ctx, job, strict=False)
    checkpoint = checkpoint_of(read)
    stored(checkpoint)
    asked = asked_queries(sql, read.source.time, name=name)
    if limits is not None:
        asked = [one.limited(QueryLimits.read(limits)) for one in asked]
    if owner is not None:
        asked = [one.owned(owner) for one in asked]
    if lateness is not None:
        asked = [one.late_by(read_number(lateness)) for one in asked]

    @cache
    def rows() -> Any:
        """The stream's rows, which needs Spark; called only if the stream is not running."""
        from weft.job.streams import as_stream
        from weft.spark.jobs import job_loom, job_sink

        spark = ctx.with_resource(spark_for(ctx, read))
        loom = job_loom(spark, as_stream(read), streaming=True)
        return loom.df, loom.axis, job_sink(spark, read) if read.sink else None

    names = [one.name for one in asked]
    changes = [{"op": "add", "query": one.to_dict(), "backfill": backfill} for one in asked]
    if dry_run:
        tell_needs(checkpoint, changes, names, timeout, as_json, rows)
    elif history is None:
        make(checkpoint, changes, names, "added", timeout, as_json, rows)
    else:
        from weft.job.tables import source_of
        from weft.spark.jobs import history_frame
        from weft.spark.streaming.changes import add_with_history

        place = history if "://" in history else str(Path(history).absolute())
        spec = source_of(place, "--history", read.source.time)

        def past() -> Any:
            return history_frame(rows()[0].sparkSession, read, spec)

        told = add_with_history(checkpoint, changes, rows, past, timeout=timeout)
        tell(checkpoint, *told, names, "added", as_json)


@query.command()
@job_argument
@click.argument("names", nargs=-1, required=True)
@TIMEOUT
@json_option
@click.pass_context
def drop(
    ctx: click.Context, /, job: Path, names: tuple[str, ...], timeout: float, as_json: bool
) -> None:
    """Drop the queries NAMES from the stream of JOB; their state is freed."""
    each(ctx, job, names, "drop", "dropped", timeout, as_json)


@query.command()
@job_argument
@click.argument("names", nargs=-1, required=True)
@TIMEOUT
@json_option
@click.pass_context
def pause(
    ctx: click.Context, /, job: Path, names: tuple[str, ...], timeout: float, as_json: bool
) -> None:
    """Stop answering the queries NAMES; their state is kept up to date.

    Windows that close while a query is paused are not answered, then or later.
    """
    each(ctx, job, names, "pause", "paused", timeout, as_json)


@query.command()
@job_argument
@click.argument("names", nargs=-1, required=True)
@TIMEOUT
@json_option
@click.pass_context
def resume(
    ctx: click.Context, /, job: Path, names: tuple[str, ...], timeout: float, as_json: bool
) -> None:
    """Answer the queries NAMES again: paused queries from the next window that closes, failed
    queries from the next window that begins."""
    each(ctx, job, names, "resume", "resumed", timeout, as_json)


@query.command()
@job_argument
@click.argument("name")
@click.argument("limits")
@TIMEOUT
@json_option
@click.pass_context
def limit(
    ctx: click.Context, /, job: Path, name: str, limits: str, timeout: float, as_json: bool
) -> None:
    """Limit what the query NAME may use in the stream of JOB; `none` removes its limits.

    \b
    state_bytes  bytes of state: its share of the state of its trees (2 GB)
    groups       groups in one window
    answers      answers in one micro-batch
    share        its share of the operator's recent time, between 0 and 1
    over         what happens to a query over a limit: fail or pause

    \b
    weft query limit job.yaml hourly_hi groups=10000,answers=1000000,over=pause
    """
    made = QueryLimits.read(limits)
    change = {"op": "limit", "name": name, "limits": made and made.to_dict()}
    make(
        checkpoint_of(read_job(ctx, job, strict=False)),
        [change],
        [name],
        "limited",
        timeout,
        as_json,
    )


@query.command("list")
@job_argument
@json_option
@click.pass_context
def list_(ctx: click.Context, /, job: Path, as_json: bool) -> None:
    """List the queries of JOB's stream: since when each is answered, its usage and its limits."""
    from weft.spark.streaming.changes import stored
    from weft.stream.heartbeat import is_running, last_beat
    from weft.stream.status_file import read_board

    read = read_job(ctx, job, strict=False)
    checkpoint = checkpoint_of(read)
    catalogue = stored(checkpoint)
    beat = last_beat(checkpoint) if is_running(checkpoint) else None
    board = read_board(checkpoint)
    used = {one["number"]: one for one in board["status"]["queries"]} if board else {}
    found = [_told(catalogue, entry, used.get(entry.number)) for entry in catalogue.entries]
    found += [
        {"query": failure.query.name, "answered from": "", "state": "failed"}
        for failure in catalogue.failed
    ]
    if as_json:
        asked = [query.to_dict() for query in catalogue.queries]
        for one, failure in zip(found[len(asked) :], catalogue.failed, strict=True):
            one |= {"batch": str(failure.batch), "error": failure.message, "in": failure.expression}
            asked.append(failure.query.to_dict())
        listed = [one | {"asks": asks} for one, asks in zip(found, asked, strict=True)]
        echo_json({"running": beat, "change": catalogue.number, "queries": listed})
        return
    table(found)
    for entry in catalogue.entries:
        if entry.why:
            click.echo(f"query {entry.query.name!r} is paused: {entry.why}")
    for failure in catalogue.failed:
        click.echo(failure.said)
    state = "is not running" if beat is None else f"runs as process {beat['pid']} on {beat['host']}"
    click.echo(f"{len(found):,} queries, change {catalogue.number}; the stream {state}")


@query.command()
@job_argument
@click.option(
    "--by",
    type=click.Choice(["query", "owner"]),
    default="query",
    show_default=True,
    help="One line per query, or one per owner.",
)
@click.option("--csv", "as_text", is_flag=True, help="Print CSV.")
@json_option
@click.pass_context
def costs(
    ctx: click.Context, /, job: Path, by: str, as_text: bool, as_json: bool
) -> None:  # fmt: skip
    """Show what each query or owner has cost the stream of JOB since its first start.

    Seconds are those that the stateful operator spent, summed over all tasks. Dropped queries are
    listed together under their owner; queries without an owner are listed as unowned.

    \b
    weft query costs job.yaml --by owner --csv > costs.csv
    """
    from weft.spark.streaming.changes import stored
    from weft.stream.ledger import LedgerFile, as_csv, by_owner

    checkpoint = checkpoint_of(read_job(ctx, job, strict=False))
    stored(checkpoint)
    found = LedgerFile(checkpoint).read().costs()
    found = by_owner(found) if by == "owner" else found
    if as_text:
        click.echo(as_csv(found), nl=False)
    elif as_json:
        echo_json({"by": by, "costs": [cost.__dict__ for cost in found]})
    else:
        table([_cost_line(cost, by) for cost in found])


def _cost_line(cost: Cost, by: str) -> dict[str, Any]:
    named: dict[str, Any] = {"query": cost.query, "owner": cost.owner}
    if by == "owner":
        named = {"owner": cost.owner, "queries": cost.queries}
    return {
        **named,
        "seconds": round(cost.seconds, 2),
        "share": f"{cost.share:.1%}",
        "holds": size(cost.state_bytes),
        "GB hours": f"{cost.state_byte_seconds / 3.6e12:.3g}",
        "answers": cost.answers,
    }


def _told(catalogue: Catalogue, entry: Entry, used: Mapping[str, Any] | None) -> dict[str, Any]:
    """A row of the list: a query, its last reported usage, and its limits."""
    limits = catalogue.limits_of(entry.query)
    return {
        "query": entry.query.name,
        "answered from": since(entry.complete_from, catalogue.settings.kind),
        "state": "waiting for history"
        if entry.waiting
        else "answering"
        if entry.paused is None
        else "paused",
        "holds": "" if used is None else f"{number(used['state_bytes'] / 1e6)} MB",
        "groups": "" if used is None else f"{used['groups']:,}",
        "time": "" if used is None else f"{used['share']:.0%}",
        "limits": "" if limits is None else str(limits),
    }
