"""The arithmetic of docs/sizing.md: what a large stream needs, from the measured costs of `scale`.

A micro-batch reads rows, merges shards (a group's partial aggregates of one slice), answers windows
and delivers the answers of their groups. Each has a cost in core-microseconds, that of a shard and
of an answer being one: where there are many of the one, there are many of the other. The costs are
solved from the ends of two curves of `scale`, over keys and over queries, and checked against the
points that were not used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from benchmarks.support.harness import ROOT, Bench, CannotRun, Row, Rows, pick

PAGE = ROOT / "docs" / "sizing.md"
CORES = 2
"""Of the machine on which `scale` runs its curves over keys and queries."""
SOLVED_FROM = ("stream: keys", "stream: queries")
HEADROOM = 2.0
"""Cores over those that are busy all the time: to catch up after a pause."""
MOST_OF_MEMORY = 0.25
"""How much of the workers' memory state may take; the rest is for rows, answers and Python."""


@dataclass(frozen=True)
class Load:
    """What a stream has to do, all of it per second but for what is held."""

    name: str
    rows: float
    keys: float
    queries: float
    groups: float
    """The groups that a query answers for in each window."""
    slice: float = 60.0
    range: float = 3600.0
    slide: float = 300.0
    """In seconds."""

    @property
    def shards(self) -> float:
        """Shards made per second: each key that is seen in a slice has one."""
        return min(self.rows, self.keys / self.slice)

    @property
    def held(self) -> float:
        """Shards held for the longest range."""
        return self.shards * (self.range + self.slice)

    @property
    def windows(self) -> float:
        """Windows answered per second."""
        return self.queries / self.slide

    @property
    def answers(self) -> float:
        """Answers delivered per second."""
        return self.windows * self.groups


LOADS = (
    Load("a team", rows=20_000, keys=10_000, queries=100, groups=1_000),
    Load("a company", rows=1_000_000, keys=1_000_000, queries=10_000, groups=1_000),
    Load("the largest", rows=10_000_000, keys=100_000_000, queries=100_000, groups=1_000),
)
"""Each with windows of up to an hour every five minutes, from slices of a minute."""


@dataclass(frozen=True)
class Costs:
    """Core-microseconds and bytes, as measured."""

    row: float
    group: float
    """Of a shard that is merged, or of an answer that is delivered."""
    window: float
    state: float
    """Bytes of state of a shard that is held."""
    shuffle: float
    """Bytes of shuffle of a shard that is made."""

    def seconds(self, row: Row) -> float:
        """The predicted time of a steady micro-batch of one point of `scale`."""
        return float(_work(row) @ np.array([self.row, self.group, self.window])) / 1e6 / CORES

    def cores(self, load: Load) -> float:
        """The cores that a load keeps busy."""
        groups = load.shards + load.answers
        return (load.rows * self.row + groups * self.group + load.windows * self.window) / 1e6


def steady(row: Row) -> float:
    """The mean time of a micro-batch of one point, without the start and the first one."""
    return float(row["seconds"] - row["start_s"] - row["first_s"]) / (row["batches"] - 1)


def _work(row: Row) -> npt.NDArray[np.float64]:
    """A micro-batch's rows, its shards and answers, and its windows, each of which has all keys."""
    answers = row["answers_in_all"] / (row["batches"] - 1)
    shards = row["shards_per_batch"]
    return np.array([row["rows"] / row["batches"], shards + answers, answers / row["keys"]])


def costs(rows: Rows) -> Costs:
    """The costs by which the ends of the curves are predicted best, relatively; none below zero."""
    used = [row for curve in SOLVED_FROM for row in _ends(pick(rows, curve=curve))]
    work = np.array([_work(row) / steady(row) for row in used])
    units = _least_squares(work, np.full(len(used), 1e6 * CORES))
    dense = used[1]  # the most keys
    return Costs(
        *units,
        state=dense["state_bytes"] / dense["held_shards"],
        shuffle=dense["shuffle_bytes"] / (dense["shards_per_batch"] * dense["batches"]),
    )


def _ends(rows: Rows) -> Rows:
    rows = [row for row in rows if not row.get("cannot")]
    if len(rows) < 2:
        raise CannotRun("docs/sizing.md needs a finished run: python -m benchmarks run scale")
    return [rows[0], rows[-1]]


