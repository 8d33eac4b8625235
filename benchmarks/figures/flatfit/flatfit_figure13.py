"""FlatFIT figure 13: slides per second with one range."""

from __future__ import annotations

import numpy as np

from benchmarks.support.draw import Picture
from benchmarks.support.harness import Claim, Rows, one
from benchmarks.support.structures import ONE, one_range

PICTURE = Picture("window", "slides_per_s", "structure", log="xy")


def run(full: bool) -> Rows:
    """Run MAX over doubles with full windows, and check every answer."""
    windows = [4**k for k in range(11)] if full else [1, 4, 8, 16, 64, 256, 4096, 65_536]
    most = 1 << 22 if full else 1 << 19
    return [
        {"window": row["one range of"], "structure": name, "slides_per_s": row[f"{name} M/s"] * 1e6}
        for row in one_range(np.random.default_rng(17), windows, most)
        for name in ONE
        if row[f"{name} M/s"] is not None
    ]


def claim(rows: Rows) -> Claim:
    """The speedup of FlatFIT over FlatFAT, and of the structure that auto picks over FlatFIT."""
    windows = sorted({row["window"] for row in rows})

    def over(fast: str, slow: str) -> list[float]:
        return [
            one(rows, window=n, structure=fast)["slides_per_s"]
            / one(rows, window=n, structure=slow)["slides_per_s"]
            for n in windows
        ]

    gain, auto = over("flatfit", "flatfat"), over("auto", "flatfit")
    return Claim(
        paper="FlatFIT 1.8x FlatFAT on average, 2.6x at most",
        ours=f"FlatFIT {np.mean(gain):.1f}x FlatFAT on average, {max(gain):.1f}x at most; auto up "
        f"to {max(auto):.1f}x FlatFIT",
        holds=max(gain) >= 2.6,
        ratio=max(gain) / 2.6,
    )
