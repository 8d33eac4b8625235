"""The compiled functions that searches call, compared with counting."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from edge_cases import SMOOTH, covered, random_sets
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.plan.edges.bitset import bitset_count
from weft.plan.edges.f1 import f1_sum, f1_terms
from weft.plan.edges.gcd_table import gcd_table
from weft.plan.edges.kernels import clean, hard_rate, merge, merged_rate, pair_rate, union_rate

MANY = 10**6
NO_TABLE = np.empty(0, np.int32)


def test_union_and_merged_rates_count_right_on_thousands_of_sets():
    for offset, step in random_sets(4000, 12, seed=1):
        cut = len(step) // 3
        y, x = clean(offset[:cut], step[:cut]), clean(offset[cut:], step[cut:])
        both = merge(*x, *y)
        truth = float(covered(offset, step))
        assert union_rate(*both, MANY)[0] == pytest.approx(truth, rel=1e-12)
        merged, _ = merged_rate(union_rate(*x, MANY)[0], *x, *y, MANY)
        assert merged == pytest.approx(truth, rel=1e-12)


def test_f1_and_bit_set_kernels_count_right():
    for offset, step in random_sets(500, 8, seed=2):
        edges = clean(offset, step)
        truth = float(covered(offset, step))
        assert bitset_count(*edges, 10_000)[0] == pytest.approx(truth)
        assert f1_sum(*edges, NO_TABLE, MANY)[0] == pytest.approx(truth)
        assert f1_sum(*edges, gcd_table(), MANY)[0] == pytest.approx(truth)


def test_empty_sets_and_the_densest_set():
    none = np.empty(0, np.int64)
    always = (np.array([0]), np.array([1]))
    some = (np.array([0, 1]), np.array([4, 6]))
    assert union_rate(none, none, MANY)[0] == 0.0
    assert union_rate(*always, MANY)[0] == 1.0
    assert merged_rate(0.25, some[0][:1], some[1][:1], none, none, MANY)[0] == 0.25
    rate = union_rate(*some, MANY)[0]
    assert merged_rate(0.0, none, none, *some, MANY)[0] == rate
    assert merged_rate(1.0, *always, *some, MANY)[0] == 1.0
    assert merged_rate(rate, *some, *always, MANY)[0] == pytest.approx(1.0)
    assert merge(*some, *always)[1].tolist() == [1]


@settings(deadline=None, max_examples=300)
@given(*[st.tuples(st.sampled_from(SMOOTH), st.integers(0, 59), st.integers(0, 59))] * 2)
def test_pair_rate_is_a_closed_form(x, y):
    (slide_x, start_x, end_x), (slide_y, start_y, end_y) = x, y
    start_x, end_x, start_y, end_y = (
        start_x % slide_x,
        end_x % slide_x,
        start_y % slide_y,
        end_y % slide_y,
    )
    truth = covered(
        np.array([start_x, end_x, start_y, end_y]), np.array([slide_x, slide_x, slide_y, slide_y])
    )
    rate = pair_rate(start_x, end_x, slide_x, start_y, end_y, slide_y)
    assert rate == pytest.approx(float(truth), rel=1e-12)


def test_a_spent_budget_is_minus_one_and_hard_rate_answers():
    chance = np.random.default_rng(4)
    step = chance.integers(200, 1000, 60)
    edges = clean(chance.integers(0, step), step)
    rate, nodes = union_rate(*edges, 50)
    assert (rate, nodes >= 50) == (-1.0, True)
    half = len(edges[0]) // 2
    x, y = [part[:half] for part in edges], [part[half:] for part in edges]
    assert merged_rate(union_rate(*x, MANY)[0], *x, *y, 50)[0] == -1.0
    hard = hard_rate(*edges)
    assert hard.how == "elimination"
    assert hard.exact
    assert hard.value == pytest.approx(union_rate(*edges, 10 * MANY)[0], rel=1e-12)


LARGE = (2, 3, 5, 7, 1_000_003, 2_147_483_647, 3_037_000_507)


def large_sets(count, seed):
    """Steps up to 2**62 that share small and large primes, and offsets that often coincide."""
    chance = np.random.default_rng(seed)
    for _ in range(count):
        n = int(chance.integers(3, 8))
        steps, offsets = [], []
        while len(steps) < n:
            step = math.prod(int(p) for p in chance.choice(LARGE, int(chance.integers(1, 6))))
            if 1 < step <= 2**62:
                steps.append(step)
                offsets.append(int(chance.integers(0, 3)) * int(chance.choice((1, 6, 1_000_003))))
        yield np.array(offsets) % np.array(steps), np.array(steps)


def test_steps_of_microsecond_size_and_beyond_lose_no_digit():
    for offset, step in large_sets(400, seed=6):
        terms, _ = f1_terms(offset.tolist(), step.tolist())
        truth = sum((-1) ** size * term for size, term in enumerate(terms))
        edges = clean(offset, step)
        rate, _ = union_rate(*edges, MANY)
        assert rate == pytest.approx(float(truth), rel=1e-12)
        half = len(edges[0]) // 2
        x, y = [part[:half] for part in edges], [part[half:] for part in edges]
        merged, _ = merged_rate(union_rate(*x, MANY)[0], *x, *y, MANY)
        assert merged == pytest.approx(float(truth), rel=1e-12)
        assert f1_sum(*edges, NO_TABLE, MANY)[0] == pytest.approx(float(truth), rel=1e-9)
        assert hard_rate(*edges).value == pytest.approx(float(truth), rel=1e-12)


def test_pair_rate_of_hours_in_microseconds():
    hour, second = 3_600_000_000, 1_000_000
    truth = Fraction(1, hour) + Fraction(2, 7 * second) - Fraction(1, 7 * hour)
    assert pair_rate(0, 0, hour, 0, 3 * second, 7 * second) == pytest.approx(
        float(truth - Fraction(1, 7 * hour)), rel=1e-12
    )
