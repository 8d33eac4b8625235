"""F1 figure 10: planning time over the skew of the slides (experiment 4)."""

from __future__ import annotations

from benchmarks.support.experiments import measured, picture, told, with_done
from benchmarks.support.harness import Claim, Rows

PICTURE = picture("skew of the slides")


def run(full: bool) -> Rows:
    """All methods must end with the same plan."""
    return with_done(measured(4, full))


def claim(rows: Rows) -> Claim:
    """F1 over Bit Set as in Table 2, and exact over F1."""
    return told(4, rows)
