"""The right answers, computed with NumPy from cells of half a minute, and comparisons with them.

rows -> per cell and key: count, sum, max -> per window and key: the same over its cells
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.peers.workload import CELL, KEYS
from benchmarks.support.harness import check

MICROS = 1_000_000
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Cells:
    """Count, sum and max by cell and key, and the first cell's number, counted from the epoch."""

    first: int
    n: Ints
    total: Ints
    hi: Ints

    def window(self, range_: int, slide: int) -> dict[str, Ints]:
        """The answers of a query in order of start and key; groups without rows have none."""
        cells, step = range_ // CELL, slide // CELL
        last = self.first + len(self.n)
        starts = np.arange(-(-(self.first - cells + 1) // step) * step, last, step)
        low = np.clip(starts - self.first, 0, len(self.n))
        high = np.clip(starts + cells - self.first, 0, len(self.n))
        n, total = (_sums(column, low, high) for column in (self.n, self.total))
        hi = np.stack([self.hi[a:b].max(axis=0) for a, b in zip(low, high, strict=True)])
        window, key = np.nonzero(n)
        start = starts[window] * CELL * MICROS
        return {"start": start, "k": key, "n": n[window, key],
                "total": total[window, key], "hi": hi[window, key]}  # fmt: skip


def cells(table: pa.Table) -> Cells:
    """The cells of some rows."""
    cell = table["ts"].cast(pa.int64()).to_numpy() // (CELL * MICROS)
    first = int(cell.min())
    shape = (int(cell.max()) - first + 1, KEYS)
    at, v = (cell - first) * KEYS + table["k"].to_numpy(), table["v"].to_numpy()
    n, total, hi = (np.zeros(shape[0] * KEYS, dtype=np.int64) for _ in range(3))
    n += np.bincount(at, minlength=len(n))
    # Exact, because values are small integers and a cell's sum is far below 2**53.
    total += np.bincount(at, weights=v, minlength=len(n)).astype(np.int64)
    np.maximum.at(hi, at, v)
    return Cells(first, *(column.reshape(shape) for column in (n, total, hi)))


def compare(
    found: pa.Table, held: Cells, windows: tuple[tuple[int, int], ...], closed: float, what: str
) -> int:
    """Check that answers are right, complete and not repeated; return how many there are.

    An engine that answers a window when the watermark passes its end must have answered all windows
    that end by `closed` (seconds since the epoch), and may have answered more.
    """
    order = pc.sort_indices(found, [("q", "ascending"), ("start", "ascending"), ("k", "ascending")])
    columns = {
        name: found[name].take(order).to_numpy().astype(np.int64)
        for name in ("q", "start", "k", "n", "total", "hi")
    } | {"mean": found["mean"].take(order).to_numpy()}
    places = np.searchsorted(columns["q"], np.arange(len(windows) + 1))
    check(places[-1] == len(order), f"{what}: answers of a query that nobody asked")
    for q, (range_, slide) in enumerate(windows):
        said = f"{what}, query {q} ({range_} s by {slide} s)"
        mine = {name: column[places[q] : places[q + 1]] for name, column in columns.items()}
        right = held.window(range_, slide)
        ours, theirs = (one["start"] // MICROS * KEYS + one["k"] for one in (mine, right))
        check(bool((np.diff(ours) > 0).all()), f"{said}: an answer came twice")
        at = np.searchsorted(theirs, ours)
        known = bool((at < len(theirs)).all()) and bool((theirs[at] == ours).all())
        check(known, f"{said}: a window that has no rows")
        for name in ("n", "total", "hi"):
            wrong = int((mine[name] != right[name][at]).sum())
            check(wrong == 0, f"{said}: {wrong} of {len(ours)} values of {name} are wrong")
        close = np.isclose(mine["mean"], mine["total"] / mine["n"], 1e-9, 0.0)
        check(bool(close.all()), f"{said}: a mean is wrong")
        due = int((right["start"] // MICROS + range_ <= closed).sum())
        got = int((mine["start"] // MICROS + range_ <= closed).sum())
        check(got == due, f"{said}: {got} answers of windows that are closed, expected {due}")
    return len(order)


def _sums(column: Ints, low: Ints, high: Ints) -> Ints:
    running = np.concatenate([np.zeros((1, column.shape[1]), np.int64), column.cumsum(axis=0)])
    return np.asarray(running[high] - running[low])
