"""What commands print with: tables, numbers and progress that fit the terminal."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def console(*, stderr: bool = False) -> Console:
    """A console that colours only on a terminal."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False)


@contextmanager
def errors_to(log: Path) -> Iterator[None]:
    """Standard error of processes that are started in the block goes to a file.

    For Spark's JVM and its workers, which report on themselves there; this process keeps its own.
    """
    kept = os.dup(2)
    with log.open("ab") as file:
        os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def number(value: float) -> str:
    """A number in at most six significant digits, with thousands separated."""
    return f"{value:,.6g}"


@contextmanager
def searching(*, enabled: bool) -> Iterator[Callable[[int, int, str], None] | None]:
    """A progress bar on standard error for a search, on a terminal only."""
    screen = console(stderr=True)
    if not (enabled and screen.is_terminal):
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=screen, transient=True) as bars:
        task = bars.add_task("planning", total=None)

        def report(done: int, total: int, what: str) -> None:
            bars.update(task, completed=done, total=total, description=what)

        yield report
