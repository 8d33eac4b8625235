"""min_by and max_by, by the rules of Spark's update and merge."""

import math

from weft.algebra.by import MAX_BY, MIN_BY
from weft.algebra.monoid import Monoid


def by(monoid: Monoid, *rows: tuple[object, object]) -> object:
    return monoid.fold(*(monoid.lift(*row) for row in rows))[1]


def test_ties_go_to_the_newer_and_null_orders_are_skipped() -> None:
    # The rows and answers of Spark 4.3.
    rows = [(1, 1), (None, 2), (3, None), (4, 2), (5, 1)]
    assert (by(MAX_BY, *rows), by(MIN_BY, *rows)) == (4, 5)


def test_the_value_may_be_null() -> None:
    assert by(MAX_BY, (1, 1), (None, 2)) is None


def test_nan_is_the_greatest() -> None:
    assert (by(MAX_BY, (1, math.nan), (2, 5.0)), by(MIN_BY, (1, math.nan), (2, 5.0))) == (1, 2)
