"""What a benchmark returns."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import Any


@dataclass
class BenchReport:
    """Rows measured, what they say in a few lines, and which answers or targets were missed.

    A row is a flat dict of JSON values. `failures` are wrong answers: they end the run with exit
    code 1. A target that was missed is said in `summary`, with the figure.
    """

    rows: list[dict[str, Any]] = field(default_factory=list)
    summary: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def add(self, row: dict[str, Any]) -> None:
        """Keep a row, and show it at once: a study of an hour must not be silent until its end."""
        self.rows.append(row)
        shown = (f"{name}={value}" for name, value in row.items() if value is not None)
        print(" ".join(shown), file=sys.stderr, flush=True)
