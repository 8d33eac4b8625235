"""A link names the upstream instances that make up an instance, and no more than needed."""

from __future__ import annotations

import math

import pytest
from coverage_cases import (
    MODES,
    different_instances,
    instances_of,
    pieces_by_definition,
    related_pairs,
)
from hypothesis import given, settings

from weft.errors import PlanError
from weft.plan.coverage.link import Link, link
from weft.plan.coverage.relation import feeds
from weft.query.window import Window


@pytest.mark.parametrize(("semantics", "instances"), MODES)
@settings(deadline=None, max_examples=150)
@given(pair=related_pairs())
def test_the_pieces_are_upstream_instances_that_make_up_every_instance(semantics, instances, pair):
    upstream, window = pair
    if not feeds(upstream, window, semantics, instances):
        with pytest.raises(PlanError, match=f"is not {semantics} by"):
            link(upstream, window, semantics=semantics, instances=instances)
        return
    found = link(upstream, window, semantics=semantics, instances=instances)
    for start, end in different_instances(upstream, window):
        pieces = [(at, at + upstream.range) for at in found.starts(start)]
        assert set(pieces) <= set(instances_of(upstream, start, end))
        assert len(set(pieces)) == len(pieces) == found.count
        instants = [instant for piece in pieces for instant in range(*piece)]
        assert set(instants) == set(range(start, end))
        if semantics == "partitioned":
            assert len(instants) == end - start


@pytest.mark.parametrize(("semantics", "instances"), MODES)
@settings(deadline=None, max_examples=150)
@given(pair=related_pairs())
def test_the_count_is_the_least_possible_or_all_that_lie_inside(semantics, instances, pair):
    upstream, window = pair
    definition = pieces_by_definition(upstream, window, semantics, instances)
    if math.isfinite(definition):
        made = link(upstream, window, semantics=semantics, instances=instances)
        assert made.count == definition


def test_examples_3_and_4_two_pieces():
    lower, upper = Window(range=10, slide=2), Window(range=8, slide=2)
    found = link(upper, lower, semantics="covered", instances="all")
    assert found == Link(first=0, step=2, count=2, last=2)
    assert found.starts(0) == (0, 2)  # [0, 8) and [2, 10)
    assert found.starts(2) == (2, 4)


def test_long_windows_do_not_list_their_pieces():
    day = link(Window(range=1), Window(range=86_400_000_000), semantics="partitioned")
    assert day.count == 86_400_000_000
