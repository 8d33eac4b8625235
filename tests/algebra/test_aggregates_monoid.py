"""The laws of every monoid: those claimed hold, those not claimed have a counterexample."""

from __future__ import annotations

from typing import Any

import pytest
from aggregate_cases import CASES, NAN, Case
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.algebra.registry import KINDS

EACH = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
SETTINGS = settings(max_examples=40, deadline=None)


def test_every_kind_has_a_case() -> None:
    assert {case.part.kind for case in CASES.values()} == set(KINDS)


@EACH
@SETTINGS
@given(data=st.data())
def test_combine_is_associative(case: Case, data: st.DataObject) -> None:
    a, b, c = (data.draw(case.partial) for _ in range(3))
    combine = case.monoid.combine
    assert case.equal(combine(combine(a, b), c), combine(a, combine(b, c)))


@EACH
@SETTINGS
@given(data=st.data())
def test_identity_is_neutral(case: Case, data: st.DataObject) -> None:
    a, monoid = data.draw(case.partial), case.monoid
    assert case.equal(monoid.combine(a, monoid.identity), a)
    assert case.equal(monoid.combine(monoid.identity, a), a)


@EACH
def test_a_partial_has_a_value_for_each_component(case: Case) -> None:
    monoid = case.monoid
    lifted = monoid.lift(*(1 for _ in case.part.args))
    assert len(monoid.identity) == len(lifted) == len(monoid.components)
    for templates in (monoid.partial_sql, monoid.merge_sql):
        assert templates is None or len(templates) == len(monoid.components)


@EACH
def test_nulls_lift_to_the_identity_unless_the_row_itself_counts(case: Case) -> None:
    lifted = case.monoid.lift(*(None for _ in case.part.args))
    if case.part.kind in ("first", "last"):
        assert lifted == (True, None)
    else:
        assert case.equal(lifted, case.monoid.identity)


@EACH
@SETTINGS
@given(data=st.data())
def test_claimed_laws_hold(case: Case, data: st.DataObject) -> None:
    a, b, monoid = data.draw(case.partial), data.draw(case.partial), case.monoid
    if monoid.laws.commutative:
        assert case.equal(monoid.combine(a, b), monoid.combine(b, a))
    if monoid.laws.idempotent:
        assert case.equal(monoid.combine(a, a), a)
    if monoid.laws.invertible:
        assert monoid.subtract is not None
        left = monoid.subtract(monoid.combine(a, b), a)
        # With no rows left, the result is zero, not null; Part.counted() tells them apart.
        assert case.equal(left, b) or (b == monoid.identity and left[0] == 0)
    else:
        assert monoid.subtract is None


