"""Greedy search for factor windows, each for any subset of the windows; most savings first."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from weft.plan.coverage.candidates import fewest_ranges
from weft.plan.coverage.divisors import multiples_dividing
from weft.plan.coverage.forest import Forest
from weft.query.table import Int64, WindowTable

# A factor window is one more window to run, so it has to save at least this share of the cost.
_WORTH = 1e-3
# Windows whose pairs are compared, costliest first; and common grids kept, most frequent first.
_WINDOWS = 256
_GRIDS = 384
# Pairs of candidate and window priced at the start of a round: about a second.
_PAIRS = 1 << 23
_ROUNDS = 8


@dataclass(frozen=True)
class GreedyReport:
    """What the greedy search did and why it stopped."""

    rounds: int
    evaluations: int
    stop: str


def improve(forest: Forest) -> GreedyReport:
    """Add and drop factor windows while that lowers the cost.

    Algorithm 2 looks for one factor window for everything that an upstream feeds, and finds none
    if those windows have little in common. Here the candidates come from pairs of windows, each
    is judged by what it would save over all windows, and the best one is added as long as it saves
    a thousandth of the cost. The next round treats factor windows like other windows, so that they
    can get factor windows as upstreams too. Law: the cost never rises.

    >>> tens = WindowTable(range=[20, 30, 7, 11])
    >>> forest = Forest(tens, rate=100.0, semantics="partitioned")
    >>> report = improve(forest)
    >>> sorted(window.range for window in forest.factors())
    [1, 10]
    """
    rounds = evaluations = 0
    while rounds < _ROUNDS:
        rounds += 1
        before = forest.cost
        evaluations += _one_round(forest)
        forest.prune()
        if forest.cost >= before * (1.0 - _WORTH):
            return GreedyReport(rounds, evaluations, "no candidate saves a thousandth")
    return GreedyReport(rounds, evaluations, f"{_ROUNDS} rounds")


def _one_round(forest: Forest) -> int:
    """Price the candidates and add the best until none is worth it; return how many prices."""
    found = _new_to(forest, proposals(forest))
    if not len(found):
        return 0
    saved = forest.benefits(found)
    evaluations = len(found)
    queue = [(-float(gain), row) for row, gain in enumerate(saved) if gain > 0]
    heapq.heapify(queue)
    total = forest.cost
    while queue and -queue[0][0] > _WORTH * total:
        _, row = heapq.heappop(queue)
        one = found.take(np.array([row]))
        gain = float(forest.benefits(one)[0])  # what it saves now that others were added
        evaluations += 1
        if gain <= _WORTH * total:
            continue
        if queue and gain < -queue[0][0]:
            heapq.heappush(queue, (-gain, row))
            continue
        forest.add(one)
        total = forest.cost
    return evaluations


def proposals(forest: Forest) -> WindowTable:
    """Candidates derived from pairs of the windows present: windows that feed both."""
    nodes = forest.nodes()
    rates = forest.choices.cost[nodes] / forest.table.slide[nodes]
    dearest = nodes[np.argsort(-rates, kind="stable")[:_WINDOWS]]
    some = forest.table.take(dearest)
    grids = _grids(some, forest.semantics == "partitioned")
    most = max(1, _PAIRS // max(1, len(nodes)) // max(1, len(grids)))
    rows: list[tuple[int, int, int]] = []
    for slide, phase, rest in grids.tolist():
        if forest.semantics == "partitioned":
            # Here `rest` is the gcd of the two ranges, which the candidate's range must divide.
            ranges = multiples_dividing(rest, slide)
        else:
            on_grid = (some.slide % slide == 0) & (some.start % slide == phase)
            longest = some.range[on_grid & (some.range % slide == rest)]
            sizes = np.array([int(longest.max()) // slide])
            ranges = tuple(rest + k * slide for k in fewest_ranges(1, sizes))
        rows += [(range_, slide, phase) for range_ in _spread(ranges, most)]
    columns = np.array(rows, dtype=np.int64).reshape(-1, 3)
    return WindowTable(
        range=columns[:, 0], slide=columns[:, 1], offset=columns[:, 2], axis=forest.table.axis
    )


def _grids(windows: WindowTable, partitioned: bool) -> Int64:
    """The common grid of each pair of windows: slide, phase, and what their ranges share."""
    one, two = np.triu_indices(len(windows))
    start, length = windows.start, windows.range
    slide = np.gcd(windows.slide[one], windows.slide[two])
    slide = np.gcd(slide, start[one] - start[two])
    if partitioned:
        shared = np.gcd(length[one], length[two])
        slide = np.gcd(slide, shared)
        rows = np.stack([slide, start[one] % slide, shared], axis=1)
    else:
        slide = np.gcd(slide, length[one] - length[two])
        # A finer grid on which a candidate can tumble: from raw rows it reads each row once.
        finer = np.gcd(slide, length[one])
        coarse = np.stack([slide, start[one] % slide, length[one] % slide], axis=1)
        fine = np.stack([finer, start[one] % finer, np.zeros_like(finer)], axis=1)
        rows = np.concatenate([coarse, fine])
    unique, counts = np.unique(rows, axis=0, return_counts=True)
    return np.asarray(unique[np.argsort(-counts, kind="stable")[:_GRIDS]], dtype=np.int64)


def _spread(values: tuple[int, ...], most: int) -> tuple[int, ...]:
    """At most `most` of the values, spread evenly by rank, including both ends."""
    if len(values) <= most:
        return values
    ranks = np.unique(np.linspace(0, len(values) - 1, most).round().astype(np.intp))
    return tuple(values[rank] for rank in ranks.tolist())


def _new_to(forest: Forest, found: WindowTable) -> WindowTable:
    """The candidates that are not present in the forest, once each."""
    nodes = forest.nodes()
    present = set(
        zip(
            forest.table.range[nodes].tolist(),
            forest.table.slide[nodes].tolist(),
            forest.table.start[nodes].tolist(),
            strict=True,
        )
    )
    rows: dict[tuple[int, int, int], int] = {}
    columns = (found.range.tolist(), found.slide.tolist(), found.start.tolist())
    for row, key in enumerate(zip(*columns, strict=True)):
        if key not in present:
            rows.setdefault(key, row)
    return found.take(np.array(list(rows.values()), dtype=np.intp))
