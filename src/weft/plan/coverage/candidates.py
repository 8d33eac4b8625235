"""Candidates for factor windows: windows between an upstream window and its downstream windows."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import islice

import numpy as np

from weft.plan.coverage.divisors import multiples_dividing
from weft.plan.coverage.graph import piece_matrix
from weft.plan.coverage.relation import Instances, Semantics
from weft.query.table import Int64, WindowTable
from weft.query.window import Window

# Most ranges tried for one slide with `instances="fewest"`; if there are fewer, all are tried.
_RANGES = 96
# Most pairs of candidate and downstream window priced for one upstream: some milliseconds.
_PAIRS = 1 << 17


def candidates(
    upstream: Window | None,
    downstream: WindowTable,
    *,
    semantics: Semantics,
    instances: Instances,
) -> WindowTable:
    """The candidates between `upstream` (None: the raw stream) and all of `downstream`.

    Law: the upstream feeds each, each feeds all of downstream, and none equals one of them
    (FactorWindows figure 9 and section 4.2.1). Ranges that cannot be best are left out: if all
    instances are used, the cost is linear in the range, so only the smallest and the largest range
    matter; where pieces may not overlap, the best slide for a range is the largest. With the
    fewest, possibly overlapping pieces the slides and ranges are unbounded, so only some are tried.

    >>> thirds = WindowTable(range=[20, 30])
    >>> found = candidates(None, thirds, semantics="partitioned", instances="all")
    >>> found.range.tolist()
    [10, 5, 2, 1]
    """
    return with_pieces(upstream, downstream, semantics=semantics, instances=instances)[0]


def with_pieces(
    upstream: Window | None,
    downstream: WindowTable,
    *,
    semantics: Semantics,
    instances: Instances,
) -> tuple[WindowTable, Int64, Int64]:
    """The candidates, the pieces of each (column) in every downstream window (row), and the
    pieces of the upstream in each (nothing for the raw stream)."""
    propose = _covering if semantics == "covered" else _partitioning
    rows: list[tuple[int, int, int]] = []
    if len(downstream):
        phase = int(downstream.start[0])
        most = max(64, _PAIRS // len(downstream))
        # Largest first, so that the limit cuts off the small ones, which save least.
        proposed = islice(propose(upstream, downstream, instances), most)
        rows = [(range_, slide, phase % slide) for range_, slide in proposed]
    found = _table(rows, downstream)
    serves = piece_matrix(found, downstream, semantics, instances)
    keep = (serves > 0).all(axis=0)
    takes = np.zeros(len(found), dtype=np.int64)
    if upstream is not None:
        above = WindowTable.of_windows([upstream])
        takes = piece_matrix(above, found, semantics, instances)[:, 0]
        keep &= takes > 0
    chosen = np.flatnonzero(keep)
    return found.take(chosen), serves[:, chosen], takes[chosen]


def common_slide(windows: WindowTable) -> int:
    """The largest slide of a window that starts an instance wherever one of these windows does.

    >>> common_slide(WindowTable(range=[8, 8], slide=[12, 18], offset=[1, 3]))
    2
    """
    start = windows.start
    return math.gcd(_gcd(windows.slide), _gcd(start - start[0]))


def fewest_ranges(low: int, sizes: Int64) -> list[int]:
    """Numbers of slides k, from `low` to the least size, at which `ceil(size / k)` changes.

    All of them if there are few; else the ends, the first changes of every size near the least one,
    and the powers of two and three times those, so that one is within a factor 1.5 of the best k.

    >>> fewest_ranges(2, np.array([5, 7]))
    [5, 4, 3, 2]
    """
    high = int(sizes.min())
    if high - low < _RANGES:
        return list(range(high, low - 1, -1))
    found = {low, low + 1, high - 1, high}
    for size in np.unique(sizes)[:4].tolist():
        found.update(-(-size // pieces) for pieces in range(1, 9))
    rung = 1
    while rung <= high:
        found.update((rung, 3 * rung))
        rung *= 2
    return sorted((k for k in found if low <= k <= high), reverse=True)


def _covering(
    upstream: Window | None, downstream: WindowTable, instances: Instances
) -> Iterable[tuple[int, int]]:
    """Range and slide of windows that cover all of downstream, largest slide first."""
    shortest = int(downstream.range.min())
    slide_up, range_up = (upstream.slide, upstream.range) if upstream else (1, 1)
    widest = math.gcd(common_slide(downstream), _gcd(downstream.range - shortest))
    for slide in multiples_dividing(widest, slide_up):
        rest = shortest % slide
        low = max(1, -((rest - range_up) // slide))  # range >= slide: no gap between pieces
        high = shortest // slide
        if high < low:
            steps = []
        elif instances == "all":
            steps = sorted({low, min(low + 1, high), max(high - 1, low), high}, reverse=True)
        else:
            steps = fewest_ranges(low, downstream.range // slide)
        yield from ((rest + k * slide, slide) for k in steps)
        if rest == shortest:  # gaps do not matter if one piece is the whole instance
            yield shortest, slide


def _partitioning(
    upstream: Window | None, downstream: WindowTable, instances: Instances
) -> Iterable[tuple[int, int]]:
    """Range and slide of windows that partition all of downstream, largest first."""
    slide_up, range_up = (upstream.slide, upstream.range) if upstream else (1, 1)
    widest, longest = common_slide(downstream), _gcd(downstream.range)
    if bool((downstream.range == longest).all()):  # one piece is the whole instance
        yield from ((longest, slide) for slide in multiples_dividing(widest, slide_up))
    if instances == "all":
        ranges = multiples_dividing(math.gcd(widest, longest), range_up)
        yield from ((range_, range_) for range_ in ranges)
        return
    for range_ in multiples_dividing(longest, range_up):
        # The largest slide is best; the next one is for when that window is in downstream already.
        for slide in multiples_dividing(math.gcd(widest, range_), slide_up)[:2]:
            yield range_, slide


def _table(rows: Iterable[tuple[int, int, int]], like: WindowTable) -> WindowTable:
    """Distinct `(range, slide, phase)` rows as a table on the axis of `like`."""
    columns = np.array(list(dict.fromkeys(rows)), dtype=np.int64).reshape(-1, 3)
    return WindowTable(
        range=columns[:, 0], slide=columns[:, 1], offset=columns[:, 2], axis=like.axis
    )


def _gcd(values: Int64) -> int:
    return int(np.gcd.reduce(values))
