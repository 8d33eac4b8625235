"""Shared by commands on a job: the options that name a job, and how it is opened."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from weft.errors import JobError

if TYPE_CHECKING:
    from weft.job.model import Job

Command = TypeVar("Command", bound=Callable[..., Any])


def job_argument(command: Command) -> Command:
    """JOB: a job file."""
    return click.argument("job", type=click.Path(path_type=Path))(command)


def table_options(command: Command) -> Command:
    """The options that make a job from a file of queries and a table of data."""
    for option in reversed(
        [
            click.option(
                "--source", "sources", multiple=True, metavar="[TABLE=]PATH",
                help="File or folder with the rows for a file of queries; once per table.",
            ),
            click.option("--format", "format_", help="Format.  [default: by the file ending]"),
            click.option("--time", help="Time column.  [default: the one in the queries, or ts]"),
            click.option("--schema", help="Columns and types of the source, as in CREATE TABLE."),
            click.option(
                "--option", "-o", "options", multiple=True, metavar="NAME=VALUE",
                help="Reader option for the format (repeatable).",
            ),
        ]
    ):  # fmt: skip
        command = option(command)
    return command


def json_option(command: Command) -> Command:
    """--json."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def finals_option(command: Command) -> Command:
    """--finals."""
    return click.option(
        "--finals", help="Structure that combines slices into answers: auto, flatfit, daba, ..."
    )(command)


def strict_option(command: Command) -> Command:
    """--strict."""
    return click.option(
        "--strict", is_flag=True, help="Stop if a statement is refused, instead of going on."
    )(command)


def batch_options(command: Command) -> Command:
    """JOB, and the options of the commands that run or show it as a batch."""
    return job_argument(table_options(finals_option(strict_option(command))))


def tell_beside(whys: Mapping[str, str]) -> None:
    """Report which statements run unchanged on plain Spark, and why they are not shared."""
    for name, why in whys.items():
        said = why.removeprefix(f"query {name!r}: ")
        click.echo(f"{name} runs as it is on plain Spark: {said}", err=True)


def tell_failed(errors: Mapping[str, str]) -> None:
    """Report which statements failed, and why."""
    for name, error in errors.items():
        said = error.removeprefix(f"query {name!r}: ")
        click.echo(f"query {name!r} failed: {said}", err=True)


def tell_refused(refused: tuple[str, ...]) -> None:
    """Report which statements are left out, and why."""
    for one in refused:
        click.echo(f"left out: {one}", err=True)
    if refused:
        many = "statement is" if len(refused) == 1 else "statements are"
        click.echo(f"{len(refused)} {many} left out (--strict stops at them)", err=True)


def read_job(
    ctx: click.Context,
    file: Path,
    *,
    strict: bool = True,
    finals: str | None = None,
    sources: tuple[str, ...] = (),
    format_: str | None = None,
    time: str | None = None,
    schema: str | None = None,
    options: tuple[str, ...] = (),
) -> Job:
    """The job of a job file, or of a file of queries and `--source`; `--finals` overrides it."""
    from weft.job import job_on_table, load_job

    if not sources:
        given = {"--format": format_, "--time": time, "--schema": schema, "--option": options}
        for name, value in given.items():
            if value:
                raise JobError(f"{name} needs --source; in a job file, set it there")
        job = load_job(file, strict=strict)
    else:
        job = job_on_table(
            file,
            _paths(sources),
            format=format_,
            time=time,
            schema=schema,
            options=_pairs(options),
            strict=strict,
        )
    if finals is not None:
        from weft.engine.finals.registry import check_name

        job = replace(job, plan={**job.plan, "finals": check_name(finals)})
    ctx.ensure_object(dict)["job"] = job
    return job


@contextmanager
def spark_for(ctx: click.Context, job: Job) -> Iterator[Any]:
    """The job's Spark session; on a terminal, with a note that starting it takes a moment."""
    from weft.spark.jobs import job_session

    if sys.stderr.isatty():
        click.echo("starting Spark ...", err=True)
    with job_session(job, debug=bool(ctx.obj.get("debug"))) as spark:
        yield spark


def _paths(sources: tuple[str, ...]) -> str | dict[str, str]:
    """The single path, or several by table."""
    found: dict[str, str] = {}
    for source in sources:
        name, equals, path = source.partition("=")
        named = bool(equals) and name.replace("_", "a").isalnum()
        if len(sources) > 1 and not named:
            raise JobError(f"--source {source!r}: with several, write each as TABLE=PATH")
        if name in found:
            raise JobError(f"--source {source!r}: table {name!r} has a path already")
        found[name if named else ""] = path if named else source
    return found.get("", found)


def _pairs(options: tuple[str, ...]) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for option in options:
        name, equals, value = option.partition("=")
        if not (name and equals):
            raise JobError(f"--option {option!r}: write NAME=VALUE")
        pairs[name] = value
    return pairs
