"""Fragments: for every row exactly the predicates that three-valued logic makes TRUE."""

from __future__ import annotations

import pickle
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from logic import ROWS, Known, predicates

from weft.engine.fragments.atoms import Condition, IntervalIndex
from weft.engine.fragments.fragments import FragmentLimits, FragmentPlan, plan_fragments
from weft.errors import PlanError
from weft.query.expression import normalise

TYPES = {"i": "int", "d": "double", "s": "string", "f": "boolean"}
COLUMNS = {
    "i": pa.array([row["i"] for row in ROWS], pa.int32()),
    "d": pa.array([row["d"] for row in ROWS], pa.float64()),
    "s": pa.array([row["s"] for row in ROWS], pa.string()),
    "f": pa.array([row["f"] for row in ROWS], pa.bool_()),
}


def types(_: Sequence[str]) -> dict[str, str]:
    return TYPES


def plan_of(asked: Sequence[str | None], **limits: int) -> FragmentPlan:
    return plan_fragments(asked, types, FragmentLimits(**limits))


def values(plan: FragmentPlan, known: dict[str, Known]) -> list[pa.Array]:
    """The values that Spark would compute: columns, and opaque conditions evaluated in Python."""
    found = []
    for atom in plan.atoms.values():
        if atom.sql in COLUMNS:
            found.append(COLUMNS[atom.sql])
        else:
            truth = known[atom.sql].of
            found.append(pa.array([truth(row) for row in ROWS], pa.bool_()))
    return found


@given(st.lists(predicates(), min_size=1, max_size=12), st.sampled_from([0, 3]))
@settings(max_examples=250, deadline=None)
def test_every_row_satisfies_what_logic_says(drawn: list[Known], few: int) -> None:
    known = {normalise(predicate.sql): predicate for predicate in drawn}
    plan = plan_of(list(known), few=few)
    codes = plan.codes(plan.states(values(plan, known)))
    found = plan.members(codes)
    for column, predicate in enumerate(known.values()):
        expected = [predicate.of(row) is True for row in ROWS]
        assert found[:, column].tolist() == expected, predicate.sql
    nothing = ~found.any(axis=1)
    assert (np.logical_and.reduce([word == 0 for word in codes]) == nothing).all()


@given(st.lists(predicates(), min_size=4, max_size=12))
@settings(max_examples=100, deadline=None)
def test_codes_are_equal_exactly_where_signatures_are(drawn: list[Known]) -> None:
    known = {normalise(predicate.sql): predicate for predicate in drawn}
    plan = plan_of(list(known), few=0)
    states = plan.states(values(plan, known))
    numbers, codes, members = plan.fragments(states)
    assert len(np.unique(members, axis=0)) == len(members)
    assert (members[numbers] == plan.members(plan.codes(states))).all()
    assert all(len(word) == len(members) for word in codes)


@given(st.lists(predicates(), min_size=6, max_size=12))
@settings(max_examples=60, deadline=None)
def test_short_tables_change_no_answer(drawn: list[Known]) -> None:
    known = {normalise(predicate.sql): predicate for predicate in drawn}
    wide, narrow = plan_of(list(known), few=0), plan_of(list(known), few=0, table_bits=3)
    assert all(len(cluster.table) <= 8 for cluster in narrow.clusters)
    found = [p.members(p.codes(p.states(values(p, known)))) for p in (wide, narrow)]
    assert (found[0] == found[1]).all()


def test_comparisons_of_one_expression_become_one_index() -> None:
    plan = plan_of([f"i > {c}" for c in range(100)] + ["f AND i <= 50", "f AND i <> 7"])
    index, flag = plan.atoms.values()
    assert isinstance(index, IntervalIndex)
    assert index.boundaries == tuple(range(1, 101))
    assert isinstance(flag, Condition)
    assert len(plan.clusters) == 1
    assert "place among" in plan.explain()


def test_only_boundaries_that_operators_tell_apart_are_kept() -> None:
    above = plan_of([f"i > {c}" for c in (1, 5, 9, 12)])
    exact = plan_of([f"i = {c}" for c in (1, 5, 9, 12)])
    assert len(next(iter(above.atoms.values())).boundaries) == 4  # type: ignore[union-attr]
    assert len(next(iter(exact.atoms.values())).boundaries) == 8  # type: ignore[union-attr]


def test_nulls_share_a_state_where_no_test_tells_them_from_the_least() -> None:
    above = plan_of([f"i > {c}" for c in range(4)])
    below = plan_of([f"i < {c}" for c in range(4)])
    assert next(iter(above.atoms.values())).null_state == 0  # type: ignore[union-attr]
    assert next(iter(below.atoms.values())).null_state == 5  # type: ignore[union-attr]


def test_predicates_on_separate_columns_do_not_multiply_their_states() -> None:
    asked = [f"f AND {column} > {c}" for column in ("i", "d") for c in range(500)]
    plan = plan_of(asked)
    assert [len(cluster.table) for cluster in plan.clusters] == [1024, 1024]
    assert plan.words == 1


def test_a_cluster_that_cannot_take_all_takes_neighbours() -> None:
    asked = [f"i > {c} AND d > {999 - c}" for c in range(1000)]
    plan = plan_of(asked)
    assert 4 <= len(plan.clusters) <= 6
    assert all(len(cluster.table) <= 1 << 16 for cluster in plan.clusters)


def test_a_predicate_with_an_atom_of_its_own_is_one_bit() -> None:
    asked = [f"f AND i > {c}" for c in range(5)] + ["f AND s LIKE 'a%'"]
    plan = plan_of(asked)
    assert "truth of f AND s LIKE 'a%'" in plan.atoms
    assert [cluster.is_plain for cluster in plan.clusters] == [False, True]


def test_a_thousand_opaque_predicates_take_several_words() -> None:
    plan = plan_of([f"s LIKE '%{c}'" for c in range(1000)])
    assert plan.words == 17
    states = {name: np.array([1, 0]) for name in plan.atoms}
    codes = plan.codes(states)
    assert all(word.min() >= 0 for word in codes)
    assert plan.members(codes).sum(axis=1).tolist() == [1000, 0]


def test_what_takes_every_row_is_always_satisfied() -> None:
    plan = plan_of(["i > 5", None])
    assert plan.keeps_all
    assert plan.members([[0, 1]]).tolist() == [[False, True], [True, True]]
    nothing = plan_of([None])
    assert nothing.words == 0
    assert nothing.members(()).tolist() == [[True]]


def test_equal_predicates_and_wrong_codes_are_refused() -> None:
    with pytest.raises(PlanError, match="distinct"):
        plan_of(["i > 5", "i > 5"])
    with pytest.raises(PlanError, match="1 words"):
        plan_of(["i > 5"]).members(([0], [0]))


def test_a_plan_is_data() -> None:
    plan = plan_of([f"f AND i > {c}" for c in range(9)])
    sent = pickle.loads(pickle.dumps(plan))
    assert sent.expressions == plan.expressions
    assert (sent.members([[3, 5]]) == plan.members([[3, 5]])).all()
