"""Plans give the answers of the separate windows, and never cost more."""

from __future__ import annotations

from fractions import Fraction

import pytest
from coverage_cases import MODES, exact_cost, instances_of, window_sets
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.support.generators import chain_windows, graph_windows, random_windows, star_windows
from weft.errors import PlanError, WindowError
from weft.plan.coverage import weave_coverage
from weft.query.window import Window

TENS = [Window(range=r) for r in (10, 20, 30, 40)]
rates = st.sampled_from((0.2, 1.0, 10.0))
SEARCHES = [(*mode, search) for mode in MODES for search in ("paper", "greedy")]


def plan_of(windows, semantics, instances="fewest", *, factors=True, search="greedy", rate=1.0):
    return weave_coverage(
        windows,
        rate=rate,
        semantics=semantics,
        factors=factors,
        instances=instances,
        search=search,
    )


def test_example_6_480_to_150():
    for semantics, instances in MODES:
        view = plan_of(TENS, semantics, instances, factors=False).per_period()
        assert (view.period, view.unshared, view.total) == (120, 480, 150)


def test_example_7_360_to_246_to_150():
    for semantics, instances, search in SEARCHES:
        without = plan_of(TENS[1:], semantics, instances, factors=False)
        assert without.per_period().unshared == 360
        assert without.per_period().total == 246
        with_factors = plan_of(TENS[1:], semantics, instances, search=search)
        assert [with_factors.windows[node] for node in with_factors.factors] == [TENS[0]]
        assert with_factors.per_period().total == 150


def answers(plan, rows, low, high, aggregate):
    """Run the plan on rows `(time, value)`: for each window, instance start -> answer or None.

    Only instances within [low, high) are computed; there are no rows outside. None: no rows.
    """
    made = {}
    for node in plan.topological_order():
        window, found = plan.windows[node], plan.links[node]
        made[node] = {}
        for start, end in instances_of(window, low, high):
            if found is None:
                values = [value for time, value in rows if start <= time < end]
            else:
                upper = made[plan.upstream[node]]
                values = [upper[at] for at in found.starts(start) if upper[at] is not None]
            made[node][start] = aggregate(values) if values else None
    return made


@pytest.mark.parametrize(("semantics", "instances", "search"), SEARCHES)
@settings(deadline=None, max_examples=40)
@given(
    windows=window_sets(most=8, sizes=(1, 6)),
    rate=rates,
    rows=st.lists(st.tuples(st.integers(-40, 79), st.integers(-99, 99)), max_size=40),
)
def test_a_plan_answers_what_the_separate_windows_answer(
    semantics, instances, search, windows, rate, rows
):
    plan = plan_of(windows, semantics, instances, search=search, rate=rate)
    aggregate = min if semantics == "covered" else sum
    made = answers(plan, rows, -40, 80, aggregate)
    for window, node in zip(windows, plan.index, strict=True):
        for start, end in instances_of(window, -40, 80):
            values = [value for time, value in rows if start <= time < end]
            assert made[node][start] == (aggregate(values) if values else None)


@pytest.mark.parametrize(("semantics", "instances", "search"), SEARCHES)
@settings(deadline=None, max_examples=60)
@given(windows=window_sets(most=10, longest=40, sizes=(1, 8)), rate=rates)
def test_factors_never_cost_more_than_coverage_nor_coverage_than_no_sharing(
    semantics, instances, search, windows, rate
):
    coverage = plan_of(windows, semantics, instances, factors=False, rate=rate)
    factor = plan_of(windows, semantics, instances, search=search, rate=rate)
    unshared = sum((Fraction(rate) * w.range / w.slide for w in windows), Fraction(0))
    assert exact_cost(factor) <= exact_cost(coverage) <= unshared
    assert coverage.factors == ()
    assert factor.report.coverage_cost == pytest.approx(coverage.cost)


