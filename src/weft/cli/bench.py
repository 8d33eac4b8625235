"""`weft bench NAME`: run a benchmark of the repository, check its answers, show its ratios."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from weft.cli.output import console, number
from weft.errors import WeftError

ELSEWHERE = (
    "the benchmarks are in weft's repository, not in the installed package: in a checkout, run "
    "`weft bench NAME` or `python -m benchmarks run NAME`; `python -m benchmarks list` lists them"
)


@click.command()
@click.argument("name")
@click.option("--full", is_flag=True, help="Run the full study instead of the quick form.")
@click.option(
    "--csv", "csv_file", type=click.Path(path_type=Path), help="Also write the rows here."
)
@click.option("--json", "as_json", is_flag=True, help="Print the rows as JSON.")
def bench(name: str, full: bool, csv_file: Path | None, as_json: bool) -> None:
    """Run benchmark NAME, in a checkout of weft; a wrong answer ends it with exit code 1.

    NAME is plan, finals, share, stream, or any other name that `python -m benchmarks list` shows.
    Compare ratios within one run, not times between runs: machines are shared and noisy.
    """
    harness = _harness()
    if name not in harness.BENCHES:
        raise click.BadParameter(
            f"{name!r} is not one of {', '.join(harness.BENCHES)}", param_hint="NAME"
        )
    try:
        found = harness.Bench(name).measure(full)
    except harness.CannotRun as missing:
        raise WeftError(f"{name}: {missing}") from missing
    except harness.WrongAnswer as wrong:
        if as_json:
            click.echo(json.dumps({"rows": [], "failures": [str(wrong)]}, indent=2))
        click.echo(f"FAILED: {wrong}", err=True)
        sys.exit(1)
    if csv_file is not None:
        harness.save(csv_file, found.rows, full=full, seconds=found.seconds)
    if as_json:
        click.echo(json.dumps({"rows": found.rows, "failures": []}, indent=2))
        return
    show(found.rows)
    for line in found.claim.also or (found.claim.ours,):
        click.echo(line)


def _harness() -> Any:
    """The benchmarks' runner, from the current directory if it cannot be imported otherwise."""
    if find_spec("benchmarks") is None and Path("benchmarks/support/harness.py").exists():
        sys.path.insert(0, str(Path.cwd()))
    try:
        return import_module("benchmarks.support.harness")
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] != "benchmarks":
            raise  # the missing module is one that a benchmark needs
        raise WeftError(ELSEWHERE) from missing


def show(rows: list[dict[str, Any]]) -> None:
    """Rows as a table that fits the terminal, one table per set of columns."""
    from itertools import groupby

    from rich.table import Table

    for _, group in groupby(rows, key=list):
        some = list(group)
        table = Table(*some[0], box=None, header_style="bold")
        for row in some:
            table.add_row(*(_cell(value) for value in row.values()))
        console().print(table)


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return number(value) if isinstance(value, float) else str(value)
