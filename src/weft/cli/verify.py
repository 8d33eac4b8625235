"""`weft verify JOB`: the shared plan's answers beside those of plain Spark, row by row."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from weft.cli.jobs import (
    finals_option,
    job_argument,
    json_option,
    read_job,
    spark_for,
    strict_option,
    table_options,
    tell_refused,
)
from weft.cli.output import console, echo_json


@click.command()
@job_argument
@table_options
@finals_option
@strict_option
@json_option
@click.pass_context
def verify(ctx: click.Context, /, job: Path, as_json: bool, **table: Any) -> None:
    """Run the queries of JOB by the shared plan and as plain Spark queries; compare every row.

    JOB is a job file, or a file of queries with --source. Nothing is written. The exit code is 1
    if an answer differs.

    \b
    weft verify job.yaml
    weft verify queries.sql --source trades.parquet
    """
    read = read_job(ctx, job, **table)
    with spark_for(ctx, read) as spark:
        from weft.spark.jobs import job_loom
        from weft.stream.planning import plan_options

        loom, screen = job_loom(spark, read), console(stderr=True)
        with screen.status("running both") if screen.is_terminal else nullcontext():
            report = loom.verify(**plan_options(read))
    if as_json:
        echo_json(
            {
                "ok": report.ok,
                "rows": report.rows,
                "native_seconds": report.native_seconds,
                "weft_seconds": report.weft_seconds,
                "queries": [{**asdict(one), "ok": one.ok} for one in report.differences],
                "refused": list(read.refused),
            }
        )
    else:
        click.echo(str(report))
        tell_refused(read.refused)
    ctx.exit(0 if report.ok and not read.refused else 1)
