"""Lists and sets of values."""

import math

from weft.algebra.collected import LIST, LIST_AT
from weft.algebra.part import Part
from weft.algebra.registry import monoid_of

SET = monoid_of(Part("set", ("x",)))
PAIRS = monoid_of(Part("set", ("x", "y")))


def test_list_skips_nulls_and_keeps_order() -> None:
    assert LIST.fold(LIST.lift(3), LIST.lift(None), LIST.lift(1)) == ((3, 1),)


def test_set_holds_nan_and_zero_once() -> None:
    values = [math.nan, math.nan, 0.0, -0.0, 1.0, None]
    (found,) = SET.fold(*map(SET.lift, values))
    assert len(found) == 3


def test_set_of_pairs_needs_both() -> None:
    rows = [(1, "a"), (1, "a"), (1, None), (2, "a")]
    assert PAIRS.fold(*(PAIRS.lift(*row) for row in rows)) == (((1, "a"), (2, "a")),)


def test_first_and_last_n() -> None:
    for kind, kept in (("first_n", (1, 2)), ("last_n", (3, 4))):
        monoid = monoid_of(Part(kind, ("x",), None, (2,)))
        assert monoid.fold(*map(monoid.lift, [1, None, 2, 3, 4])) == (kept,)


def test_by_the_order_column() -> None:
    rows = [("c", 3), ("a", 1), (None, 2), ("b", 2), ("lost", None)]
    assert LIST_AT.fold(*(LIST_AT.lift(*row) for row in rows)) == (((1, "a"), (2, "b"), (3, "c")),)
    for kind, kept in (("first_n_at", ((1, "a"),)), ("last_n_at", ((3, "c"),))):
        monoid = monoid_of(Part(kind, ("x", "ts"), None, (1,)))
        assert monoid.fold(*(monoid.lift(*row) for row in rows)) == (kept,)
