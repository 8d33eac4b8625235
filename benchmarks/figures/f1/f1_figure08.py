"""F1 figure 8: planning time over the longest slide (experiment 2)."""

from __future__ import annotations

from benchmarks.support.experiments import measured, picture, told, with_done
from benchmarks.support.harness import Claim, Rows

PICTURE = picture("longest slide")


def run(full: bool) -> Rows:
    """All methods must end with the same plan."""
    return with_done(measured(2, full))


def claim(rows: Rows) -> Claim:
    """F1 over Bit Set as in Table 2, and exact over F1."""
    return told(2, rows)
