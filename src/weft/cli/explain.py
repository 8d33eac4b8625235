"""`weft explain JOB`: the plan of a job, and how it would run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from weft.cli.jobs import (
    batch_options,
    json_option,
    read_job,
    spark_for,
    tell_beside,
    tell_failed,
    tell_refused,
)
from weft.cli.output import echo_json
from weft.job.streams import as_stream

if TYPE_CHECKING:
    from weft.job.model import Job


@click.command()
@batch_options
@json_option
@click.pass_context
def explain(ctx: click.Context, /, job: Path, as_json: bool, strict: bool, **table: Any) -> None:
    """Show the plan of JOB, what it saves, and how Spark would run it. No query is run.

    JOB is a job file, or a file of queries with --source.

    \b
    weft explain job.yaml
    weft explain queries.sql --source trades.parquet
    """
    read = read_job(ctx, job, strict=False, **table)
    if read.checkpoint:
        read = as_stream(read, strict=strict)
    with spark_for(ctx, read) as spark:
        if read.checkpoint:
            from weft.spark.jobs import within_windows

            read = within_windows(spark, read, strict=strict)
            found = explained_stream(spark, read)
        else:
            found = explained_batch(spark, read, strict=strict)
    if as_json:
        echo_json({"job": read.to_dict(), **found})
        return
    click.echo("\n".join([*described(read), found["explain"], *found["notes"]]))
    if read.checkpoint:
        tell_refused(read.refused)
    tell_beside(found.get("as they are", {}))
    tell_failed(found.get("failed", {}))


def described(job: Job) -> list[str]:
    """A job in a few lines, without secrets."""
    source = job.source
    rows = f"{source.format} {', '.join(source.path)}".strip()
    refused = {one.name for one in job.statements if one.refusal is not None}
    count = len(refused.union(query.name for query in job.queries))
    lines = [f"job {job.name}: {count:,} queries on {rows}, time {source.time}"]
    if job.sink is not None:
        lines.append(f"answers to {job.sink}")
    return lines


def explained_batch(spark: Any, job: Job, *, strict: bool = False) -> dict[str, Any]:
    """For every source, the plan of a batch, how each tree would run, and what runs unshared."""
    from weft.spark.jobs import job_batch

    whole = job_batch(spark, job, strict=strict)
    plans, texts = [], []
    for (_, rows, time), loom in whole.looms.items():
        if not loom.queries:
            continue
        plans.append(loom.plan(**whole.options).to_dict())
        text = loom.explain(**whole.options)
        texts.append(text if len(whole.looms) == 1 else f"from {rows}, by {time}:\n{text}")
    then = [a.name for a in whole.asked if a.is_shared and a.finish is not None]
    notes = [f"then Spark SQL over the answers: {', '.join(then)}"] if then else []
    return {
        "plan": plans[0] if len(plans) == 1 else plans,
        "explain": "\n\n".join(texts) or "nothing is shared",
        "notes": notes,
        "as they are": {a.name: a.why for a in whole.asked if a.why is not None},
        "failed": {a.name: a.error for a in whole.asked if a.error is not None},
    }


def explained_stream(spark: Any, job: Job) -> dict[str, Any]:
    """The plan that a stream would start or continue with."""
    from weft.spark.jobs import job_loom
    from weft.stream.catalogue_files import CatalogueFiles
    from weft.stream.planning import plan_options, stream_plan

    loom = job_loom(spark, job, streaming=True)
    checkpoint = job.locate(job.checkpoint or "")
    stored = CatalogueFiles(checkpoint).latest()
    if stored is None:
        options = plan_options(job, streaming=True)
        plan = stream_plan(loom.queries, **options)
        text = loom.explain(**options)
        notes = [f"run: a new stream, by the {plan.request.options.engine} engine"]
    else:
        plan = stored.planned
        text = plan.explain()
        held = f"{len(stored.entries):,} queries, change {stored.number}"
        notes = [f"run: continues from the checkpoint ({held})"]
    notes.append(f"watermark {job.source.watermark}; {job.output_mode}; checkpoint {checkpoint}")
    return {"plan": plan.to_dict(), "explain": text, "notes": notes}
