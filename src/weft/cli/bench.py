"""`weft bench NAME`: run a benchmark, check its answers, show its ratios."""

from __future__ import annotations

import csv
import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from weft.cli.output import console, number

BENCHES = ("plan", "finals", "share", "stream")


@click.command()
@click.argument("name", type=click.Choice(BENCHES))
@click.option("--full", is_flag=True, help="The whole study instead of its quick form.")
@click.option("--csv", "csv_file", type=click.Path(path_type=Path), help="Also write rows here.")
@click.option("--json", "as_json", is_flag=True, help="Rows as JSON.")
def bench(name: str, full: bool, csv_file: Path | None, as_json: bool) -> None:
    """Run benchmark NAME; a wrong answer ends it with exit code 1.

    Everything is compared in one run, and ratios are what counts: machines are shared and noisy.
    """
    report = import_module(f"weft.bench.{name}").run(quick=not full)
    if csv_file is not None:
        write_csv(csv_file, report.rows)
    if as_json:
        click.echo(json.dumps({"rows": report.rows, "failures": report.failures}, indent=2))
    else:
        show(report.rows)
        for line in report.summary:
            click.echo(line)
    for failure in report.failures:
        click.echo(f"FAILED: {failure}", err=True)
    sys.exit(1 if report.failures else 0)


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


def write_csv(path: Path, rows: list[dict[str, Any]]) -> None:
    """Rows with the union of their columns, in order of appearance."""
    columns = list(dict.fromkeys(column for row in rows for column in row))
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows)
