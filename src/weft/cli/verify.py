"""`weft verify JOB`: compare the shared plan's answers with those of plain Spark, row by row."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
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
from weft.cli.output import console, echo_json


@click.command()
@batch_options
@json_option
@click.pass_context
def verify(ctx: click.Context, /, job: Path, as_json: bool, strict: bool, **table: Any) -> None:
    """Run the queries of JOB by the shared plan and as plain Spark queries; compare every row.

    JOB is a job file, or a file of queries with --source. Nothing is written. Statements that run
    unchanged on Spark are listed and not compared. The exit code is 1 if an answer differs or a
    statement fails.

    \b
    weft verify job.yaml
    weft verify queries.sql --source trades.parquet
    """
    read = read_job(ctx, job, strict=False, **table)
    with spark_for(ctx, read) as spark:
        from weft.spark.jobs import job_batch
        from weft.spark.verify.statements import verify_whole

        whole, screen = job_batch(spark, read, strict=strict), console(stderr=True)
        with whole, screen.status("running both") if screen.is_terminal else nullcontext():
            report = verify_whole(whole)
    beside = {one.name: one.why for one in whole.asked if one.why is not None}
    failed = {one.name: one.error for one in whole.asked if one.error is not None}
    if as_json:
        echo_json(
            {
                "ok": report.ok,
                "rows": report.rows,
                "native_seconds": report.native_seconds,
                "weft_seconds": report.weft_seconds,
                "queries": [{**asdict(one), "ok": one.ok} for one in report.differences],
                "as they are": beside,
                "failed": failed,
            }
        )
    else:
        click.echo(str(report))
        tell_beside(beside)
        tell_failed(failed)
    ctx.exit(0 if report.ok and not failed else 1)
