"""The paper's generators keep their promises, and give the same windows for the same seed."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.support import generators
from benchmarks.support.generators import (
    chain_windows,
    graph_windows,
    random_windows,
    star_windows,
)
from weft.errors import PlanError
from weft.plan.coverage.relation import covers

seeds = st.integers(0, 2**31)


@pytest.mark.parametrize("generate", [random_windows, chain_windows, star_windows])
@settings(deadline=None, max_examples=20)
@given(seed=seeds, tumbling=st.booleans())
def test_windows_are_distinct_within_the_limits_and_the_same_for_a_seed(generate, seed, tumbling):
    made = generate(5, seed=seed, slide_max=100, overlap_max=7, tumbling=tumbling)
    assert made == generate(5, seed=seed, slide_max=100, overlap_max=7, tumbling=tumbling)
    assert len(set(made)) == 5
    for window in made:
        assert 2 <= window.slide <= 100
        assert window.range % window.slide == 0
        assert window.range // window.slide <= (1 if tumbling else 7)


@settings(deadline=None, max_examples=20)
@given(seed=seeds, tumbling=st.booleans())
def test_a_chain_is_a_chain_and_a_star_is_a_star(seed, tumbling):
    chain = chain_windows(5, seed=seed, slide_max=100, tumbling=tumbling)
    assert all(covers(chain[i], chain[i + 1]) for i in range(4))
    star = star_windows(5, seed=seed, slide_max=100, tumbling=tumbling)
    assert all(covers(star[0], window) for window in star)


@settings(deadline=None, max_examples=8)
@given(seed=seeds, tumbling=st.booleans())
def test_a_random_graph_has_levels_that_the_level_before_covers(seed, tumbling):
    made = graph_windows(seed=seed, tumbling=tumbling)
    levels = made[:2], made[2:6], made[6:]
    assert len(levels[2]) == 6
    for level in levels:
        assert not any(covers(a, b) for a in level for b in level if a != b)
    for above, level in pairwise(levels):
        assert all(any(covers(upper, lower) for upper in above) for lower in level)


def test_all_windows_within_the_limits_turn_up():
    seen = {
        (w.range, w.slide)
        for seed in range(200)
        for w in random_windows(2, seed=seed, slide_max=3, overlap_max=2)
    }
    assert seen == {(2, 2), (4, 2), (3, 3), (6, 3)}


def test_long_tumbling_chains_fit_where_doubling_does():
    chain = chain_windows(10, seed=4, slide_max=1024, tumbling=True)
    assert [window.slide for window in chain] == [2**power for power in range(1, 11)]
    with pytest.raises(PlanError, match="count=10"):
        chain_windows(10, seed=4, slide_max=1023, tumbling=True)


def test_what_does_not_fit_is_refused_with_what_would(monkeypatch):
    monkeypatch.setattr(generators, "_STARTS", 10)
    with pytest.raises(PlanError, match=r"count=9.*slide_max=3.*raise one"):
        random_windows(9, seed=0, slide_max=3, overlap_max=2)
    with pytest.raises(PlanError, match=r"levels=6.*overlap_max=1"):
        graph_windows(seed=0, levels=6, slide_max=20, overlap_max=1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"base": 0}, "count=0"),
        ({"slide_max": 1}, "slide_max=1"),
        ({"overlap_max": 0}, "overlap_max=0"),
        ({"levels": 0}, "levels=0"),
        ({"growth": -1}, "growth=-1"),
        ({"edge_probability": 1.5}, "edge_probability=1.5"),
    ],
)
def test_limits_that_make_no_sense_are_refused(options, message):
    with pytest.raises(PlanError, match=message):
        graph_windows(seed=0, **options)
