"""The choice of a slicing method follows the costs and says why."""

from __future__ import annotations

import pytest

from weft.engine.slicing.edges import TreeEdges
from weft.engine.slicing.method import MEASURED, choose_method
from weft.errors import PlanError

PRIMES = [101, 103, 107, 109, 113, 127, 131, 137, 139, 149, 151, 157, 163, 167, 173, 179, 181, 191]
ENDLESS = TreeEdges([(0, p) for p in PRIMES])
SHORT = TreeEdges([(offset, 720) for offset in range(0, 700, 7)])


def test_few_progressions_are_arithmetic() -> None:
    method = choose_method(TreeEdges([(0, 5)]))
    assert method.kind == "greatest"
    assert "1 progressions" in str(method)


def test_many_progressions_with_a_short_period_get_a_table() -> None:
    method = choose_method(SHORT)
    assert method.kind == "lookup"
    assert method.table is not None
    assert "one period" in method.reason


def test_a_period_without_end_is_searched_unless_the_span_is_known() -> None:
    assert choose_method(ENDLESS).kind == "search"
    method = choose_method(ENDLESS, span=(-500, 40_000))
    assert method.kind == "lookup"
    assert "span" in method.reason


def test_a_table_is_not_worth_reading_for_a_few_rows() -> None:
    assert choose_method(SHORT, rows=1e6).kind == "lookup"
    assert choose_method(SHORT, rows=10).kind == "search"


def test_more_progressions_than_the_compiler_takes_are_never_arithmetic() -> None:
    limit = MEASURED.most_progressions
    assert choose_method(TreeEdges([(k, 720) for k in range(limit + 1)]), rows=1).kind != "greatest"


def test_a_way_can_be_asked_for() -> None:
    assert choose_method(SHORT, kind="greatest").kind == "greatest"
    assert choose_method(SHORT, kind="search").kind == "search"
    with pytest.raises(PlanError, match="no table of at most"):
        choose_method(ENDLESS, kind="lookup")
    with pytest.raises(PlanError, match="'hash'"):
        choose_method(SHORT, kind="hash")  # type: ignore[arg-type]
