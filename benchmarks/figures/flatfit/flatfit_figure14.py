"""FlatFIT figure 14: slides per second with every range from 1 to the window."""

from __future__ import annotations

import numpy as np

from benchmarks.support.draw import Picture
from benchmarks.support.harness import Claim, Rows, one
from benchmarks.support.structures import EVERY, every_range

PICTURE = Picture("window", "slides_per_s", "structure", log="xy")


def run(full: bool) -> Rows:
    """Run MAX over doubles, answer every range at every slide, and check every answer."""
    windows = [*(2**k for k in range(13)), 16_384] if full else [1, 4, 16, 64, 256, 1024, 4096]
    return [
        {
            "window": row["every range to"],
            "structure": name,
            "slides_per_s": row[f"{name} k/s"] * 1e3,
        }
        for row in every_range(np.random.default_rng(18), windows)
        for name in EVERY
    ]


def claim(rows: Rows) -> Claim:
    """FlatFIT's speedup over FlatFAT at the widest window, and that of auto's pick over FlatFIT."""
    most = max(row["window"] for row in rows)
    at = {name: one(rows, window=most, structure=name)["slides_per_s"] for name in EVERY}
    return Claim(
        paper="FlatFIT best from 2 on; Naive falls fastest",
        ours=f"at {most}: auto {at['auto'] / at['flatfit']:.1f}x FlatFIT, FlatFIT "
        f"{at['flatfit'] / at['flatfat']:.1f}x FlatFAT and {at['flatfit'] / at['naive']:,.0f}x "
        "Naive",
        holds=at["auto"] >= at["flatfit"] > at["flatfat"] > at["naive"],
    )
