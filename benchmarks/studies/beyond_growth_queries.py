"""Beyond the papers: how time grows with the number of queries, on Spark."""

from __future__ import annotations

from benchmarks.studies.growth import asked, point, told
from benchmarks.support.draw import Picture
from benchmarks.support.harness import Claim, Rows

PICTURE = Picture("queries", ("seconds", "plan_s", "plain_s"), log="xy", ylabel="seconds")


def run(full: bool) -> Rows:
    """Answers of a few queries are compared with the plain ones."""
    sizes = (1, 10, 100, 1_000, *((10_000,) if full else ()))
    return [point(100_000, 1, asked(n, 1)) for n in sizes]


def claim(rows: Rows) -> Claim:
    """Time at the end over time at the beginning."""
    return told(rows, "queries")