def _least_squares(
    work: npt.NDArray[np.float64], wanted: npt.NDArray[np.float64]
) -> tuple[float, ...]:
    """Non-negative least squares: of few unknowns, every choice of those above zero is tried."""
    width = work.shape[1]
    best, found = np.inf, np.zeros(width)
    for chosen in range(1, 1 << width):
        some = [at for at in range(width) if chosen >> at & 1]
        part = np.linalg.lstsq(work[:, some], wanted, rcond=None)[0]
        error = float(np.sum((work[:, some] @ part - wanted) ** 2))
        if np.all(part >= 0) and error < best * (1 - 1e-9):
            best, found = error, np.zeros(width)
            found[some] = part
    return tuple(float(one) for one in found)


def page() -> str:
    """What stands between the markers of docs/sizing.md."""
    rows = Bench("scale").rows()
    found, about = costs(rows), rows[0]
    lines = [
        "",
        f"Measured by `python -m benchmarks run scale` ({about['form']} form, commit "
        f"{about['commit']}, {about['machine']}).",
        "",
        "### Constants",
        "",
        "| constant | value | from |",
        "|---|---|---|",
        f"| a row read | {found.row:.3g} core-µs | ends of the curves over keys and queries |",
        f"| a shard merged, or an answer delivered | {found.group:.3g} core-µs | the same |",
        f"| a window of a query answered | {found.window:.3g} core-µs | the same |",
        f"| a shard in state | {found.state:.3g} bytes | the curve over keys, most keys |",
        f"| a shard in the shuffle | {found.shuffle:.3g} bytes | the same |",
        "",
        "### Check",
        "",
        "A steady micro-batch, predicted from the constants and measured. Rows marked with a star "
        "were not used for the constants.",
        "",
        "| | keys | queries | rows | predicted | measured | ratio |",
        "|---|---|---|---|---|---|---|",
        *(_checked(row, rows, found) for row in _points(rows)),
        "",
        "### What a load needs",
        "",
        "| | " + " | ".join(load.name for load in LOADS) + " |",
        "|---" * (len(LOADS) + 1) + "|",
        *_needs(found),
        "",
    ]
    return "\n".join(lines)


def _points(rows: Rows) -> Rows:
    """The points with two cores: the used ones, those between them, and another curve's."""
    found = [row for curve in SOLVED_FROM for row in pick(rows, curve=curve)]
    found += pick(rows, curve="stream: cores", size=CORES)
    return [row for row in found if not row.get("cannot")]


def _checked(row: Row, rows: Rows, found: Costs) -> str:
    curve = pick(rows, curve=row["curve"])
    used = row["curve"] in SOLVED_FROM and row["size"] in (curve[0]["size"], curve[-1]["size"])
    predicted, measured = found.seconds(row), steady(row)
    return (
        f"| {row['curve']}{'' if used else ' *'} | {row['keys']:,} | {row['queries']:,} | "
        f"{row['rows'] // row['batches']:,} | {predicted:.2f} s | {measured:.2f} s | "
        f"{predicted / measured:.2f} |"
    )


def _needs(found: Costs) -> Sequence[str]:
    def line(what: str, *cells: str) -> str:
        return "| " + " | ".join((what, *cells)) + " |"

    busy = [found.cores(load) for load in LOADS]
    state = [load.held * found.state / 2**30 for load in LOADS]
    return (
        line("rows per second", *(f"{load.rows:,.0f}" for load in LOADS)),
        line("keys", *(f"{load.keys:,.0f}" for load in LOADS)),
        line("queries", *(f"{load.queries:,.0f}" for load in LOADS)),
        line("groups in a window of a query", *(f"{load.groups:,.0f}" for load in LOADS)),
        line("shards per second", *(f"{load.shards:,.0f}" for load in LOADS)),
        line("windows per second", *(_figure(load.windows) for load in LOADS)),
        line("answers per second", *(f"{load.answers:,.0f}" for load in LOADS)),
        line("cores busy", *(_figure(one) for one in busy)),
        line("**cores to have**", *(f"**{max(1, round(HEADROOM * one)):,}**" for one in busy)),
        line("state", *(f"{_figure(one)} GiB" for one in state)),
        line("**memory for workers**", *(f"**{_figure(s / MOST_OF_MEMORY)} GiB**" for s in state)),
        line("shuffle per second",
             *(f"{_figure(load.shards * found.shuffle / 2**20)} MiB" for load in LOADS)),
    )  # fmt: skip


def _figure(number: float) -> str:
    """Two digits, and no more.

    >>> [_figure(n) for n in (0.0123, 1.26, 12.6, 1234.0)]
    ['0.012', '1.3', '13', '1,234']
    """
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"
