"""Normal form of progressions: cleaned, sorted, small numbers."""

from __future__ import annotations

import numpy as np
import pytest
from edge_cases import SMOOTH, composite_edges, covered, edges_of, random_sets, window_sets
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import PlanError, WindowError
from weft.plan.edges.bitset import composite_slide
from weft.plan.edges.kernels import clean
from weft.plan.edges.progressions import Progressions
from weft.query.progressions import clean_arrays
from weft.query.table import WindowTable
from weft.query.window import Window

steps = st.lists(st.tuples(st.integers(-99, 99), st.sampled_from(SMOOTH)), min_size=1, max_size=12)


@settings(deadline=None, max_examples=300)
@given(steps)
def test_both_cleaners_give_the_same_normal_form(pairs):
    offset, step = (np.array(column, np.int64) for column in zip(*pairs, strict=True))
    by_kernel, by_array = clean(offset, step), clean_arrays(offset, step)
    for x, y in zip(by_kernel, by_array, strict=True):
        assert x.tolist() == y.tolist()
    kept = list(zip(by_array[1].tolist(), by_array[0].tolist(), strict=True))
    assert kept == sorted(set(kept))
    for s, a in kept:
        assert 0 <= a < s
        assert not any((s, a) != (t, b) and s % t == 0 and a % t == b for t, b in kept)
    assert covered(*by_array) == covered(offset, step)


def test_cleaning_drops_multiples_only_where_they_coincide():
    offset, step = clean(np.array([0, 0, 1, 5]), np.array([4, 2, 4, 6]))
    assert (offset.tolist(), step.tolist()) == ([0, 1, 5], [2, 4, 6])


@settings(deadline=None, max_examples=200)
@given(window_sets, st.integers(1, 10**12))
def test_common_measure_is_taken_out_and_no_edge_is_lost(windows, unit):
    period, edges = edges_of(windows)
    plain = Progressions.of_windows(windows)
    slide = composite_slide(plain) * plain.unit  # shorter where cleaning dropped a long slide
    assert period % slide == 0
    listed = composite_edges(plain)
    assert sorted(x + k * slide for k in range(period // slide) for x in listed) == edges
    scaled = Progressions.of_windows(
        [
            Window(range=w.range * unit, slide=w.slide * unit, offset=w.offset * unit)
            for w in windows
        ]
    )
    assert scaled.unit == plain.unit * unit
    assert scaled.step.tolist() == plain.step.tolist()


def test_microseconds_become_small_numbers():
    windows = [
        Window(range="1 hour", slide="7 seconds", offset="3 seconds"),
        Window(range="90 minutes", slide="1 hour", offset="-1 minute"),
    ]
    edges = Progressions.of_windows(windows)
    assert edges.unit == 1_000_000
    assert edges.step.tolist() == [7, 7, 1800]


def test_a_query_is_taken_by_its_window():
    class Query:
        window = Window(range=4, slide=2)

    assert len(Progressions.of_windows([Query(), Window(range=2)])) == 1
    assert Progressions.of_windows(WindowTable(range=[4], slide=[2])).unit == 2
    assert len(Progressions.of_windows([])) == 0


@pytest.mark.parametrize("windows", [Window(range=2), 7, [Window(range=2), "hourly"]])
def test_what_is_no_window_is_refused_by_name(windows):
    with pytest.raises(PlanError, match="windows"):
        Progressions.of_windows(windows)


def test_axes_may_not_be_mixed_and_slides_have_a_limit():
    with pytest.raises(WindowError, match="axis"):
        Progressions.of_windows([Window(range=2), Window(range="2 seconds")])
    with pytest.raises(WindowError, match=r"slide=\d+ is too long"):
        Progressions.of_windows(WindowTable(range=[5], slide=[2**62 + 1]))
    with pytest.raises(PlanError, match="'pairs' and 'panes'"):
        Progressions.of_windows([Window(range=2)], "thirds")


def test_a_hundred_thousand_windows_are_cleaned_at_once():
    chance = np.random.default_rng(5)
    slide = chance.integers(50, 500, 100_000)
    table = WindowTable(range=chance.integers(1, 5000, 100_000), slide=slide)
    edges = Progressions.of_windows(table)
    assert len(edges) < 100_000
    some = chance.integers(0, 100_000, 200)
    instants = np.concatenate([table.start[some], table.end[some]])
    for x in instants:
        assert ((x - edges.origin) % edges.unit) == 0
        assert ((x - edges.origin) // edges.unit % edges.step == edges.offset).any()


def test_repetition_changes_nothing():
    for offset, step in random_sets(200, 8, seed=3):
        once = Progressions.of_arrays(offset, step)
        twice = Progressions.of_arrays(np.tile(offset, 2), np.tile(step, 2))
        assert once.offset.tolist() == twice.offset.tolist()
        assert once.step.tolist() == twice.step.tolist()
