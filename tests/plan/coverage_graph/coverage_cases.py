"""Small random windows, and the definitions of coverage applied to actual intervals."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from hypothesis import strategies as st

from weft.plan.coverage import CoveragePlan
from weft.plan.coverage.cost import cost_rate
from weft.query.window import Window

MODES = [
    (semantics, instances)
    for semantics in ("covered", "partitioned")
    for instances in ("fewest", "all")
]


@st.composite
def windows(draw: st.DrawFn, most: int = 12, longest: int = 24, tumbling: bool = False) -> Window:
    """A window of small numbers, with an offset, and with gaps if the slide exceeds the range."""
    slide = draw(st.integers(1, most))
    length = slide if tumbling else draw(st.integers(1, longest))
    return Window(range=length, slide=slide, offset=draw(st.integers(-slide, slide)))


@st.composite
def related_pairs(draw: st.DrawFn) -> tuple[Window, Window]:
    """An upstream and a window that are likely, but not certain, to be related."""
    upstream = draw(windows(most=6, longest=12))
    slide = upstream.slide * draw(st.integers(1, 4))
    multiple = draw(st.integers(0, 6))
    length = draw(
        st.sampled_from(
            (
                upstream.range + multiple * upstream.slide,
                upstream.range * (multiple + 1),
                upstream.range + multiple,
            )
        )
    )
    offset = upstream.offset + upstream.slide * draw(st.integers(0, 3)) + draw(st.integers(0, 1))
    return upstream, Window(range=length, slide=slide, offset=offset)


def window_sets(
    most: int = 12, longest: int = 24, sizes: tuple[int, int] = (1, 6), tumbling: bool = False
) -> st.SearchStrategy[list[Window]]:
    """A few distinct windows."""
    return st.lists(
        windows(most, longest, tumbling), min_size=sizes[0], max_size=sizes[1], unique=True
    )


def instances_of(window: Window, low: int, high: int) -> Iterator[tuple[int, int]]:
    """The instances `[start, end)` of a window that lie in `[low, high)`."""
    first = low + (window.phase - low) % window.slide
    for start in range(first, high - window.range + 1, window.slide):
        yield start, start + window.range


def different_instances(upstream: Window, window: Window) -> Iterator[tuple[int, int]]:
    """Instances of `window` at every position that they can have relative to `upstream`'s."""
    period = math.lcm(upstream.slide, window.slide)
    yield from instances_of(window, 0, period + window.range)


def fewest_covering(inside: list[tuple[int, int]], start: int, end: int) -> float:
    """The least number of intervals with union `[start, end)`; infinite if there is none."""
    # reached[x]: the least number of intervals, in order, with union [start, x).
    reached = {start: 0.0}
    for left, right in sorted(inside):
        before = [n for x, n in reached.items() if left <= x < right]
        if before:
            reached[right] = min(reached.get(right, math.inf), 1 + min(before))
    return reached.get(end, math.inf)


def fewest_partitioning(inside: list[tuple[int, int]], start: int, end: int) -> float:
    """The least number of disjoint intervals with union `[start, end)`; infinite if none."""
    reached = {start: 0.0}
    for left, right in sorted(inside):
        if left in reached:
            reached[right] = min(reached.get(right, math.inf), reached[left] + 1)
    return reached.get(end, math.inf)


def pieces_by_definition(upstream: Window, window: Window, semantics: str, instances: str) -> float:
    """How many upstream instances make up one of `window`; infinite if they cannot."""
    worst = 0.0
    for start, end in different_instances(upstream, window):
        inside = list(instances_of(upstream, start, end))
        if instances == "fewest":
            count = {"covered": fewest_covering, "partitioned": fewest_partitioning}[semantics]
            worst = max(worst, count(inside, start, end))
            continue
        instants = [instant for piece in inside for instant in range(*piece)]
        whole = set(instants) == set(range(start, end))
        disjoint = len(instants) == len(set(instants))
        fits = whole and (disjoint or semantics == "covered")
        worst = max(worst, len(inside) if fits else math.inf)
    return worst


def exact_cost(plan: CoveragePlan) -> Fraction:
    """A plan's cost as a rational number, without rounding."""
    pieces = zip(plan.windows, plan.pieces, strict=True)
    return sum((cost_rate(window, piece, plan.rate) for window, piece in pieces), Fraction(0))
