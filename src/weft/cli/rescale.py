"""`weft rescale JOB`: change the number of state partitions of a stopped stream, or undo that."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from weft.cli.changing import checkpoint_of
from weft.cli.jobs import job_argument, json_option, read_job, spark_for
from weft.cli.output import echo_json
from weft.cli.stream import started


@click.command()
@job_argument
@click.option("--partitions", type=int, help="New number; at most the stream's number of buckets.")
@click.option(
    "--undo", is_flag=True, help="Undo the last rescale, if no micro-batch has run since."
)
@json_option
@click.pass_context
def rescale(
    ctx: click.Context, /, job: Path, partitions: int | None, undo: bool, as_json: bool
) -> None:
    """Change the number of state partitions of JOB's stream, which must be stopped.

    Each partition's state is held by one task. The next start uses the new number; answers stay the
    same. Needs Spark 4.2 or newer.
    """
    if undo == (partitions is not None):
        raise click.UsageError("Give either --partitions or --undo.")
    from weft.job.streams import as_stream
    from weft.spark.streaming.rescale import check_rescale, undo_rescale
    from weft.spark.streaming.rescale import rescale as move
    from weft.stream.rescaling import is_unfinished

    read = read_job(ctx, job, strict=False)
    checkpoint = checkpoint_of(read)
    if partitions is None:
        done = undo_rescale(checkpoint)
    else:
        with spark_for(ctx, read) as spark:
            check_rescale(spark, checkpoint, partitions)
            if is_unfinished(checkpoint):
                click.echo("finishing the interrupted micro-batch first", err=True)
                started(spark, as_stream(read), trigger="once").await_termination()
            done = move(spark, checkpoint, partitions)
    if as_json:
        echo_json(asdict(done))
    else:
        click.echo(str(done))
