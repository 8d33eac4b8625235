"""SIGMOD'06 figure 13: shared and unshared on Spark, windows differ."""

from __future__ import annotations

from benchmarks.support.harness import Claim, Rows
from benchmarks.support.sharing import PICTURE as PICTURE
from benchmarks.support.sharing import measured, told


def run(full: bool) -> Rows:
    """Answers are compared with those of the plain queries, counts with those from the rows."""
    return measured("A", full)


def claim(rows: Rows) -> Claim:
    """How many times faster than the plain queries."""
    return told(rows, "50.5 s to 2.6 s, 19x", 19.2)
