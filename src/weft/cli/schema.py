"""`weft schema`: the published schema of a job file."""

from __future__ import annotations

import click

from weft.cli.output import echo_json


@click.command()
@click.option("--json", is_flag=True, hidden=True, expose_value=False, help="It is always JSON.")
def schema() -> None:
    """Print the JSON schema of job files (draft 2020-12), for editors and programs.

    \b
    weft schema > job.schema.json
    """
    from weft.job import job_schema

    echo_json(job_schema())
