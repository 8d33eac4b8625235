"""Draw the pictures of the documentation anew: `python scripts/drawings.py [folder]`."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import weft
from weft.plot import cost_curve, coverage_graph, plan_timeline

SECOND = 1_000_000


def awkward_windows(count: int) -> weft.WindowTable:
    """Windows with slides of any number of seconds, and some ranges that they do not divide."""
    random = np.random.default_rng(0)
    slide = random.integers(60, 900, count)
    extra = random.integers(0, 2, count) * random.integers(1, 60, count)
    range_ = slide * random.integers(1, 5, count) + extra
    return weft.WindowTable(range=range_ * SECOND, slide=slide * SECOND, axis="time")


def draw(folder: Path) -> list[Path]:
    """Write every picture; return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    names = ("timeline", "apart", "cost", "loses", "coverage")
    paths = {name: folder / f"{name}.svg" for name in names}
    asked = {
        "big_trades": ("12 minutes", "5 minutes"),
        "quarter_hour": ("15 minutes", "5 minutes"),
        "hourly_high": ("1 hour", "10 minutes"),
    }
    queries = [
        weft.Query(name, aggs={"high": "max(price)"}, window=weft.Window(range=r, slide=s))
        for name, (r, s) in asked.items()
    ]
    shared = weft.optimize(queries, rate=375.0, strategy="weave")
    plan_timeline(shared, length="45 minutes", save=paths["timeline"])
    alone = weft.optimize(queries, rate=375.0, strategy="no_share")
    plan_timeline(alone, tree=3, length="80 minutes", save=paths["apart"])
    many = awkward_windows(128)
    cost_curve(many, rate=1000.0, save=paths["cost"])
    cost_curve(many, rate=0.1, save=paths["loses"])
    tens = [weft.Window(range=f"{minutes} minutes") for minutes in (20, 30, 40)]
    coverage_graph(weft.optimize(tens, rate=1.0, strategy="factor"), save=paths["coverage"])
    return list(paths.values())


if __name__ == "__main__":
    default = Path(__file__).parent.parent / "docs" / "img"
    for path in draw(Path(sys.argv[1]) if len(sys.argv) > 1 else default):
        print(path)