@settings(deadline=None, max_examples=60)
@given(windows=window_sets(most=10, longest=40, sizes=(1, 8)), rate=rates)
def test_more_freedom_never_makes_coverage_dearer(windows, rate):
    def cost(semantics, instances):
        return exact_cost(plan_of(windows, semantics, instances, factors=False, rate=rate))

    assert cost("covered", "fewest") <= cost("covered", "all")
    assert cost("partitioned", "fewest") <= cost("partitioned", "all")
    assert cost("covered", "fewest") <= cost("partitioned", "fewest")


@pytest.mark.parametrize("semantics", ["covered", "partitioned"])
@pytest.mark.parametrize("generate", [random_windows, chain_windows, star_windows])
def test_greedy_is_no_dearer_than_the_papers_search_on_the_papers_sets(semantics, generate):
    for seed in range(4):
        windows = generate(5, seed=seed)
        paper = plan_of(windows, semantics, "all", search="paper", rate=100.0)
        same_links = plan_of(windows, semantics, search="paper", rate=100.0)
        greedy = plan_of(windows, semantics, rate=100.0)
        assert greedy.cost <= same_links.cost
        assert greedy.cost <= paper.cost * (1 + 1e-12)


def test_greedy_finds_factor_windows_for_some_of_the_windows():
    mixed = [Window(range=r) for r in (20, 30, 7, 11)]
    paper = plan_of(mixed, "partitioned", search="paper", rate=1.0)
    greedy = plan_of(mixed, "partitioned", rate=1.0)
    assert paper.factors == ()  # 20, 30, 7 and 11 have nothing in common
    assert [greedy.windows[node] for node in greedy.factors] == [Window(range=10)]
    assert greedy.report.strategy == "greedy"


def test_repeated_windows_are_one_node_and_keep_their_place():
    given_ = [TENS[1], TENS[0], TENS[1], Window(range=10, offset=20)]
    plan = plan_of(given_, "partitioned", factors=False)
    assert plan.index == (0, 1, 0, 1)
    assert plan.windows == (TENS[1], TENS[0])
    assert plan.upstream == (1, None)
    assert plan.cost_without_sharing == 4.0  # as given, one for each
    assert plan.per_period().unshared == 40


def test_no_windows_make_an_empty_plan():
    plan = plan_of([], "covered")
    assert (plan.windows, plan.cost, plan.topological_order()) == ((), 0, ())
    assert plan.explain_lines() == ["0 windows, covered: cost 0 per unit"]


def test_coprime_ranges_with_a_huge_common_period_are_planned_exactly():
    primes = (1_000_003, 1_000_033, 1_000_037, 1_000_039, 1_000_081, 1_000_099)
    windows = [Window(range=p * k, slide=p) for p in primes for k in (1, 2, 6)]
    plan = plan_of(windows, "partitioned", factors=False)
    # Each prime from the rows; the others from two pieces, or from three of the double.
    assert exact_cost(plan) == 6 + sum(Fraction(2 + 3, p) for p in primes)
    assert plan.per_period().period > 10**36


def test_300_windows_on_a_time_axis():
    windows = [
        Window(range=f"{slide * overlap} seconds", slide=f"{slide} seconds")
        for slide in (1, 5, 10, 15, 30, 60, 300, 900, 3600, 7200)
        for overlap in range(1, 31)
    ]
    plan = plan_of(windows, "partitioned", rate=375e-6)
    assert plan.cost < plan.cost_without_sharing / 100
    assert {plan.windows[node].axis for node in plan.factors} <= {"time"}


def test_random_graphs_can_be_planned_in_every_way():
    windows = graph_windows(seed=3)
    costs = [
        plan_of(windows, semantics, instances, search=search, rate=100.0).cost
        for semantics, instances, search in SEARCHES
    ]
    assert max(costs) < plan_of(windows, "covered").cost_without_sharing * 100


def test_what_cannot_be_asked_is_refused():
    with pytest.raises(PlanError, match="rate=0"):
        plan_of(TENS, "covered", rate=0)
    with pytest.raises(PlanError, match="semantics='any'"):
        plan_of(TENS, "any")
    with pytest.raises(PlanError, match=r"search='best'.*greedy, paper"):
        plan_of(TENS, "covered", search="best")
    with pytest.raises(WindowError, match="mixed"):
        plan_of([Window(range=1), Window(range="1 second")], "covered")
