"""Elimination, fractions and sampling on sets that are too hard for the recursion."""

from __future__ import annotations

import math
import time
from fractions import Fraction

import numpy as np
import pytest
from edge_cases import covered, random_sets, random_windows

from weft.errors import BudgetError
from weft.plan.edges import measure
from weft.plan.edges.digits import digits_of, sum_out_private
from weft.plan.edges.elimination import WORK, Floats, find_order, run_order
from weft.plan.edges.hard import hard_rate
from weft.plan.edges.kernels import clean, union_rate
from weft.plan.edges.progressions import Progressions
from weft.plan.edges.rational import exact_fraction
from weft.plan.edges.sampling import CONFIDENCE, sampled_rate
from weft.query.progressions import clean_arrays


def test_elimination_and_fractions_count_right_on_a_thousand_sets():
    for offset, step in random_sets(1000, 16, seed=21):
        edges = clean_arrays(offset, step)
        truth = covered(offset, step)
        digits = digits_of(*edges)
        assert float(run_order(digits, find_order(digits), Floats())) == pytest.approx(
            float(truth), rel=1e-12
        )
        assert exact_fraction(Progressions.of_arrays(offset, step)).value == truth


def test_every_base_is_coprime_to_every_other_even_where_factors_are_large():
    p, q = 1_000_003, 1_000_033
    steps = [2 * p * q, 3 * p * p, 5 * q, 6 * p, 10 * p * q * q]
    digits = digits_of(*clean(np.array([0, 1, 2, 3, 4]), np.array(steps)))
    bases = [trie.base for trie in digits.tries]
    assert all(math.gcd(x, y) == 1 for i, x in enumerate(bases) for y in bases[:i])
    assert p in bases


def test_private_digits_become_weight():
    weights, always = sum_out_private(np.array([0, 1, 4]), np.array([8, 12, 7]))
    assert weights == {(0, 4): Fraction(1, 2), (1, 4): Fraction(1, 3)}
    assert always == Fraction(1, 7)


def test_an_order_past_its_cells_is_not_run():
    edges = Progressions.of_windows(random_windows(60, 1000, offsets=True))
    digits = digits_of(edges.offset, edges.step)
    assert find_order(digits).fits()
    short = find_order(digits, cells=50)
    assert not short.complete
    assert not short.fits()


def test_random_queries_in_one_tree_are_exact_where_recursion_gives_up():
    """The known hard case: one tree of 300 queries with fragments and slides up to 1,000."""
    table = random_windows(300, 1000, shortest=20)
    edges = Progressions.of_windows(table)
    assert len(edges) > 300
    assert union_rate(edges.offset, edges.step, 100_000)[0] == -1.0
    rate = measure(table)
    assert (rate.how, rate.exact) == ("elimination", True)
    assert rate.work <= WORK
    low, high = sampled_rate(edges.offset, edges.step).interval
    assert low <= rate.value <= high


@pytest.mark.slow
@pytest.mark.parametrize(("n", "longest"), [(400, 1000), (2000, 5000)])
def test_what_is_harder_still_is_sampled_in_bounded_time_and_says_so(n, longest):
    table = random_windows(n, longest, seed=7, offsets=True)
    edges = Progressions.of_windows(table)
    began = time.perf_counter()
    rate = measure(table)
    assert time.perf_counter() - began < 30  # seconds; a few on an idle machine
    assert (rate.how, rate.exact, rate.confidence) == ("sampled", False, CONFIDENCE)
    low, high = rate.interval
    assert low <= rate.value <= high
    assert high - low < 0.002 * rate.value
    # Sampling instants one by one is independent of digits, blocks and weights.
    chance = np.random.default_rng(8)
    instants = chance.integers(0, 2**62, 20_000)
    met = np.zeros(len(instants), bool)
    for a, s in zip(edges.offset, edges.step, strict=True):
        met |= instants % s == a
    error = 5 * math.sqrt(0.25 / len(instants))
    assert met.mean() == pytest.approx(rate.value, abs=error)


def test_the_same_seed_gives_the_same_estimate():
    edges = Progressions.of_windows(random_windows(50, 1000, offsets=True))
    first, again = (sampled_rate(edges.offset, edges.step, work=10**7, seed=3) for _ in range(2))
    other = sampled_rate(edges.offset, edges.step, work=10**7, seed=4)
    assert first == again
    assert first != other


@pytest.mark.parametrize(
    ("n", "longest", "estimator"), [(20, 100, "blocks"), (25, 200_000, "members")]
)
def test_intervals_cover_the_truth_as_often_as_they_promise(n, longest, estimator):
    edges = Progressions.of_windows(random_windows(n, longest, seed=1, offsets=True))
    dense = (1 / edges.step).sum() * 2**16 > 256
    assert dense == (estimator == "blocks")
    truth = float(exact_fraction(edges, work=10**10).value * edges.unit)
    runs, missed, widths = 150, 0, []
    for seed in range(runs):
        rate = sampled_rate(edges.offset, edges.step, work=5_000_000, seed=seed)
        low, high = rate.interval
        widths.append(high - low)
        missed += not low <= truth <= high
    # At 99%, one or two misses in 150 are expected; eight have a probability below 1 in 5,000.
    assert missed < 8
    assert max(widths) < 0.05 * truth


def test_more_work_makes_a_narrower_interval():
    edges = Progressions.of_windows(random_windows(60, 1000, offsets=True))
    wide, narrow = (
        sampled_rate(edges.offset, edges.step, work=work).interval for work in (10**7, 3 * 10**8)
    )
    assert narrow[1] - narrow[0] < 0.5 * (wide[1] - wide[0])


def test_disjoint_progressions_drawn_without_a_collision_keep_a_width():
    offset, step = clean(np.array([0, 1, 2]), np.array([6_000_000, 10_000_000, 15_000_000]))
    rate = sampled_rate(offset, step, work=10**5)
    truth = float(1 / 6e6 + 1 / 1e7 + 1 / 1.5e7)
    assert rate.interval[0] <= truth * (1 + 1e-12)
    assert rate.interval[0] < rate.interval[1]


def test_hard_rate_takes_less_work_if_told_to():
    edges = Progressions.of_windows(random_windows(80, 1000, offsets=True))
    assert hard_rate(edges.offset, edges.step).how == "elimination"
    quick = hard_rate(edges.offset, edges.step, work=100_000)
    assert quick.how == "sampled"
    low, high = quick.interval
    assert low <= hard_rate(edges.offset, edges.step).value <= high


def test_a_fraction_that_would_take_too_long_is_refused():
    edges = Progressions.of_windows(random_windows(400, 1000, seed=7, offsets=True))
    with pytest.raises(BudgetError, match="too entangled"):
        exact_fraction(edges)
