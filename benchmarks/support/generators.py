"""The paper's random window sets, seeded (FactorWindows section 5.2)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from weft.errors import PlanError
from weft.plan.coverage.relation import covers
from weft.query.window import Window

# How often a draw starts over if it cannot go on, because no window within the limits is covered.
_STARTS = 200


def random_windows(
    count: int, *, seed: int, slide_max: int = 50, overlap_max: int = 10, tumbling: bool = False
) -> tuple[Window, ...]:
    """RandomGen: distinct windows with slides from 2 to slide_max and ranges that are multiples.

    The range is a random multiple of the slide up to `overlap_max`, or the slide itself if all
    windows tumble (algorithm 5). The paper does not say which limits it used.

    >>> three = random_windows(3, seed=1, slide_max=9)
    >>> len(three), all(w.range % w.slide == 0 and 2 <= w.slide <= 9 for w in three)
    (3, True)
    """
    _check(count, slide_max, overlap_max)
    draw = _Draw(seed, slide_max, 1 if tumbling else overlap_max)
    return draw.grown(count, lambda chosen: draw.covered_by(()))


def chain_windows(
    count: int, *, seed: int, slide_max: int = 50, overlap_max: int = 10, tumbling: bool = False
) -> tuple[Window, ...]:
    """ChainGen: every window is covered by the one before it.

    >>> chain = chain_windows(4, seed=1)
    >>> all(covers(upper, lower) for upper, lower in zip(chain, chain[1:]))
    True
    """
    _check(count, slide_max, overlap_max)
    draw = _Draw(seed, slide_max, 1 if tumbling else overlap_max)

    def next_window(chosen: Sequence[Window]) -> Window | None:
        # Tumbling windows at least double along a chain: leave room for the later ones, which
        # random draws hardly ever do.
        to_come = count - 1 - len(chosen) if tumbling else 0
        return draw.covered_by(chosen[-1:], slide_max >> to_come)

    return draw.grown(count, next_window)


def star_windows(
    count: int, *, seed: int, slide_max: int = 50, overlap_max: int = 10, tumbling: bool = False
) -> tuple[Window, ...]:
    """StarGen: every window is covered by the first.

    >>> first, *others = star_windows(4, seed=1)
    >>> all(covers(first, window) for window in others)
    True
    """
    _check(count, slide_max, overlap_max)
    draw = _Draw(seed, slide_max, 1 if tumbling else overlap_max)
    return draw.grown(count, lambda chosen: draw.covered_by(chosen[:1]))


def graph_windows(
    base: int = 2,
    *,
    seed: int,
    levels: int = 3,
    growth: int = 2,
    edge_probability: float = 0.5,
    slide_max: int = 1000,
    overlap_max: int = 10,
    tumbling: bool = False,
) -> tuple[Window, ...]:
    """RandomGraphGen: levels of windows, each covered by some of the previous level (algorithm 6).

    The first level has `base` windows, and each further level has `growth` more: by default
    2 + 4 + 6, as in the paper. No window covers another one of its level. The limit of slides grows
    by the same factor from level to level and is `slide_max` for the last: with that limit already
    for the first, there would be no room for the later levels.

    >>> len(graph_windows(seed=1))
    12
    """
    _check(base, slide_max, overlap_max)
    for name, value, least in (("levels", levels, 1), ("growth", growth, 0)):
        if value < least:
            raise PlanError(f"{name}={value!r} must be at least {least}")
    if not 0.0 <= edge_probability <= 1.0:
        raise PlanError(f"edge_probability={edge_probability!r} must be from 0 to 1")
    draw = _Draw(seed, slide_max, 1 if tumbling else overlap_max)
    for _ in range(_STARTS):
        made = draw.levels([base + growth * level for level in range(levels)], edge_probability)
        if made is not None:
            return made
    raise PlanError(draw.stuck(f"levels={levels}, base={base}, growth={growth}"))


class _Draw:
    """A seeded source of windows within the limits."""

    def __init__(self, seed: int, slide_max: int, overlap_max: int) -> None:
        self.random = np.random.default_rng(seed)
        self.slide_max, self.overlap_max = slide_max, overlap_max

    def covered_by(self, upstream: Sequence[Window], slide_max: int | None = None) -> Window | None:
        """A window that all of `upstream` cover, if there is one within the limits.

        Without an upstream, this is algorithm 5. Otherwise it has the distribution of repeating
        algorithm 5 until a window is covered, without repeating: all covered pairs of slide and
        overlap are equally likely.
        """
        step = math.lcm(*(window.slide for window in upstream))
        longest = max((window.range for window in upstream), default=0)
        slides = np.arange(step, (slide_max or self.slide_max) + 1, step)
        slides = slides[slides >= 2]
        least = np.maximum(-(-longest // slides), 1)
        ways = np.maximum(self.overlap_max + 1 - least, 0)
        if not ways.sum():
            return None
        pick = int(self.random.integers(ways.sum()))
        row = int(np.searchsorted(np.cumsum(ways), pick, side="right"))
        overlap = int(least[row]) + pick - int(ways[:row].sum())
        return Window(range=int(slides[row]) * overlap, slide=int(slides[row]))

    def grown(
        self, count: int, draw: Callable[[Sequence[Window]], Window | None]
    ) -> tuple[Window, ...]:
        """Distinct windows, each drawn given the earlier ones."""
        for _ in range(_STARTS):
            chosen: dict[Window, None] = {}
            for _ in range(20 * count):
                window = draw(tuple(chosen))
                if window is None:
                    break
                chosen[window] = None
                if len(chosen) == count:
                    return tuple(chosen)
        raise PlanError(self.stuck(f"count={count}"))

    def levels(self, sizes: Sequence[int], probability: float) -> tuple[Window, ...] | None:
        """Levels of these sizes, or None if a level cannot be filled within the limits."""
        chosen: dict[Window, None] = {}
        above: tuple[Window, ...] = ()
        for depth, size in enumerate(sizes, start=1):
            level: dict[Window, None] = {}
            widest = round(self.slide_max ** (depth / len(sizes)))
            for _ in range(50 * size):
                window = self.covered_by(self.some_of(above, probability), widest)
                if window is None or window in chosen:
                    continue
                if any(covers(other, window) or covers(window, other) for other in level):
                    continue
                level[window] = None
                if len(level) == size:
                    break
            if len(level) < size:
                return None
            chosen.update(level)
            above = tuple(level)
        return tuple(chosen)

    def some_of(self, windows: Sequence[Window], probability: float) -> tuple[Window, ...]:
        """A random subset: each window with this probability, but at least one if there are any."""
        taken = tuple(w for w in windows if self.random.random() < probability)
        if windows and not taken:
            return (windows[int(self.random.integers(len(windows)))],)
        return taken

    def stuck(self, asked: str) -> str:
        return (
            f"{asked} does not fit within slide_max={self.slide_max} and "
            f"overlap_max={self.overlap_max}: raise one of them"
        )


def _check(count: int, slide_max: int, overlap_max: int) -> None:
    for name, value, least in (
        ("count", count, 1),
        ("slide_max", slide_max, 2),
        ("overlap_max", overlap_max, 1),
    ):
        if value < least:
            raise PlanError(f"{name}={value!r} must be at least {least}")
