"""Coverage and partitioning agree with their definitions on actual intervals."""

from __future__ import annotations

import math

import pytest
from coverage_cases import pieces_by_definition, related_pairs, windows
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import PlanError
from weft.plan.coverage.relation import check_semantics, covers, feeds, partitions
from weft.query.window import Window

pairs = st.one_of(related_pairs(), st.tuples(windows(), windows()))


@settings(deadline=None, max_examples=400)
@given(pairs)
def test_covers_means_that_every_instance_is_a_union_of_upstream_instances(pair):
    upstream, window = pair
    definition = pieces_by_definition(upstream, window, "covered", "all")
    assert covers(upstream, window) == math.isfinite(definition)


@settings(deadline=None, max_examples=400)
@given(pairs)
def test_partitions_means_that_every_instance_is_a_disjoint_union(pair):
    upstream, window = pair
    some = pieces_by_definition(upstream, window, "partitioned", "fewest")
    everything = pieces_by_definition(upstream, window, "partitioned", "all")
    assert partitions(upstream, window) == math.isfinite(some)
    assert partitions(upstream, window, instances="all") == math.isfinite(everything)


@settings(deadline=None, max_examples=150)
@given(related_pairs(), windows(most=24, longest=48))
def test_coverage_is_a_partial_order_and_partitioning_implies_it(pair, other):
    upper, lower = pair
    assert covers(upper, upper)
    assert partitions(upper, upper, instances="all")
    if covers(upper, lower) and covers(lower, upper):
        assert upper == lower
    if covers(upper, lower) and covers(lower, other):
        assert covers(upper, other)
    if partitions(upper, lower):
        assert covers(upper, lower)
    if partitions(upper, lower, instances="all"):
        assert partitions(upper, lower)


@settings(deadline=None, max_examples=150)
@given(st.integers(1, 6), st.integers(1, 6), st.integers(1, 6), st.integers(1, 6))
def test_without_offsets_and_gaps_the_papers_theorems_hold(slide_1, slide_2, times_1, times_2):
    lower = Window(range=slide_1 * times_1, slide=slide_1)
    upper = Window(range=slide_2 * times_2, slide=slide_2)
    if lower.range <= upper.range:
        return
    theorem_1 = slide_1 % slide_2 == 0 and (lower.range - upper.range) % slide_2 == 0
    theorem_4 = slide_1 % slide_2 == 0 and lower.range % slide_2 == 0 and times_2 == 1
    assert covers(upper, lower) == theorem_1
    assert partitions(upper, lower, instances="all") == theorem_4


def test_examples_2_3_and_5():
    lower, upper = Window(range=10, slide=2), Window(range=8, slide=2)
    assert covers(upper, lower)
    assert not partitions(upper, lower)
    assert not covers(lower, upper)


def test_an_upstream_with_gaps_feeds_only_windows_of_its_own_range():
    gappy = Window(range=2, slide=4)
    assert covers(gappy, Window(range=2, slide=8))
    assert partitions(gappy, Window(range=2, slide=8, offset=4))
    assert not covers(gappy, Window(range=6, slide=4))
    assert not covers(gappy, Window(range=2, slide=8, offset=2))


def test_windows_on_different_axes_are_not_related():
    assert not covers(Window(range=1_000_000), Window(range="2 seconds"))
    assert covers(Window(range="1 second"), Window(range="2 seconds"))
    assert not partitions(Window(range=1_000_000), Window(range="2 seconds"))


def test_feeds_asks_for_the_semantics_given():
    upper, lower = Window(range=4, slide=2), Window(range=8, slide=2)
    assert feeds(upper, lower, "covered", "all")
    assert feeds(upper, lower, "partitioned", "fewest")
    assert not feeds(upper, lower, "partitioned", "all")


def test_unknown_semantics_are_refused_with_what_is_accepted():
    with pytest.raises(PlanError, match=r"semantics='disjoint'.*covered, partitioned"):
        check_semantics("disjoint", "all")
    with pytest.raises(PlanError, match=r"instances='some'.*fewest, all"):
        check_semantics("covered", "some")
