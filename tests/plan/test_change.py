"""Plans under change: queries come and go."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft import Query, Window, WindowTable, optimize
from weft.errors import PlanError, WorkloadError
from weft.plan.plan import Plan

sizes = st.tuples(st.integers(1, 40), st.integers(1, 12))


def query(name, range, slide, by=()):
    return Query(name, aggs={"n": "count(*)"}, window=Window(range=range, slide=slide), by=by)


@settings(deadline=None, max_examples=40)
@given(
    first=st.lists(sizes, min_size=1, max_size=6),
    later=st.lists(sizes, min_size=1, max_size=6),
    keys=st.lists(st.sampled_from([(), ("k",)]), min_size=12, max_size=12),
    tolerance=st.sampled_from([0.0, 0.2, float("inf")]),
    data=st.data(),
)
def test_queries_come_and_go_and_every_plan_stays_a_partition_that_costs_what_it_says(
    first, later, keys, tolerance, data
):
    asked = [query(f"q{i}", size[0], size[1], keys[i]) for i, size in enumerate([*first, *later])]
    plan = optimize(asked[: len(first)], rate=2.0, strategy="weave", tolerance=tolerance)
    grown = plan.add(asked[len(first) :])
    assert [q.name for q in grown.queries] == [q.name for q in asked]
    gone = data.draw(st.sets(st.sampled_from([q.name for q in asked])))
    shrunk = grown.drop(gone)
    stay = [q for q in asked if q.name not in gone]
    assert list(shrunk.queries) == stay
    for changed in (grown, shrunk):
        names = sorted(name for tree in changed.trees for name in tree.queries)
        assert names == sorted(q.name for q in changed.queries)
        for tree in changed.trees:
            assert len({changed.queries[row].by for row in tree.rows}) == 1
        again = Plan.from_dict(json.loads(json.dumps(changed.to_dict())))
        assert again.cost == pytest.approx(changed.cost)
        scratch = optimize(changed.queries, rate=2.0, strategy="weave")
        if tolerance == 0.0:
            assert changed.cost <= scratch.cost * (1 + 1e-9)


def test_a_new_query_joins_the_tree_that_it_weaves_with_and_the_note_says_so():
    plan = optimize([query("a", 16, 4), query("b", 10, 5)], rate=0.9, strategy="weave")
    grown = plan.add([query("c", 8, 4)])
    assert [tree.queries for tree in grown.trees] == [("a", "c"), ("b",)]
    assert grown.report.notes[0].startswith("1 added: ")
    assert [tree.queries for tree in plan.trees] == [("a",), ("b",)]  # a plan is a value


def test_a_new_kind_of_query_starts_a_group_of_its_own():
    plan = optimize([query("a", 16, 4)], rate=5.0, strategy="weave")
    grown = plan.add([query("b", 16, 4, by=["k"])])
    assert [tree.queries for tree in grown.trees] == [("a",), ("b",)]
    assert len(grown.drop("a").trees) == 1


def test_bare_windows_keep_their_names():
    plan = optimize(WindowTable(range=[16, 10, 8], slide=[4, 5, 4]), rate=0.5, strategy="weave")
    fewer = plan.drop(["q1"])
    assert list(fewer.request.names) == ["q2", "q3"]
    more = fewer.add([Window(range=12, slide=4)])
    assert list(more.request.names) == ["q2", "q3", "q4"]
    assert more.tree_of("q3").queries == ("q3", "q4")


def test_everything_may_go_and_come_back():
    plan = optimize([query("a", 16, 4)], rate=5.0, strategy="weave").drop("A")
    assert (plan.cost, len(plan.trees)) == (0.0, 0)
    assert plan.add([query("b", 8, 4)]).tree_of("b").queries == ("b",)


def test_coverage_plans_are_planned_again():
    plan = optimize([Window(range=r, slide=r) for r in (20, 30)], rate=1.0, strategy="factor")
    grown = plan.add([Window(range=40, slide=40)])
    assert grown.cost * 120 == pytest.approx(150)
    assert len(grown.drop("q2").labels) == 2


def test_what_cannot_be_added_or_dropped_is_named():
    plan = optimize([query("a", 16, 4)], rate=5.0, strategy="weave")
    with pytest.raises(WorkloadError):
        plan.add([query("A", 8, 4)])
    with pytest.raises(PlanError, match="no query 'z' in this plan; it has 'a'"):
        plan.drop("z")
    with pytest.raises(PlanError, match="takes queries"):
        plan.add([Window(range=3)])


def test_many_are_added_at_once():
    random = np.random.default_rng(0)
    slides = random.integers(1, 60, 300)
    plan = optimize(WindowTable(range=slides * 3, slide=slides), rate=0.5, strategy="weave")
    grown = plan.add(WindowTable(range=slides * 2, slide=slides))
    assert len(grown.labels) == 600
    scratch = optimize(grown.request.table, rate=0.5, strategy="weave")
    assert grown.cost <= scratch.cost * 1.2


@pytest.mark.parametrize("rule", ["middle", "slope"])
def test_a_stored_plan_changes_as_the_plan_itself_would(rule):
    asked = [query(f"q{i}", 30 + i, 1 + i % 9) for i in range(12)]
    plan = optimize(asked[:6], rate=0.9, strategy="weave", tolerance=0.1, tolerance_rule=rule)
    grown = plan.add(asked[6:9]).drop("q2")
    again = Plan.from_dict(json.loads(json.dumps(grown.to_dict())))
    assert again.request.options.tolerance_rule == rule
    assert again.floors == grown.floors
    one, other = grown.add(asked[9:]), again.add(asked[9:])
    assert one.to_dict()["labels"] == other.to_dict()["labels"]
    assert (one.floors, one.curves) == (other.floors, other.curves)
    stored = grown.to_dict()
    del stored["floors"], stored["options"]["tolerance_rule"]  # as weft 0.2 wrote it
    assert Plan.from_dict(stored).add(asked[9:]).cost > 0.0
