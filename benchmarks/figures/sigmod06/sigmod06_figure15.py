"""SIGMOD'06 figure 15: shared and unshared on Spark, both differ, regular."""

from __future__ import annotations

from benchmarks.support.harness import Claim, Rows
from benchmarks.support.sharing import PICTURE as PICTURE
from benchmarks.support.sharing import measured, told


def run(full: bool) -> Rows:
    """Answers are compared with those of the plain queries, counts with those from the rows."""
    return measured("C", full)


def claim(rows: Rows) -> Claim:
    """How many times faster than the plain queries."""
    return told(rows, "31.2 s to 3.7 s, 8.5x", 8.5)
