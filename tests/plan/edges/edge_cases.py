"""Code that the edge-rate tests share: an oracle by definition, and sets to test."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from weft.plan.edges import Progressions
from weft.plan.edges.bitset import composite_slide
from weft.query.table import WindowTable
from weft.query.window import Window

SMOOTH = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 15, 16, 18, 20, 21, 24, 28, 30, 36, 40, 42, 48, 60)
"""Steps with a small common multiple (5040) and much in common."""


def ended(range: int, slide: int) -> Window:
    """A window as in the papers: its ends, not its starts, are multiples of the slide."""
    return Window(range=range, slide=slide, offset=-range)


def edges_of(windows: list[Window]) -> tuple[int, list[int]]:
    """The common period and every edge in (0, period], from the definition of a window."""
    period = math.lcm(*(w.slide for w in windows))
    found = set()
    for w in windows:
        for k in range(period // w.slide):
            start = w.offset + k * w.slide
            found |= {start % period or period, (start + w.range) % period or period}
    return period, sorted(found)


def true_rate(windows: list[Window]) -> Fraction:
    """Edges per tick, counted one by one."""
    period, edges = edges_of(windows)
    return Fraction(len(edges), period)


def covered(offset: np.ndarray, step: np.ndarray) -> Fraction:
    """The share of ticks that some progression meets, counted one by one."""
    period = math.lcm(*(int(s) for s in step))
    met = np.zeros(period, bool)
    for a, s in zip(offset, step, strict=True):
        met[int(a) % int(s) :: int(s)] = True
    return Fraction(int(met.sum()), period)


def random_sets(count: int, most: int, seed: int = 0):
    """Random progressions with steps that have much in common; offsets may be negative."""
    chance = np.random.default_rng(seed)
    for _ in range(count):
        n = int(chance.integers(1, most + 1))
        yield chance.integers(-100, 100, n), chance.choice(SMOOTH, n).astype(np.int64)


def random_windows(
    n: int, longest: int, seed: int = 0, *, shortest: int | None = None, offsets: bool = False
) -> WindowTable:
    """Windows as F1's generator draws them: ranges of 1 to 10 slides, with fractional parts."""
    chance = np.random.default_rng(seed)
    slide = chance.integers(longest // 4 if shortest is None else shortest, longest + 1, n)
    range_ = (slide * chance.uniform(1, 10, n)).astype(np.int64)
    offset = chance.integers(0, slide) if offsets else np.zeros(n, np.int64)
    return WindowTable(range=range_, slide=slide, offset=offset)


windows = st.builds(
    lambda range, slide, offset: Window(range=range, slide=slide, offset=offset),
    st.integers(1, 80),
    st.sampled_from(SMOOTH),
    st.integers(-50, 50),
)
window_sets = st.lists(windows, min_size=1, max_size=7)


def composite_edges(edges: Progressions) -> list[int]:
    """Every edge of one composite slide, in order, as instants from 1 to the slide itself."""
    period = composite_slide(edges)
    steps = list(zip(edges.offset.tolist(), edges.step.tolist(), strict=True))
    ticks = (x for x in range(period) if any((x - offset) % step == 0 for offset, step in steps))
    return sorted(edges.origin + edges.unit * x or edges.unit * period for x in ticks)
