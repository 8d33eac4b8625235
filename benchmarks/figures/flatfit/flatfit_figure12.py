"""FlatFIT figure 12: space of every structure, counted."""

from __future__ import annotations

from benchmarks.support.draw import Picture
from benchmarks.support.harness import Claim, Rows, one
from benchmarks.support.operations import ONE, single

PICTURE = Picture("window", "space", "structure", ylabel="values held")


def run(full: bool) -> Rows:
    """Measure windows that are powers of two, and just above those, where trees round up."""
    most = 1100 if full else 300
    sizes = sorted(
        {n for k in range(3, 11) for n in (2**k, 2**k + 1, 3 * 2 ** (k - 1)) if n < most}
    )
    return [single(name, n) for n in sizes for name in ONE]


def claim(rows: Rows) -> Claim:
    """FlatFIT holds 2n partials; trees hold up to 4n just above a power of two."""
    sizes = sorted({row["window"] for row in rows if row["window"] >= 32})
    over = [
        one(rows, window=n, structure="flatfat")["space"]
        / one(rows, window=n, structure="flatfit")["space"]
        for n in sizes
    ]
    return Claim(
        paper="FlatFIT 2n; trees 2n at powers of two, abruptly more above (up to 1.9x FlatFIT)",
        ours=f"FlatFAT {min(over):.2f}x to {max(over):.2f}x FlatFIT",
        holds=max(over) > 1.7 and min(over) <= 1.0,
        ratio=max(over) / 1.9,
        comment="two_stacks and daba hold n + 1 and n + 2",
    )
