"""A plan is a checked forest that can be stored, walked and read."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from coverage_cases import MODES, exact_cost, window_sets
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import PlanError
from weft.plan.coverage import CoveragePlan, weave_coverage
from weft.plan.coverage.link import link
from weft.query.window import Window

TENS = [Window(range=r) for r in (20, 30, 40)]


@pytest.fixture
def plan() -> CoveragePlan:
    return weave_coverage(TENS, rate=1.0, semantics="partitioned", factors=True)


@pytest.mark.parametrize(("semantics", "instances"), MODES)
@settings(deadline=None, max_examples=40)
@given(windows=window_sets(most=8, sizes=(1, 8)), rate=st.sampled_from((0.2, 1.0, 10.0)))
def test_plans_are_lawful_forests_and_survive_storage(semantics, instances, windows, rate):
    plan = weave_coverage(
        windows, rate=rate, semantics=semantics, factors=True, instances=instances
    )
    order = plan.topological_order()
    assert sorted(order) == list(range(len(plan.windows)))
    for node, up in enumerate(plan.upstream):
        if up is None:
            assert plan.links[node] is None
        else:
            assert order.index(up) < order.index(node)
            assert plan.links[node] == link(
                plan.windows[up], plan.windows[node], semantics=semantics, instances=instances
            )
    assert [plan.windows[node] for node in plan.index] == windows
    assert set(plan.factors).isdisjoint(plan.index)
    assert plan.cost == pytest.approx(sum(plan.rates)) == pytest.approx(float(exact_cost(plan)))
    stored = json.loads(json.dumps(plan.to_dict()))
    again = CoveragePlan.from_dict(stored)
    assert again == plan
    assert again.report == plan.report
    assert again.to_dict() == stored
    assert len(plan.explain_lines()) == len(plan.windows) + 1


def test_explain_draws_the_forest(plan):
    assert plan.explain_lines() == [
        "3 windows, partitioned, 1 factor window: "
        "cost 1.25 per unit, 58.3% below 3 without sharing",
        "└── factor Window(range=10, slide=10) from rows: cost 1",
        "    ├── Window(range=20, slide=20) from 2 pieces: cost 0.1",
        "    │   └── Window(range=40, slide=40) from 2 pieces: cost 0.05",
        "    └── Window(range=30, slide=30) from 3 pieces: cost 0.1",
    ]


def test_on_a_time_axis_costs_are_shown_per_second():
    minutes = [Window(range="1 minute"), Window(range="2 minutes")]
    timed = weave_coverage(minutes, rate=600 / 1e6, semantics="partitioned", factors=False)
    assert timed.cost == pytest.approx(600 / 1e6 + 2 / 120e6)
    assert timed.explain_lines() == [
        "2 windows, partitioned: cost 600.017 per second, 50.0% below 1200 without sharing",
        "└── Window(range='1 minute', slide='1 minute') from rows: cost 600",
        "    └── Window(range='2 minutes', slide='2 minutes') from 2 pieces: cost 0.0166667",
    ]


def test_the_forest_can_be_asked_downwards(plan):
    assert plan.downstream(None) == (3,)
    assert plan.downstream(3) == (0, 1)
    assert plan.downstream(2) == ()
    assert plan.asked == (0, 1, 2)
    assert plan.pieces == (2, 3, 2, None)


def test_the_report_is_no_part_of_equality(plan):
    other = replace(plan, report=replace(plan.report, seconds=9.0))
    assert other == plan
    assert replace(plan, rate=2.0) != plan


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("version", 2, "version=2"),
        ("version", None, "version=None"),
        ("upstream", [3, 3, 0], "3 entries for 4 windows"),
        ("upstream", [3, 3, 7, None], "upstream=7"),
        ("upstream", [3, 3, -1, None], "upstream=-1"),
        ("upstream", [3, 3, 2, None], "feeds itself"),
        ("upstream", [2, 3, 0, None], "feeds itself"),
        ("upstream", [1, None, None, None], "is not partitioned by"),
        ("index", [0, 1, 9], "index=9"),
        ("index", [0, None, 1], "index=None"),
        ("rate", -1.0, "rate=-1.0"),
        ("semantics", "other", "semantics='other'"),
        ("windows", [{"range": 0}], "cannot be read"),
        ("report", {"seconds": 1}, "cannot be read"),
    ],
)
def test_a_stored_plan_that_is_no_plan_is_refused(plan, field, value, message):
    data = plan.to_dict()
    data[field] = value
    with pytest.raises(PlanError, match=message):
        CoveragePlan.from_dict(data)


def test_a_stored_plan_without_a_field_is_refused(plan):
    data = plan.to_dict()
    del data["windows"]
    with pytest.raises(PlanError, match="windows"):
        CoveragePlan.from_dict(data)
