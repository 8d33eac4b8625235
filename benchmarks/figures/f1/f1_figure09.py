"""F1 figure 9: planning time over the input rate (experiment 3)."""

from __future__ import annotations

from benchmarks.support.experiments import measured, picture, told, with_done
from benchmarks.support.harness import Claim, Rows

PICTURE = picture("input rate")


def run(full: bool) -> Rows:
    """All methods must end with the same plan."""
    return with_done(measured(3, full))


def claim(rows: Rows) -> Claim:
    """F1 over Bit Set as in Table 2, and exact over F1."""
    return told(3, rows)
