"""Costs as rates are exact, and the paper's numbers per period can be derived from them."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from coverage_cases import instances_of, window_sets, windows
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import PlanError
from weft.plan.coverage.cost import (
    check_rate,
    common_period,
    cost_rate,
    period_cost,
    recurrence_count,
)
from weft.query.window import Window


@settings(deadline=None, max_examples=200)
@given(windows(), st.integers(1, 5), st.integers(1, 4))
def test_the_rate_is_what_is_read_in_a_long_time_divided_by_it(window, rate, times):
    long = times * window.slide
    started = [start for start, _ in instances_of(window, 0, long + window.range) if start < long]
    rows_read = sum(rate * window.range for _ in started)
    assert cost_rate(window, None, rate) == Fraction(rows_read, long)
    assert cost_rate(window, 3, rate) == Fraction(3 * len(started), long)


@settings(deadline=None, max_examples=200)
@given(windows(), st.integers(1, 4))
def test_where_it_is_whole_the_recurrence_count_counts_instances_inside_the_period(window, times):
    period = window.range * times
    count = recurrence_count(window, period)
    if count.denominator == 1:
        aligned = Window(range=window.range, slide=window.slide)
        assert count == len(list(instances_of(aligned, 0, period)))


@settings(deadline=None, max_examples=100)
@given(window_sets(tumbling=True))
def test_for_tumbling_windows_the_period_view_is_the_rate_times_the_period(made):
    view = period_cost(made, [None] * len(made), range(len(made)), 2.0)
    rates = [cost_rate(window, None, 2.0) for window in made]
    assert view.total == view.unshared == view.period * sum(rates)


def test_example_6_recurrence_counts_and_costs():
    tens = [Window(range=r) for r in (10, 20, 30, 40)]
    view = period_cost(tens, [None, 2, 3, 2], range(4), rate=1.0)
    assert view.period == 120
    assert view.recurrence == (12, 6, 4, 3)
    assert view.costs == (120, 12, 12, 6)
    assert (view.total, view.unshared) == (150, 480)


def test_a_range_that_is_no_multiple_of_the_slide_has_an_exact_rate():
    window = Window(range=12, slide=5)
    assert recurrence_count(window, common_period([window])) == 1
    assert recurrence_count(window, 24) == Fraction(17, 5)  # not whole: the paper leaves this open
    assert cost_rate(window, None, 1.0) == Fraction(12, 5)


@pytest.mark.parametrize("rate", [0, -1.0, math.nan, math.inf, True, "375"])
def test_rates_that_are_no_rates_are_refused(rate):
    with pytest.raises(PlanError, match="rate="):
        check_rate(rate)


def test_any_kind_of_number_is_a_rate():
    assert check_rate(np.float32(0.5)) == check_rate(Fraction(1, 2)) == 0.5
    assert check_rate(3) == 3.0
