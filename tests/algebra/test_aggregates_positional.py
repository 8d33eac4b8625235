"""First and last: by the order of slices, or by the order column."""

import pytest

from weft.algebra import positional
from weft.algebra.part import Part
from weft.algebra.positional import FIRST, FIRST_VALID, LAST, LAST_VALID, ordered


def test_a_null_first_value_is_a_value() -> None:
    assert FIRST.fold(FIRST.lift(None), FIRST.lift(1)) == (True, None)
    assert LAST.fold(LAST.lift(1), LAST.lift(None)) == (True, None)


def test_a_slice_without_rows_decides_nothing() -> None:
    assert FIRST.fold(FIRST.identity, FIRST.lift(2)) == (True, 2)
    assert LAST.fold(LAST.lift(2), LAST.identity) == (True, 2)


def test_ignoring_nulls() -> None:
    assert FIRST_VALID.fold((None,), (1,), (2,)) == (1,)
    assert LAST_VALID.fold((1,), (2,), (None,)) == (2,)


@pytest.mark.parametrize(
    ("monoid", "answer"),
    [
        (positional.FIRST_AT, (1, None)),
        (positional.FIRST_VALID_AT, (2, "b")),
        (positional.LAST_AT, (9, None)),
        (positional.LAST_VALID_AT, (5, "a")),
    ],
    ids=lambda value: getattr(value, "kind", None),
)
def test_by_the_order_column(monoid: positional.Monoid, answer: tuple[object, ...]) -> None:
    rows = [("a", 5), (None, 9), ("b", 2), (None, 1), ("lost", None)]
    assert monoid.fold(*(monoid.lift(*row) for row in rows)) == answer


def test_equal_times_keep_the_older_first_and_the_newer_last() -> None:
    rows = [("old", 5), ("new", 5)]
    first, last = positional.FIRST_AT, positional.LAST_AT
    assert first.fold(*(first.lift(*row) for row in rows)) == (5, "old")
    assert last.fold(*(last.lift(*row) for row in rows)) == (5, "new")


def test_ordered_keeps_filter_and_other_kinds() -> None:
    assert ordered(Part("last_valid", ("x",), "y"), "ts") == Part("last_valid_at", ("x", "ts"), "y")
    assert ordered(Part("max", ("x",)), "ts") == Part("max", ("x",))
