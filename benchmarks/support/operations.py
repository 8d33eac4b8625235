"""FlatFIT's Table 1: operations per slide and space of every structure, counted."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.support.harness import Claim, Row, Rows, check, one
from weft.algebra.extremes import MAX
from weft.engine.finals import Counting, Final, make

ONE = ("naive", "flatfat", "bint", "flatfit", "two_stacks", "daba")
EVERY = ("naive", "flatfat", "bint", "flatfit", "shift")
OPERATIONS = 100_000_000
"""N in figures 9 and 11: operations that a machine performs per second."""


def counted(name: str, window: int, ranges: Sequence[int], slides: int) -> tuple[float, Final]:
    """Count operations per slide once the window is full, and check every answer."""
    counting = Counting(MAX)
    final = make(name, counting, capacity=window)
    values = [number * 7919 % 1009 for number in range(window + slides)]
    spent = 0
    for at, value in enumerate(values):
        before = counting.operations
        final.evict(max(final.first, final.end + 1 - window))
        final.insert((value,))
        for count in ranges if at >= window else ranges[:1]:
            (answer,) = final.answer(max(final.first, final.end - count))
            if at >= window and count in (ranges[0], ranges[-1]):
                low = at + 1 - count
                check(answer == max(values[low : at + 1]), f"{name}: wrong answer at {window}")
        if at >= window:
            spent += counting.operations - before
    return spent / slides, final


def single(name: str, window: int) -> Row:
    """Count with one range, over whole periods of FlatFIT."""
    slides = 2 * (window + 1)
    spent, final = counted(name, window, [window], slides)
    return _row(name, window, spent, final)


def every(name: str, window: int) -> Row:
    """Count with all ranges from the window down to 1; with constant costs, few slides suffice."""
    slides = 8 if name in ("naive", "shift") else window + 1
    spent, final = counted(name, window, range(window, 0, -1), slides)
    return _row(name, window, spent, final)


def _row(name: str, window: int, spent: float, final: Final) -> Row:
    return {
        "window": window,
        "structure": name,
        "operations": spent,
        "throughput": OPERATIONS / spent if spent else None,
        "space": final.space(),
    }


def one_range(full: bool) -> Rows:
    """Count every structure with one range, for every window."""
    sizes = (2, 4, 8, 16, 32, 64, 128, 256, *((512, 1024) if full else ()))
    return [single(name, n) for n in sizes for name in ONE]


def every_range(full: bool) -> Rows:
    """Count every structure with every range, for every window."""
    sizes = (2, 4, 8, 16, 32, 64, *((128, 256) if full else ()))
    return [every(name, n) for n in sizes for name in EVERY]


def order(rows: Rows, names: Sequence[str], column: str, paper: str) -> Claim:
    """The order of the structures at the longest window, by operations or by throughput."""
    most = max(row["window"] for row in rows)
    at = {name: one(rows, window=most, structure=name)[column] for name in names}
    ranked = [at[name] for name in ("flatfit", "flatfat", "naive")]
    fit, fat, naive = ranked if column == "operations" else [-value for value in ranked]
    return Claim(
        paper=paper,
        ours=f"at {most}: " + ", ".join(f"{name} {value:,.3g}" for name, value in at.items()),
        holds=fit < fat < naive,
    )
