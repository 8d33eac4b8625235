"""FlatFIT figure 10: operations per slide with every range, counted."""

from __future__ import annotations

from benchmarks.support.draw import Picture
from benchmarks.support.harness import Claim, Rows
from benchmarks.support.operations import EVERY, every_range, order

PICTURE = Picture("window", "operations", "structure", log="xy")


def run(full: bool) -> Rows:
    """Every structure with a counting MAX, its answers checked."""
    return every_range(full)


def claim(rows: Rows) -> Claim:
    """The order of the structures at the longest window."""
    return order(
        rows, EVERY, "operations", "n - 1 for FlatFIT, n log n for the trees, n^2 for Naive"
    )