# Rows of two partials, as counterexamples to a law.
NOT_COMMUTATIVE: dict[str, tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]] = {
    "first": ([(1,)], [(2,)]),
    "last": ([("a",)], [("b",)]),
    "first_valid": ([(1,)], [(2,)]),
    "last_valid": ([(1.0,)], [(2.0,)]),
    **dict.fromkeys(
        ("first_at", "last_at", "first_valid_at", "last_valid_at", "min_by", "max_by"),
        ([("a", 7)], [("b", 7)]),
    ),
    "list": ([(1.0,)], [(2.0,)]),
    "list_at": ([("a", 7)], [("b", 7)]),
    "first_n": ([(1,)], [(2,)]),
    "last_n": ([(1,)], [(2,)]),
    "first_n_at": ([("a", 7)], [("b", 7)]),
    "last_n_at": ([("a", 7)], [("b", 7)]),
}
NOT_IDEMPOTENT: dict[str, list[tuple[Any, ...]]] = {
    "count": [(1,)],
    "count of two": [(1, "a")],
    "counts": [(1.5,)],
    "counts of texts": [("a",)],
    "sum": [(1,)],
    "sum of decimals": [(1,)],
    "try_sum": [(1,)],
    "product": [(2.0,)],
    "moments": [(1.0,)],
    "moments4": [(1.0,)],
    "comoments": [(1.0, 2.0)],
    "bit_xor": [(1,)],
    "list": [(1.0,)],
    "list_at": [("a", 1)],
    "first_n": [(1,)],
    "last_n": [(1,)],
    "first_n_at": [("a", 1)],
    "last_n_at": [("a", 1)],
    "kll": [(1.0,), (2.0,), (2.0,)],
}
# Combined with `a`, the rows x and y give the same partial: subtracting `a` cannot restore both.
_LOST: tuple[list[tuple[Any, ...]], ...] = ([(9,)], [(1,)], [(2,)])
NOT_INVERTIBLE: dict[str, tuple[list[tuple[Any, ...]], ...]] = {
    "product": ([(0.0,)], [(2.0,)], [(4.0,)]),
    "min": ([(-9.0,)], [(1.0,)], [(2.0,)]),
    "min of strings": ([("a",)], [("b",)], [("z",)]),
    "max": ([(NAN,)], [(1.0,)], [(2.0,)]),
    "max of decimals": _LOST,
    "moments": ([(1e30,)], [(1.0,)], [(2.0,)]),
    "moments4": ([(1e30,)], [(1.0,)], [(2.0,)]),
    "comoments": ([(1e30, 1e30)], [(1.0, 1.0)], [(2.0, 1.0)]),
    "first": _LOST,
    "first_valid": _LOST,
    "first_at": ([("a", 0)], [("b", 1)], [("c", 2)]),
    "first_valid_at": ([("a", 0)], [("b", 1)], [("c", 2)]),
    "last_at": ([("a", 9.0)], [("b", 1.0)], [("c", 2.0)]),
    "last_valid_at": ([(1, 9)], [(2, 1)], [(3, 2)]),
    "min_by": ([("a", -9.0)], [("b", 1.0)], [("c", 2.0)]),
    "max_by": ([(1, NAN)], [(2, 1.0)], [(3, 2.0)]),
    "bool_and": ([(False,)], [(True,)], [(False,)]),
    "bool_or": ([(True,)], [(True,)], [(False,)]),
    "bit_and": ([(0,)], [(1,)], [(2,)]),
    "bit_or": ([(3,)], [(1,)], [(2,)]),
    "set": ([(1.0,), (2.0,)], [(1.0,)], [(2.0,)]),
    "set of pairs": ([("a", 1), ("b", 2)], [("a", 1)], [("b", 2)]),
    "first_n": ([(1,), (1,), (1,)], [(1,)], [(2,)]),
    "first_n_at": ([("a", 0), ("a", 0), ("a", 0)], [("b", 1)], [("c", 2)]),
    "last_n_at": ([("a", 9), ("a", 9), ("a", 9)], [("b", 1)], [("c", 2)]),
    "hll": ([(1,), (2,)], [(1,)], [(1,), (2,)]),
}
# Invertible in principle, but it would not pay: the newest values say nothing about earlier ones.
NOT_OFFERED = {
    "try_sum",
    "last",
    "last_valid",
    "list",
    "list_at",
    "last_n",
    "kll",
    "counts",
    "counts of texts",
}


@EACH
def test_laws_that_are_not_claimed_fail(case: Case) -> None:
    name = next(name for name, known in CASES.items() if known is case)
    laws, combine = case.monoid.laws, case.monoid.combine
    assert laws.commutative == (name not in NOT_COMMUTATIVE)
    assert laws.idempotent == (name not in NOT_IDEMPOTENT)
    assert laws.invertible == (name not in NOT_INVERTIBLE and name not in NOT_OFFERED)
    if name in NOT_COMMUTATIVE:
        a, b = (case.of_rows(rows) for rows in NOT_COMMUTATIVE[name])
        assert not case.equal(combine(a, b), combine(b, a))
    if name in NOT_IDEMPOTENT:
        a = case.of_rows(NOT_IDEMPOTENT[name])
        assert not case.equal(combine(a, a), a)
    if name in NOT_INVERTIBLE:
        a, x, y = (case.of_rows(rows) for rows in NOT_INVERTIBLE[name])
        assert case.equal(combine(a, x), combine(a, y))
        assert not case.equal(x, y)


@EACH
@SETTINGS
@given(data=st.data())
def test_order_says_what_may_be_combined_in_any_order(case: Case, data: st.DataObject) -> None:
    """`ties`: if all keys differ, the result does not depend on the order of combining."""
    monoid = case.monoid
    if monoid.order != "ties":
        assert (monoid.order == "any") == monoid.laws.commutative
        return
    rows = [("abcdef"[key], key) for key in data.draw(st.permutations(range(6)))]
    shuffled = data.draw(st.permutations(rows))
    assert case.equal(case.of_rows(rows), case.of_rows(shuffled))
