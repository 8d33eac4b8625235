"""Peers, batch: 1, 16 and 256 sliding windows by key in weft, plain Spark, DuckDB and Polars."""

from __future__ import annotations

from benchmarks.peers.sweep import FULL, QUICK, rivals, seconds, sweep, told
from benchmarks.support.draw import Picture
from benchmarks.support.harness import Claim, Rows, noted

PICTURE = Picture("queries", "seconds", "engine", log="xy")
ENGINES = ("weft", "spark", "duckdb", "duckdb_cells", "polars")


def run(full: bool) -> Rows:
    """Run each as its users would write it, on rows in memory; repeat short first runs warm."""
    return noted(sweep("batch", ENGINES, FULL if full else QUICK))


def claim(rows: Rows) -> Claim:
    """The target: with 256 queries, no other engine answers sooner."""
    weft = seconds(rows, "weft", 256)
    best = min(seconds(rows, engine, 256) for engine in rivals(rows))
    return Claim(
        paper="none",
        ours=told(rows, 256),
        holds=weft < best,
        ratio=best / weft if max(best, weft) < float("inf") else None,
        comment=f"{rows[0]['rows']:,} rows, 100 keys, every answer compared; planning is in the "
        "time, the start of engines is not; duckdb_cells is a bound; ratio: the fastest other "
        "engine, query by query, over weft",
        also=(told(rows, 1), told(rows, 16)),
    )
