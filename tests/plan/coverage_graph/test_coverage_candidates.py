"""The candidates include the best factor window between an upstream and its downstream windows."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from coverage_cases import MODES, window_sets, windows
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.plan.coverage.candidates import candidates, common_slide, fewest_ranges
from weft.plan.coverage.cost import cost_rate
from weft.plan.coverage.link import link
from weft.plan.coverage.relation import feeds
from weft.query.table import WindowTable
from weft.query.window import Window


def every_candidate(upstream, downstream, semantics, instances):
    """By definition, all windows that fit between the two (section 4.2.1), one by one."""
    taken = {upstream, *downstream}
    for slide in range(1, min(w.slide for w in downstream) + 1):
        for length in range(1, min(w.range for w in downstream) + 1):
            for offset in range(slide):
                made = Window(range=length, slide=slide, offset=offset)
                if (
                    made not in taken
                    and all(feeds(made, low, semantics, instances) for low in downstream)
                    and (upstream is None or feeds(upstream, made, semantics, instances))
                ):
                    yield made


def saving(factor, upstream, downstream, rate, semantics, instances):
    """Equation 2, negated and as a rate, from the definition of the costs."""

    def cost(window, source):
        pieces = (
            None
            if source is None
            else link(source, window, semantics=semantics, instances=instances).count
        )
        return cost_rate(window, pieces, rate)

    before = sum((cost(low, upstream) for low in downstream), Fraction(0))
    after = sum((cost(low, factor) for low in downstream), Fraction(0)) + cost(factor, upstream)
    return before - after


def fed(upstream, windows, semantics, instances):
    return [w for w in windows if w != upstream and feeds(upstream, w, semantics, instances)]


@st.composite
def gatherings(draw, semantics, instances):
    """An upstream (possibly the raw stream) and some windows that it feeds."""
    grid = draw(st.sampled_from((1, 2, 3, 4)))
    below = [
        Window(range=w.range * grid, slide=w.slide * grid, offset=w.offset * grid)
        for w in draw(window_sets(most=6, longest=8, sizes=(1, 3)))
    ]
    if draw(st.booleans()):
        return None, below
    upstream = draw(st.one_of(windows(most=4, longest=8), st.just(Window(range=grid))))
    return upstream, fed(upstream, below, semantics, instances)


@pytest.mark.parametrize(("semantics", "instances"), MODES)
@settings(deadline=None, max_examples=100)
@given(data=st.data(), rate=st.sampled_from((0.3, 1.0, 7.0)))
def test_all_fit_between_and_none_that_saves_more_is_missing(semantics, instances, data, rate):
    upstream, downstream = data.draw(gatherings(semantics, instances))
    if not downstream:
        return
    table = WindowTable.of_windows(downstream)
    found = list(candidates(upstream, table, semantics=semantics, instances=instances))
    every = list(every_candidate(upstream, downstream, semantics, instances))
    assert set(found) <= set(every)
    assert len(set(found)) == len(found)
    assert bool(found) == bool(every)
    if every:
        args = (upstream, downstream, rate, semantics, instances)
        assert max(saving(f, *args) for f in found) == max(saving(f, *args) for f in every)


def test_example_8_between_the_raw_stream_and_20_and_30_minutes():
    found = candidates(None, WindowTable(range=[20, 30]), semantics="partitioned", instances="all")
    assert found.range.tolist() == [10, 5, 2, 1]  # 1 is the paper's S, the raw stream at rate 1
    assert (found.range == found.slide).all()


def test_hopping_windows_ask_for_a_divisor_of_their_slides_too():
    hops = WindowTable(range=[10, 20], slide=[2, 4])
    found = candidates(None, hops, semantics="partitioned", instances="all")
    assert found.range.tolist() == [2, 1]  # not 10 or 5, the common divisors of the ranges alone


def test_offsets_narrow_the_common_slide():
    assert common_slide(WindowTable(range=[5, 5], slide=[12, 18])) == 6
    assert common_slide(WindowTable(range=[5, 5], slide=[12, 18], offset=[0, 4])) == 2


def test_candidates_keep_the_offset():
    late = WindowTable(range=[20, 40], offset=[3, 23])
    found = candidates(None, late, semantics="partitioned", instances="all")
    assert list(found) == [Window(range=r, offset=3) for r in (10, 5, 4, 2, 1)]


def test_a_microsecond_axis_does_not_enumerate_microseconds():
    hours = WindowTable(
        range=np.array([7, 11]) * 3_600_000_000, slide=np.array([1, 1]) * 3_600_000_000
    )
    for semantics, instances in MODES:
        found = candidates(None, hours, semantics=semantics, instances=instances)
        assert 0 < len(found) < 70_000


def test_few_ranges_are_all_tried_and_many_are_thinned():
    assert fewest_ranges(1, np.array([40])) == list(range(40, 0, -1))
    many = fewest_ranges(1, np.array([1_000_000, 3_000_000]))
    assert len(many) < 100
    assert {1, 1_000_000, 500_000, 750_000, 65_536} <= set(many)


def test_nothing_downstream_has_no_candidates():
    nothing = WindowTable(range=np.array([], dtype=np.int64))
    assert len(candidates(None, nothing, semantics="covered", instances="all")) == 0
