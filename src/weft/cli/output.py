"""Output of commands: tables, numbers and progress that fit the terminal."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console

_UNBOUNDED = 400


def console(*, stderr: bool = False) -> Console:
    """A console that uses colours only on a terminal, and not if NO_COLOR is set.

    Output to a file or a pipe is not cut to a width, unless COLUMNS is set.
    """
    from rich.console import Console

    screen = Console(stderr=stderr, highlight=False)
    if not screen.is_terminal and "COLUMNS" not in os.environ:
        screen.width = _UNBOUNDED
    return screen


def number(value: float) -> str:
    """A number in at most six significant digits, with thousands separated."""
    return f"{value:,.6g}"


def size(count: float) -> str:
    """Bytes in a suitable unit, with three digits.

    >>> [size(count) for count in (0, 999, 1_234, 56_789, 1_500_000, 2e12)]
    ['0 B', '999 B', '1.23 kB', '56.8 kB', '1.5 MB', '2 TB']
    """
    for unit in ("B", "kB", "MB", "GB"):
        if count < 999.5:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:,.3g} TB"


def echo_json(value: Any, *, indent: int | None = 2) -> None:
    """Print JSON; times in ISO form, and values without a JSON type as strings."""
    click.echo(json.dumps(value, indent=indent, default=_plain))


def table(rows: Sequence[Mapping[str, Any]], *, indent: int = 0) -> None:
    """Rows as a table that fits the terminal; numbers to the right."""
    from rich.padding import Padding
    from rich.table import Table

    if not rows:
        return
    shown = Table(box=None, header_style="bold", pad_edge=False)
    for name, value in rows[0].items():
        shown.add_column(name, justify="right" if _is_number(value) else "left")
    for row in rows:
        shown.add_row(*(cell(value) for value in row.values()))
    console().print(Padding(shown, (0, 0, 0, indent), expand=False))


def cell(value: Any) -> str:
    """A value for a table; a window as `start .. end`."""
    from rich.markup import escape

    if value is None:
        return "-"
    if isinstance(value, Mapping) and set(value) == {"start", "end"}:
        return f"{cell(value['start'])} .. {cell(value['end'])}"
    if isinstance(value, datetime):
        return str(value)
    if isinstance(value, float):
        return number(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return escape(str(value))


@contextmanager
def searching(*, enabled: bool) -> Iterator[Callable[[int, int, str], None] | None]:
    """A progress bar on standard error for a search, on a terminal only."""
    with progress("planning", enabled=enabled) as report:
        yield report


@contextmanager
def progress(what: str, *, enabled: bool) -> Iterator[Callable[[int, int, str], None] | None]:
    """A progress bar on standard error, on a terminal only: call it with done, total and what."""
    screen = console(stderr=True)
    if not (enabled and screen.is_terminal):
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=screen, transient=True) as bars:
        task = bars.add_task(what, total=None)

        def report(done: int, total: int, what: str) -> None:
            bars.update(task, completed=done, total=total, description=what)

        yield report


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, (date, datetime)) else str(value)
