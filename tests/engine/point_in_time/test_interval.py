"""Intervals before instants, and the search for the rows in them."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.engine.point_in_time.interval import NEVER, Edge, Interval, first_rows, minus

LAST = 2**63 - 1


def edges(interval: Interval, *at: int) -> list[tuple[int, int]]:
    instants = np.array(at, dtype=np.int64)
    starts, ends = interval.start.of(instants), interval.end.of(instants)
    return list(zip(starts.tolist(), ends.tolist(), strict=True))


def test_an_exact_interval_ends_at_the_instant():
    assert edges(Interval(range=10), 100, -3) == [(90, 100), (-13, -3)]


def test_a_delay_moves_both_ends():
    assert edges(Interval(range=10, delay=4), 100) == [(86, 96)]


def test_by_slide_it_is_the_latest_window_that_has_closed():
    """Windows [1, 6), [4, 9), [7, 12), ...; a window that ends at the instant has closed."""
    interval = Interval(range=5, slide=3, phase=1 + 5)
    assert edges(interval, 8, 9, 10, 11, 12) == [(1, 6), (4, 9), (4, 9), (4, 9), (7, 12)]


def test_by_slide_with_a_delay_the_window_has_closed_so_long_before():
    assert edges(Interval(range=5, delay=2, slide=3, phase=6), 10, 11) == [(1, 6), (4, 9)]


@given(
    st.integers(-(2**63), LAST),
    st.integers(1, 2**62),
    st.integers(0, 2**62),
    st.none() | st.tuples(st.integers(1, 2**62), st.integers(0, 2**62)),
)
def test_edges_are_exact_as_far_as_64_bits_reach(at, range_, delay, slides):
    slide, phase = slides or (None, 0)
    end = max(at - delay, NEVER)
    if slide is not None:
        end = max(end - (end - phase) % slide, NEVER)
    ((start, found),) = edges(Interval(range_, delay, slide, phase), at)
    assert found == end
    wanted = max(at - min(delay + range_, LAST), NEVER) if slide is None else end - range_
    assert start == max(wanted, NEVER)


def test_nothing_counts_at_null():
    for interval in (Interval(range=10), Interval(range=10, delay=3, slide=7, phase=2)):
        assert edges(interval, NEVER) == [(NEVER, NEVER)]


def test_minus_takes_lengths_row_by_row():
    assert minus(np.array([NEVER + 1, 5]), np.array([2, 2])).tolist() == [NEVER, 3]


@settings(deadline=None)  # the first call compiles
@given(st.data())
def test_first_rows_are_those_of_a_search_key_by_key(data):
    keys = data.draw(st.integers(1, 4))
    small = st.integers(-5, 25)
    rows = [sorted(data.draw(st.lists(small, max_size=30))) for _ in range(keys)]
    asked = [sorted(data.draw(st.lists(small, max_size=8))) for _ in range(keys)]
    row_bounds = np.cumsum([0, *map(len, rows)])
    spine_bounds = np.cumsum([0, *map(len, asked)])
    out = np.full(int(spine_bounds[-1]), -1, dtype=np.int64)
    first_rows(
        np.array([*chain(*rows)], dtype=np.int64), row_bounds, spine_bounds,
        np.array([*chain(*asked)], dtype=np.int64), out,
    )  # fmt: skip
    wanted = [
        int(row_bounds[key] + np.searchsorted(rows[key], edge))
        for key in range(keys)
        for edge in asked[key]
    ]
    assert out.tolist() == wanted


@pytest.mark.parametrize("slide", [None, 4])
def test_the_same_edges_of_two_intervals_are_equal(slide):
    """This matters because equal edges are looked up once."""
    short, long = (Interval(range_, 1, slide, 3) for range_ in (5, 9))
    assert short.end == long.end
    assert short.start != long.start
    assert Interval(8, 2).start == Edge(10) == Interval(10).start
