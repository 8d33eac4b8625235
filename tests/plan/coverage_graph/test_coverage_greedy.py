"""The greedy search reduces the cost about as much as the best two factor windows, or more."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from coverage_cases import MODES, window_sets
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.support.generators import random_windows
from weft.plan.coverage import greedy
from weft.plan.coverage.forest import Forest
from weft.plan.coverage.greedy import improve, proposals
from weft.query.table import WindowTable
from weft.query.window import Window


@pytest.mark.parametrize(("semantics", "instances"), MODES)
@settings(deadline=None, max_examples=50)
@given(windows=window_sets(most=10, longest=40, sizes=(1, 8)), rate=st.sampled_from((0.2, 1, 30)))
def test_the_cost_never_rises_and_the_windows_asked_for_stay(semantics, instances, windows, rate):
    table = WindowTable.of_windows(windows)
    forest = Forest(table, rate=rate, semantics=semantics, instances=instances)
    before = forest.cost
    report = improve(forest)
    assert forest.cost <= before
    assert forest.present[: len(windows)].all()
    present = [forest.table[int(node)] for node in forest.nodes()]
    assert len(set(present)) == len(present)
    assert report.rounds >= 1


def cheapest_with_two(windows: list[Window], rate: float, semantics: str) -> float:
    """The least cost with at most two factor windows, out of all windows with a possible slide."""
    table = WindowTable.of_windows(windows)
    longest = max(window.range for window in windows)
    slides = {s for w in windows for s in range(1, w.slide + 1) if w.slide % s == 0}
    every = [(length, slide) for slide in sorted(slides) for length in range(slide, longest + 1)]
    pool = WindowTable(range=[r for r, _ in every], slide=[s for _, s in every])
    forest = Forest(table, rate=rate, semantics=semantics)
    useful = []  # serves some window better than the raw stream does
    for row, window in enumerate(pool):
        one = Forest(table, rate=rate, semantics=semantics)
        if window not in windows:
            one.add(pool.take(np.array([row])))
            if (one.choices.best == len(windows)).any():
                useful.append(row)
    best = forest.cost
    for pair in combinations(useful, 2):
        two = Forest(table, rate=rate, semantics=semantics)
        two.add(pool.take(np.array(pair)))
        two.prune()
        best = min(best, two.cost)
    return best


@pytest.mark.slow
@pytest.mark.parametrize("semantics", ["covered", "partitioned"])
def test_greedy_is_close_to_the_best_two_factor_windows_or_better(semantics):
    ratios = []
    for seed in range(6):
        windows = random_windows(3, seed=seed, slide_max=8, overlap_max=3)
        forest = Forest(WindowTable.of_windows(windows), rate=4.0, semantics=semantics)
        improve(forest)
        ratios.append(forest.cost / cheapest_with_two(list(windows), 4.0, semantics))
    # Below 1 if more than two factor windows are better still.
    assert max(ratios) < 1.05
    assert np.mean(ratios) < 1.0


def test_long_overlaps_are_built_up_by_doubling():
    forest = Forest(WindowTable(range=[64], slide=[1]), rate=1000.0, semantics="partitioned")
    improve(forest)
    ranges = sorted(window.range for window in forest.factors())
    # Sixty-four pieces would do; a few levels need far fewer: 1000 rows and some pieces.
    assert ranges[0] == 1
    assert forest.cost - 1000 < 64


def test_proposals_stay_few_when_windows_are_many():
    rng = np.random.default_rng(2)
    slide = rng.integers(1, 1000, 1200) * 1_000_000
    table = WindowTable(range=slide * rng.integers(1, 50, 1200), slide=slide)
    for semantics in ("covered", "partitioned"):
        forest = Forest(table, rate=1e-3, semantics=semantics)
        found = proposals(forest)
        assert 0 < len(found) * len(table) <= greedy._PAIRS + greedy._GRIDS * len(table)


def test_a_factor_window_that_saves_less_than_a_thousandth_is_left_out():
    # 10 would help 20 and 30, but that saves little compared with a window that nothing helps.
    windows = [Window(range=100_003, slide=1), Window(range=20), Window(range=30)]
    forest = Forest(WindowTable.of_windows(windows), rate=1.0, semantics="partitioned")
    assert forest.benefits(WindowTable(range=[10]))[0] > 0
    report = improve(forest)
    assert forest.factors() == ()
    assert "thousandth" in report.stop
