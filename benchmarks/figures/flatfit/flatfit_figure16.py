"""FlatFIT figure 16: bytes that a structure holds."""

from __future__ import annotations

import numpy as np

from benchmarks.support.draw import Picture
from benchmarks.support.harness import Claim, Rows, one
from benchmarks.support.structures import HELD, memory

PICTURE = Picture("window", "bytes", "structure", log="xy")


def run(full: bool) -> Rows:
    """Measure the arrays held for one range of doubles, also just above powers of two."""
    sizes = [8, 100, 1000, 1024, 1025, 1536, 2048, 2049, 65_536]
    return [
        {"window": row["memory of"], "structure": name, "bytes": row[f"{name} bytes"]}
        for row in memory([*sizes, 1_000_000, 1_048_577] if full else sizes)
        for name in HELD
    ]


def claim(rows: Rows) -> Claim:
    """The ratio of FlatFAT's bytes to FlatFIT's."""
    over = [
        one(rows, window=n, structure="flatfat")["bytes"]
        / one(rows, window=n, structure="flatfit")["bytes"]
        for n in sorted({row["window"] for row in rows})
    ]
    return Claim(
        paper="FlatFAT 1.4x FlatFIT on average, 1.9x at most",
        ours=f"{np.mean(over):.2f}x on average, {max(over):.2f}x at most",
        holds=max(over) >= 1.8,
        ratio=max(over) / 1.9,
    )
