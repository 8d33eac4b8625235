"""`weft prepare`: does work once that every start of an embedded Spark would repeat."""

from __future__ import annotations

import click

from weft.cli.jobs import json_option
from weft.cli.output import echo_json


@click.command()
@json_option
def prepare(as_json: bool) -> None:
    """Save the classes that Spark loads to a file, so that commands start in half the time.

    Takes a minute. Run it once per environment, and again after installing another Spark or Java.
    """
    from weft.spark.class_archive import java_options, make_archive

    click.echo("Preparing Spark for quick starts (once, about a minute)", err=as_json)
    made = make_archive()
    if as_json:
        echo_json({"archive": str(made), "bytes": made.stat().st_size, "java": java_options()})
        return
    click.echo(f"{made}: {made.stat().st_size / 2**20:,.0f} MiB")
    click.echo(f"In your own sessions, set spark.driver.extraJavaOptions={java_options()!r}")
