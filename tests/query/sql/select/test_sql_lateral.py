"""Aliases that later items of SELECT use."""

from __future__ import annotations

import pytest

from weft.errors import QueryError
from weft.query.sql import parse_query

KEYED = "FROM t GROUP BY window(ts, '1 hour'), k"


@pytest.mark.parametrize(
    ("items", "aggs", "absent"),
    [
        (
            "sum(v) AS s, count(*) AS n, s / n AS m, m * 2 AS d",
            {"m": "(sum(v)) / (count(*))", "d": "((sum(v)) / (count(*))) * 2"},
            ("s", "n", "m"),
        ),
        (
            "count_if(x > 1) AS bad, CASE WHEN BAD > 9 THEN 'hot' END AS state",
            {"state": "CASE WHEN (count_if(x > 1)) > 9 THEN 'hot' END"},
            ("bad",),
        ),
    ],
)
def test_an_alias_is_what_it_stands_for(items: str, aggs: dict[str, str], absent: tuple) -> None:
    query = parse_query(f"SELECT k, {items} {KEYED}")
    assert {name: query.aggs[name] for name in aggs} == aggs
    assert query.source is not None
    assert query.source.absent == absent


def test_an_alias_of_the_window_is_the_window() -> None:
    query = parse_query(f"SELECT window.end AS e, e + INTERVAL 1 DAY AS f, count(*) AS n {KEYED}")
    assert query.shown is not None
    assert query.shown[1] == ("window.end + INTERVAL 1 DAY", "f")


@pytest.mark.parametrize(
    "items",
    [
        "sum(v) AS v, v / 2 AS half",  # v is a column
        "k AS j, sum(j) AS v, v / 2 AS half, max(v) AS w",  # so it is here
        "sum(a) AS s, sum(b) AS s, s / 2 AS half",
        "s / 2 AS half, sum(a) AS s",
    ],
)
def test_a_column_and_an_unclear_name_are_no_alias(items: str) -> None:
    with pytest.raises(QueryError):
        parse_query(f"SELECT {items} {KEYED}")


def test_in_an_aggregate_a_name_is_a_column() -> None:
    query = parse_query(f"SELECT k || 'x' AS w, sum(w) AS s {KEYED}")
    assert query.aggs == {"s": "sum(w)"}
    assert query.source is not None
    assert query.source.absent == ()


def test_a_key_of_which_an_alias_is_made_is_a_column() -> None:
    query = parse_query(f"SELECT upper(k) AS k, count(*) AS n {KEYED}")
    assert query.by == ("k",)
    assert query.shown == (("upper(`k`)", "k"), ("`n`", "n"))
    assert query.source is not None
    assert query.source.absent == ()


def test_aliases_that_double_each_other_are_refused() -> None:
    items = ["sum(x) AS a0", *(f"a{n} + a{n} AS a{n + 1}" for n in range(40))]
    with pytest.raises(QueryError, match="over 2,000 parts: compute them in a subquery"):
        parse_query(f"SELECT {', '.join(items)} FROM t GROUP BY window(ts, '1 hour')")
