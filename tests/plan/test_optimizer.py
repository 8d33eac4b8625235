"""From queries to a plan, by every strategy."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import weft
from weft import Query, Window, WindowTable, optimize
from weft.errors import PlanError, WorkloadError
from weft.plan.optimizer import strategies
from weft.plan.plan import Plan

EXAMPLE_3 = [Window(range=16, slide=4), Window(range=10, slide=5), Window(range=8, slide=4)]
SMALL = ("no_share", "share_all", "random", "insert_then_weave", "local_search", "exhaustive")

windows = st.builds(
    lambda slide, extra, offset: Window(range=max(1, slide + extra), slide=slide, offset=offset),
    st.integers(1, 24),
    st.integers(-20, 60),
    st.integers(-30, 30),
)


def query(name, *, by=(), where=None, range="10 minutes", slide="5 minutes", aggs=None):
    return Query(
        name,
        aggs=aggs or {"s": "sum(price)"},
        window=Window(range=range, slide=slide),
        where=where,
        by=by,
    )


def test_weaveshare_example_3_stops_at_two_trees():
    plan = optimize(EXAMPLE_3, rate=1.2, strategy="weave")
    assert plan.cost == pytest.approx(4.3)
    assert plan.costs["no_share"] == pytest.approx(5.5)
    assert plan.costs["share_all"] == pytest.approx(4.4)
    assert [tree.queries for tree in plan.trees] == [("q1", "q3"), ("q2",)]
    assert plan.why("q1", "q2").endswith("one tree of both would cost 0.1 more")


def test_the_same_windows_in_seconds_cost_the_same_per_second():
    seconds = [Window(range=f"{w.range} seconds", slide=f"{w.slide} seconds") for w in EXAMPLE_3]
    in_units = optimize(EXAMPLE_3, rate=1.2, strategy="weave")
    in_seconds = optimize(seconds, rate=1.2, strategy="weave")
    assert in_seconds.cost == pytest.approx(in_units.cost)
    assert in_seconds.trees[0].edge_rate == pytest.approx(0.25)
    assert weft.edge_rate(seconds) == pytest.approx(weft.edge_rate(EXAMPLE_3))


@pytest.mark.parametrize("strategy", [s for s in strategies() if s != "weave_paper"])
@settings(deadline=None, max_examples=15)
@given(asked=st.lists(windows, min_size=1, max_size=6), rate=st.sampled_from([0.1, 1.0, 20.0]))
def test_every_plan_is_a_partition_and_costs_what_its_trees_cost(strategy, asked, rate):
    plan = optimize(asked, rate=rate, strategy=strategy)
    rows = np.sort(np.concatenate([tree.rows for tree in plan.trees]))
    assert rows.tolist() == list(range(len(asked)))
    assert plan.cost == pytest.approx(sum(tree.cost for tree in plan.trees))
    first = [int(tree.rows[0]) for tree in plan.trees]
    assert first == sorted(first)


@settings(deadline=None, max_examples=40)
@given(asked=st.lists(windows, min_size=1, max_size=6), rate=st.sampled_from([0.1, 1.0, 20.0]))
def test_nothing_beats_exhaustive_and_weave_is_never_worse_than_the_extremes(asked, rate):
    best = optimize(asked, rate=rate, strategy="exhaustive").cost
    for strategy in (*SMALL, "weave"):
        assert optimize(asked, rate=rate, strategy=strategy).cost >= best * (1 - 1e-9)
    weave = optimize(asked, rate=rate, strategy="weave")
    assert weave.cost <= min(weave.costs["no_share"], weave.costs["share_all"]) * (1 + 1e-9)
    polished = optimize(asked, rate=rate, strategy="weave", polish=True)
    assert polished.cost <= weave.cost * (1 + 1e-9)


def test_auto_takes_the_cheapest_and_says_what_it_left():
    tumbling = [Window(range=r, slide=r) for r in (10, 20, 30, 40)]
    plan = optimize(tumbling, rate=1.0)
    assert plan.cost <= optimize(tumbling, rate=1.0, strategy="weave").cost
    assert plan.cost <= optimize(tumbling, rate=1.0, strategy="factor").cost
    assert any(note.startswith("auto chose") for note in plan.report.notes)
    assert optimize(tumbling, rate=1.0, engine="operator").strategy == "weave"


def test_the_coverage_papers_example_by_strategy():
    tumbling = [Window(range=r, slide=r) for r in (20, 30, 40)]
    assert optimize(tumbling, rate=1.0, strategy="coverage").cost * 120 == pytest.approx(246)
    assert optimize(tumbling, rate=1.0, strategy="factor").cost * 120 == pytest.approx(150)
    assert optimize(tumbling, rate=1.0, strategy="factor").costs["no_share"] * 120 == (
        pytest.approx(360)
    )


def test_different_keys_do_not_share_unless_the_union_is_asked_for():
    asked = [query("a", by=["symbol"]), query("b", by=["venue"])]
    plan = optimize(asked, rate=100.0, strategy="share_all")
    assert len(plan.trees) == 2
    assert "cannot share: their group-by keys differ" in plan.why("a", "b")
    assert len(optimize(asked, rate=100.0, strategy="share_all", keys="union").trees) == 1


def test_union_of_keys_is_taken_when_the_engine_says_it_is_cheaper():
    asked = [query("a", by=["symbol"]), query("b", by=["venue"])]
    few = weft.Statistics(groups={"symbol": 3.0, "venue": 2.0})
    many = weft.Statistics(groups={"symbol": 5e3, "venue": 5e3})
    cheap = optimize(asked, rate=1e6, cost="engine", statistics=few, strategy="weave")
    dear = optimize(asked, rate=1e4, cost="engine", statistics=many, strategy="weave")
    assert (len(cheap.trees), len(dear.trees)) == (1, 2)


def test_different_predicates_share_through_fragments_but_not_in_a_coverage_plan():
    asked = [query("a", where="volume > 5"), query("b", where="volume > 9")]
    assert len(optimize(asked, rate=100.0, strategy="weave").trees) == 1
    plan = optimize(asked, rate=100.0, strategy="coverage")
    assert len(plan.trees) == 2
    assert "their predicates differ" in plan.why("a", "b")


def test_unbounded_parts_share_only_with_their_like():
    heavy = {"all": "collect_list(price)"}
    asked = [query("a"), query("b", aggs=heavy), query("c", aggs=heavy)]
    plan = optimize(asked, rate=100.0, strategy="share_all")
    assert [tree.queries for tree in plan.trees] == [("a",), ("b", "c")]
    assert "parts without a bound" in plan.why("a", "b")


def test_overlap_insensitive_aggregates_may_use_overlapping_upstream_windows():
    aggs = {"hi": "max(price)"}
    asked = [
        query("a", aggs=aggs, range="10 minutes", slide="5 minutes"),
        query("b", aggs=aggs, range="15 minutes", slide="5 minutes"),
    ]
    plan = optimize(asked, rate=100.0, strategy="coverage")
    assert plan.trees[0].coverage.semantics == "covered"
    sums = [query("a"), query("b", range="15 minutes")]
    assert optimize(sums, rate=1.0, strategy="coverage").trees[0].coverage.semantics == (
        "partitioned"
    )


@pytest.mark.parametrize("strategy", ["weave", "factor", "no_share"])
def test_a_plan_survives_json(strategy):
    asked = [query("a", by=["symbol"]), query("b", slide="10 minutes"), query("c", where="v > 1")]
    for queries in (asked, EXAMPLE_3, WindowTable(range=[12, 10], slide=[9, 6])):
        plan = optimize(queries, rate=3.0, strategy=strategy)
        stored = json.loads(json.dumps(plan.to_dict()))
        again = Plan.from_dict(stored)
        assert again.cost == pytest.approx(plan.cost)
        assert again.to_dict() == stored
        assert again.explain() == plan.explain()


def test_a_plan_of_another_version_is_refused():
    stored = optimize(EXAMPLE_3).to_dict() | {"version": 99}
    with pytest.raises(PlanError, match="version 99"):
        Plan.from_dict(stored)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"strategy": "best"}, "strategy='best': accepted are .*weave"),
        ({"rate": -1.0}, "rate=-1.0"),
        ({"rate": float("nan")}, "rate=nan"),
        ({"edges": "guess"}, "edges='guess': accepted are 'exact'"),
        ({"cost": "free"}, "cost='free'"),
        ({"keys": "some"}, "keys='some'"),
        ({"tolerance": -0.1}, "tolerance=-0.1"),
        ({"strategy": "weave", "polsh": True}, "polsh=True: strategy weave has no such option"),
    ],
)
def test_a_wrong_option_names_itself_and_what_is_accepted(options, message):
    with pytest.raises(PlanError, match=message):
        optimize(EXAMPLE_3, **options)


def test_a_querys_lateness_is_told():
    asked = [query("a").late_by("10 minutes"), query("b", slide="7 minutes")]
    told = optimize(asked, rate=10.0, strategy="weave").explain()
    assert told.count(", open for 10 minutes longer") == 1


def test_what_is_not_a_query_is_refused():
    with pytest.raises(PlanError, match=r"queries\[1\]=5 is not a Query"):
        optimize([query("a"), 5])
    with pytest.raises(PlanError, match=r"queries\[1\]=Window"):
        optimize([query("a"), Window(range=5)])
    with pytest.raises(WorkloadError):
        optimize([query("a"), query("A")])


def test_no_queries_make_an_empty_plan():
    plan = optimize([], rate=1.0, strategy="weave")
    assert (plan.cost, len(plan.trees)) == (0.0, 0)
    assert "0 queries" in plan.explain()


@pytest.mark.parametrize("edges", ["exact", "f1", "f1_table", "bitset"])
def test_edges_are_counted_the_same_by_every_method(edges):
    asked = [Window(range=r, slide=s) for r, s in ((12, 9), (10, 6), (8, 4), (21, 7))]
    plan = optimize(asked, rate=2.0, strategy="weave", edges=edges)
    assert plan.cost == pytest.approx(optimize(asked, rate=2.0, strategy="weave").cost)
    assert plan.report.edges == edges
