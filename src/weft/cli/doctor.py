"""`weft doctor`: whether this machine has what weft needs, and what to install."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from weft.cli.jobs import json_option, read_job
from weft.cli.output import console, echo_json

MARKS = {
    "ok": "[green]ok[/green]     ",
    "warning": "[yellow]warning[/yellow]",
    "missing": "[red]missing[/red]",
}


@click.command()
@click.argument("job", type=click.Path(path_type=Path), required=False)
@json_option
@click.pass_context
def doctor(ctx: click.Context, /, job: Path | None, as_json: bool) -> None:
    """Check Python, Java, PySpark, memory, disk and the state store; with JOB, also its connectors.

    The exit code is 1 if something that weft needs is missing.
    """
    from weft.cli.machine import checks

    read = None if job is None else read_job(ctx, job, strict=False)
    screen, found = console(), []
    for check in checks(read):
        found.append(check)
        if not as_json:
            from rich.markup import escape

            screen.print(f"{MARKS[check.state]} {escape(check.name)}: {escape(check.found)}")
            if check.advice:
                screen.print(f"        {escape(check.advice)}")
    missing = [check for check in found if check.state == "missing"]
    if as_json:
        echo_json({"ok": not missing, "checks": [asdict(check) for check in found]})
    elif missing:
        screen.print(f"{len(missing)} missing")
    else:
        screen.print("weft can run here")
    ctx.exit(1 if missing else 0)
