"""`weft run JOB`: answer every query of a batch job."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from time import perf_counter
from typing import Any

import click

from weft.cli.jobs import (
    batch_options,
    json_option,
    read_job,
    spark_for,
    tell_beside,
    tell_failed,
)
from weft.cli.output import echo_json, progress, table


@click.command()
@batch_options
@click.option("--out", help="Write one Parquet folder per query here, instead of the job's sink.")
@click.option("--overwrite", is_flag=True, help="Replace existing answers.")
@click.option("--show", type=click.IntRange(min=0), help="Print this many rows of every query.")
@json_option
@click.pass_context
def run(
    ctx: click.Context,
    /,
    job: Path,
    out: str | None,
    overwrite: bool,
    show: int | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Run the queries of JOB over all rows of its source, and write the answers to its sink.

    JOB is a job file, or a file of queries with --source. Statements that cannot be shared run
    unchanged on Spark. Without a sink and without --out, the first five rows of every query are
    printed.

    \b
    weft run job.yaml
    weft run queries.sql --source trades.parquet --out answers
    weft run queries.sql --source flights=flights.parquet --source carriers=carriers.csv
    """
    strict = options.pop("strict")
    read = read_job(ctx, job, strict=False, **options)
    sink = read.sink if out is None else _folder_sink(out)
    if show is None:
        show = 5 if sink is None else sink.limit if sink.kind == "console" else 0
    began = perf_counter()
    with spark_for(ctx, read) as spark:
        answers = _answers(spark, read, sink, show, overwrite, quiet=as_json, strict=strict)
    seconds = perf_counter() - began
    failed = [answer for answer in answers if answer.error is not None]
    if as_json:
        told = [asdict(answer) for answer in answers]
        echo_json({"queries": told, "seconds": seconds})
        ctx.exit(1 if failed else 0)
    for answer in answers:
        if answer.first:
            click.echo(f"{answer.query}:")
            table(answer.first, indent=2)
    answered = [answer for answer in answers if answer.error is None]
    rows = [
        {"query": answer.query, "rows": answer.rows, "how": answer.how}
        | ({} if answer.place is None else {"written to": answer.place})
        for answer in answered
    ]
    table(rows)
    total = sum(answer.rows for answer in answered)
    noun = "query" if len(answered) == 1 else "queries"
    click.echo(f"{total:,} rows of {len(answered):,} {noun} in {seconds:.1f} s")
    tell_beside({one.query: one.why for one in answered if one.why is not None})
    tell_failed({one.query: one.error for one in failed})
    if failed:
        rest = "; the others are complete" if answered else ""
        click.echo(f"{len(failed)} of {len(answers)} queries failed{rest}", err=True)
        ctx.exit(1)


def _answers(
    spark: Any, job: Any, sink: Any, show: int, overwrite: bool, *, quiet: bool, strict: bool
) -> list[Any]:
    from weft.spark.jobs import check_connector, job_batch
    from weft.spark.results.answers import deliver, places

    if sink is not None:
        check_connector(spark, job, sink)
    whole = job_batch(spark, job, strict=strict)
    names = [asked.name for asked in whole.asked if asked.error is None]
    where = places(job, names, sink, overwrite=overwrite)
    found = []
    with whole, progress("running", enabled=not quiet) as report:
        for answer in deliver(whole, job, sink, where, show=show, overwrite=overwrite):
            if answer.error is not None:
                answer = replace(answer, error=job.scrub(answer.error))
            found.append(answer)
            if report is not None:
                report(len(found), len(whole.asked), f"answered {answer.query}")
    return found


def _folder_sink(out: str) -> Any:
    from weft.job import SinkSpec
    from weft.job.variables import literal

    return SinkSpec("parquet", literal(out if "://" in out else str(Path(out).absolute())))
