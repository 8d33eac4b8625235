"""SIGMOD'06 table 2: final aggregations of panes and of pairs, by formula and counted."""

from __future__ import annotations

from math import ceil, gcd

import numpy as np

from benchmarks.support.counting import slices
from benchmarks.support.harness import Claim, Rows, check
from weft.query.window import Window

PICTURE = None


def run(full: bool) -> Rows:
    """Count the slices in random windows: panes as by the formula, pairs at most as many."""
    draw = np.random.default_rng(6)
    rows: Rows = []
    for _ in range(2_000 if full else 200):
        slide = int(draw.integers(2, 61))
        range_ = slide + int(draw.integers(0, 4 * slide))
        window = Window(range=range_, slide=slide)
        row = {"range": range_, "slide": slide}
        for pieces in ("panes", "pairs"):
            edges = slices([window], 0, 10 * range_, pieces)
            begin = -(-3 * range_ // slide) * slide
            row[f"counted_{pieces}"] = int(((edges >= begin) & (edges < begin + range_)).sum())
        row["formula_panes"] = range_ // gcd(range_, slide)
        row["formula_pairs"] = ceil(2 * range_ / slide) if range_ % slide else range_ // slide
        check(row["counted_panes"] == row["formula_panes"], f"panes of {window}: {row}")
        check(row["counted_pairs"] <= row["formula_pairs"], f"pairs of {window}: {row}")
        check(row["counted_pairs"] >= row["formula_pairs"] - 1, f"pairs of {window}: {row}")
        rows.append(row)
    return rows


def claim(rows: Rows) -> Claim:
    """Pairs never have more slices than panes."""
    fewer = np.mean([row["counted_panes"] / row["counted_pairs"] for row in rows])
    never = all(row["counted_pairs"] <= row["counted_panes"] for row in rows)
    return Claim(
        paper="panes r/g, pairs at most ceil(2r/s), never more than panes",
        ours=f"counted in {len(rows)} windows: the formulas hold; panes {fewer:.1f}x pairs",
        holds=never,
    )
