"""SIGMOD'06 figure 16: shared and unshared on Spark, both differ, low sharing."""

from __future__ import annotations

from benchmarks.support.harness import Claim, Rows
from benchmarks.support.sharing import PICTURE as PICTURE
from benchmarks.support.sharing import measured, told


def run(full: bool) -> Rows:
    """Answers are compared with those of the plain queries, counts with those from the rows."""
    return measured("C_low", full)


def claim(rows: Rows) -> Claim:
    """How many times faster than the plain queries."""
    return told(rows, "34.6 s to 17.7 s, 2x", 1.95)
