"""Beyond the papers: how time grows with the number of rows, on Spark."""

from __future__ import annotations

from benchmarks.studies.growth import asked, point, told
from benchmarks.support.draw import Picture
from benchmarks.support.harness import Claim, Rows

PICTURE = Picture("rows", ("seconds", "plan_s", "plain_s"), log="xy", ylabel="seconds")


def run(full: bool) -> Rows:
    """Answers of a few queries are compared with the plain ones."""
    sizes = (50_000, 200_000, 800_000, *((3_200_000, 12_800_000) if full else ()))
    return [point(n, 100, asked(20, 100)) for n in sizes]


def claim(rows: Rows) -> Claim:
    """Time at the end over time at the beginning."""
    return told(rows, "rows")
