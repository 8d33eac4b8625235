"""FlatFIT figure 8: operations per slide with one range, counted."""

from __future__ import annotations

from benchmarks.support.draw import Picture
from benchmarks.support.harness import Claim, Rows
from benchmarks.support.operations import ONE, one_range, order

PICTURE = Picture("window", "operations", "structure", log="xy")


def run(full: bool) -> Rows:
    """Every structure with a counting MAX, its answers checked."""
    return one_range(full)


def claim(rows: Rows) -> Claim:
    """The order of the structures at the longest window."""
    return order(
        rows, ONE, "operations", "constant for FlatFIT, log n for FlatFAT and B-Int, n for Naive"
    )
