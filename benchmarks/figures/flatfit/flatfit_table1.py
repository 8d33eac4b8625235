"""FlatFIT table 1: operations per slide and space, the formulas against the count."""

from __future__ import annotations

from math import ceil, log2

from benchmarks.support.harness import Claim, Rows, check, pick
from benchmarks.support.operations import every, single

PICTURE = None
SINGLE = {"naive": lambda n: n - 1, "flatfat": log2, "bint": log2, "flatfit": lambda n: 3}
MULTI = {
    "naive": lambda n: n * n / 2 - n / 2,
    "flatfat": lambda n: n * log2(n),
    "bint": lambda n: n * log2(n),
    "flatfit": lambda n: n - 1,
}
SPACE = {
    "naive": lambda n: n,
    "flatfat": lambda n: 2 ** (ceil(log2(n)) + 1),
    "bint": lambda n: 2 ** (ceil(log2(n)) + 1),
    "flatfit": lambda n: 2 * n + 2,
}


def run(full: bool) -> Rows:
    """Count over windows of 8 to 64 slices (to 256 in the full form), and check every answer."""
    rows: Rows = []
    for n in (8, 16, 32, 64, *((128, 256) if full else ())):
        for name in SINGLE:
            one, many = single(name, n), every(name, n)
            row = {
                "window": n,
                "structure": name,
                "single": one["operations"],
                "single_formula": SINGLE[name](n),
                "multi": many["operations"],
                "multi_formula": MULTI[name](n),
                "space": one["space"],
                "space_formula": SPACE[name](n),
            }
            bound = 2 if name == "bint" else 1
            check(row["single"] <= bound * row["single_formula"] + 1e-9, f"one range: {row}")
            check(row["multi"] <= row["multi_formula"] + 1e-9, f"every range: {row}")
            check(row["space"] <= row["space_formula"], f"space: {row}")
            rows.append(row)
    return rows


def claim(rows: Rows) -> Claim:
    """FlatFIT takes 3 operations with one range, and n - 1 with every range."""
    last = pick(rows, structure="flatfit")[-1]
    return Claim(
        paper="one range n-1, log n, log n, 3; every range n(n-1)/2, n log n, n log n, n-1; space "
        "n, 2n to 4n, 2n to 4n, 2n",
        ours=f"counted: within all of them; FlatFIT at {last['window']}: {last['single']:.3g} and "
        f"{last['multi']:g}, space {last['space']}",
        holds=last["single"] <= 3 and last["multi"] == last["window"] - 1,
        ratio=3 / last["single"],
        comment="B-Int with one range takes up to twice log n: it updates and looks up",
    )
