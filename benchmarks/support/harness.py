"""The interface of benchmarks, and their results: a CSV each, with form, commit and machine."""

from __future__ import annotations

import csv
import os
import platform
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from time import perf_counter
from types import ModuleType
from typing import Any, TypeAlias

from benchmarks import BENCHES

Row: TypeAlias = dict[str, Any]
Rows: TypeAlias = list[Row]

ROOT = Path(__file__).resolve().parent.parent.parent
RESULTS = ROOT / "benchmarks" / "results"
RUN_COLUMNS = ("form", "seconds_in_all", "commit", "machine")
"""The last columns of every CSV, which describe the whole run."""


class WrongAnswer(AssertionError):
    """A benchmark found an answer that is not the expected one."""


class CannotRun(RuntimeError):
    """A benchmark lacks something that it needs; the message says what."""


def check(right: bool, said: str) -> None:
    """Fail the benchmark unless an answer is right."""
    if not right:
        raise WrongAnswer(said)


@dataclass(frozen=True)
class Claim:
    """One row of the table: the paper's result, ours, and whether the claim holds."""

    paper: str
    ours: str
    holds: bool
    ratio: float | None = None
    """The ratio of our number to the paper's, if both are single numbers and more is better."""
    comment: str = ""
    also: tuple[str, ...] = ()
    """Further findings, a sentence each: shown after a run, but not in the table."""


@dataclass(frozen=True)
class Measured:
    """The outcome of a run of a benchmark."""

    rows: Rows
    seconds: float
    claim: Claim


@dataclass(frozen=True)
class Bench:
    """One of `BENCHES`: `run(full)` measures and checks, `claim(rows)` reads the rows.

    A row is a flat dict of JSON values, and rows may have different columns. A wrong answer ends
    the run (`check`); a missed target is a claim that does not hold. The first line of the module's
    docstring is the title in docs/papers.md; `PICTURE` says how to draw the rows, or is None.
    """

    name: str

    @property
    def module(self) -> ModuleType:
        return import_module(BENCHES[self.name])

    @property
    def folder(self) -> str:
        """The package of its module, such as `figures.f1`."""
        return ".".join(BENCHES[self.name].split(".")[1:-1])

    @property
    def headline(self) -> str:
        return (self.module.__doc__ or "").strip().splitlines()[0]

    @property
    def file(self) -> Path:
        return RESULTS / f"{self.name}.csv"

    def measure(self, full: bool) -> Measured:
        """Run it now, and store nothing."""
        began = perf_counter()
        rows = self.module.run(full)
        return Measured(rows, perf_counter() - began, self.module.claim(_filled(rows)))

    def rows(self) -> Rows:
        """The rows that its last run stored."""
        if not self.file.exists():
            raise CannotRun(f"{self.file.name} is not there: python -m benchmarks run {self.name}")
        return load(self.file)

    def claim(self) -> Claim:
        """The claim by the rows of its last run."""
        found = self.module.claim(self.rows())
        assert isinstance(found, Claim)
        return found


def machine() -> str:
    """A description of the machine without its name: processor, cores, memory, Python."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{platform.machine()}, {os.cpu_count()} cores, {memory:.0f} GiB, "
        f"{platform.system()}, Python {platform.python_version()}"
    )


def commit() -> str:
    """The commit that is checked out, with a plus if the code has been changed since."""

    def git(*words: str) -> str:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
        return done.stdout.strip()

    changed = git("status", "--porcelain", "--", "src", "benchmarks", ":!benchmarks/results")
    return (git("rev-parse", "--short=10", "HEAD") or "unknown") + ("+" if changed else "")


def save(path: Path, rows: Rows, *, full: bool, seconds: float) -> None:
    """Write rows with the union of their columns, in order of appearance."""
    form = "full" if full else "quick"
    values = (form, round(seconds, 1), commit(), machine())
    about = dict(zip(RUN_COLUMNS, values, strict=True))
    columns = list(dict.fromkeys(column for row in rows for column in row))
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [*columns, *RUN_COLUMNS], lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: _written(value) for name, value in (row | about).items()}
                         for row in rows)  # fmt: skip


def load(path: Path) -> Rows:
    """Read what `save` wrote, with numbers and Booleans converted back from text."""
    with path.open(newline="", encoding="utf-8") as file:
        return [{name: _read(text) for name, text in row.items()} for row in csv.DictReader(file)]


def _filled(rows: Rows) -> Rows:
    """The rows, all with all columns, as `load` returns them."""
    columns = dict.fromkeys(column for row in rows for column in row)
    return [columns | row for row in rows]


def noted(rows: Iterable[Row]) -> Rows:
    """Collect rows, printing each at once, so that a study of an hour shows its progress."""
    found: Rows = []
    for row in rows:
        shown = (f"{name}={value}" for name, value in row.items() if value is not None)
        print("  ", *shown, file=sys.stderr, flush=True)
        found.append(row)
    return found


def _written(value: Any) -> Any:
    return f"{value:.6g}" if isinstance(value, float) else value


def _read(text: str) -> Any:
    if text in ("", "True", "False"):
        return {"": None, "True": True, "False": False}[text]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def pick(rows: Sequence[Row], **wanted: Any) -> Rows:
    """The rows with these values."""
    return [row for row in rows if all(row.get(key) == value for key, value in wanted.items())]


def one(rows: Sequence[Row], **wanted: Any) -> Row:
    """The one row with these values."""
    found = pick(rows, **wanted)
    if len(found) != 1:
        raise CannotRun(f"{len(found)} rows have {wanted}; expected one")
    return found[0]
