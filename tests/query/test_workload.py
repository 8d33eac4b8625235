"""Workloads have one stream and one axis, and each name once."""

from __future__ import annotations

import pytest

from weft.errors import WorkloadError
from weft.query.query import Query
from weft.query.window import Window
from weft.query.workload import Workload


def query(name: str, **window: str | int) -> Query:
    return Query(name, aggs={"n": "count(*)"}, window=Window(**(window or {"range": "1 hour"})))


def test_order_is_kept() -> None:
    load = Workload([query("b"), query("a")], rate=5)
    assert load.names == ("b", "a")
    assert [q.name for q in load] == ["b", "a"]
    assert (len(load), load.rate, load.axis) == (2, 5.0, "time")


def test_names_are_found_without_case() -> None:
    load = Workload([query("Big")])
    assert "BIG" in load
    assert "other" not in load
    assert load["big"].name == "Big"


def test_add_and_drop_make_new_workloads() -> None:
    load = Workload([query("a")], rate=3.0)
    more = load.add(query("b"), query("c"))
    assert load.names == ("a",)
    assert more.drop("A", "c").names == ("b",)
    assert more.rate == more.drop("a").rate == 3.0


def test_empty() -> None:
    assert (len(Workload()), Workload().axis) == (0, None)


def test_equality() -> None:
    assert Workload([query("a")]) == Workload([query("a")])
    assert Workload([query("a")]) != Workload([query("a")], rate=1.0)


@pytest.mark.parametrize("rate", [0, -1.0, float("inf"), float("nan"), "5"])
def test_rates(rate: object) -> None:
    with pytest.raises(WorkloadError, match=r"rate=.* is not a number of rows per second above 0"):
        Workload([], rate=rate)  # type: ignore[arg-type]


def test_refused() -> None:
    with pytest.raises(WorkloadError, match="query 'A': the name is taken by query 'a'"):
        Workload([query("a"), query("A")])
    with pytest.raises(WorkloadError, match=r"query 'b': .* is on the integer axis, query 'a' on"):
        Workload([query("a"), query("b", range=10)])
    with pytest.raises(WorkloadError, match="5 is not a Query"):
        Workload([5])  # type: ignore[list-item]
    with pytest.raises(WorkloadError, match="there is no query 'b'; there are: 'a'"):
        Workload([query("a")]).drop("b")
