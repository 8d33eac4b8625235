"""Queries: as given, their meaning, and why some are refused."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest

from weft.algebra.part import Part
from weft.errors import AggregateError, ExpressionError, QueryError, WindowError
from weft.query.query import Query
from weft.query.source import Source
from weft.query.window import Window

HOUR = Window(range="1 hour", slide="10 minutes")


def query(name: str = "q", **given: Any) -> Query:
    return Query(name, **{"aggs": {"n": "count(*)"}, "window": HOUR, **given})


def test_fields_are_as_given() -> None:
    aggs = {"value": "SUM(price*volume)", "n": "count(*)"}
    q = query("big", aggs=aggs, where="50 < Volume", by=["Symbol", "upper(x) AS u"], having="n > 1")
    assert (q.name, q.aggs, q.window, q.where) == ("big", aggs, HOUR, "50 < Volume")
    assert (q.by, q.having, q.source) == (("Symbol", "upper(x) AS u"), "n > 1", None)
    assert list(q.aggs) == ["value", "n"]


def test_aggs_are_a_copy() -> None:
    aggs = {"n": "count(*)"}
    q = query(aggs=aggs)
    aggs["m"] = "max(x)"
    q.aggs["o"] = "min(x)"
    assert q.aggs == {"n": "count(*)"}


def test_a_string_is_one_key() -> None:
    assert query(by="symbol").by == ("symbol",)


def test_what_is_derived() -> None:
    q = query(
        aggs={"avg": "avg(price)", "sum": "sum(price)", "spread": "max(price) - min(price)"},
        where="NOT (volume <= 50)",
        by=["upper(Symbol) AS s"],
        having="spread > 1 AND count(price) > 10",
    )
    assert q.predicate == "volume > 50"
    assert [(key.name, key.expression) for key in q.keys] == [("s", "upper(symbol)")]
    assert [call.function for call in q.calls] == ["avg", "sum", "max", "min", "count"]
    assert q.parts == tuple(Part(kind, ("price",)) for kind in ("sum", "count", "max", "min"))
    assert q.columns == {"price", "volume", "symbol"}
    assert [output.name for output in q.outputs] == ["avg", "sum", "spread"]


def test_having_speaks_of_outputs_keys_and_the_window() -> None:
    q = query(
        aggs={"hi": "max(p)"},
        by="k",
        having="Hi > 5 AND k <> 'x' AND window.start > TIMESTAMP '2024-01-01' AND upper(k) = 'A'",
    )
    assert q.having_filter is not None
    assert q.having_filter.expression == (
        "k <> 'x' AND upper(k) = 'A' AND window.start > TIMESTAMP '2024-01-01' AND {0} > 5"
    )
    assert q.having_filter.native.startswith("(max(p)) > 5 AND k <> 'x'")


EQUAL = [
    ({"where": "50 < volume"}, {"where": "volume > 50"}),
    ({"aggs": {"n": "count(1)"}}, {"aggs": {"n": "COUNT(*)"}}),
    ({"by": "symbol"}, {"by": ["SYMBOL"]}),
    ({"having": "n > 5"}, {"having": "count(*) > 5"}),
    ({"window": Window(range="60 minutes", slide="10 minutes")}, {}),
    ({"source": Source("t", "ts")}, {}),
]
DIFFERENT = [
    ({"where": "volume > 50"}, {"where": "volume > 51"}),
    ({"aggs": {"n": "count(*)"}}, {"aggs": {"m": "count(*)"}}),
    ({"by": "symbol"}, {}),
    ({"by": ["a", "b"]}, {"by": ["b", "a"]}),
    ({"having": "n > 5"}, {}),
    ({"window": Window(range="1 hour")}, {}),
    ({"name": "other"}, {}),
]


@pytest.mark.parametrize(("one", "other"), EQUAL)
def test_equal_in_meaning(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert query(**one) == query(**other)
    assert hash(query(**one)) == hash(query(**other))


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different_in_meaning(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert query(**one) != query(**other)
    assert query() != "q"


def test_a_query_is_frozen() -> None:
    with pytest.raises(AttributeError):
        query().name = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"where": "s = 'it''s'", "by": ["a", "b > 5 AS c"], "having": "n > 1"},
        {"source": Source("db.t", "ts"), "aggs": {"z": "max(x)", "a": "min(x)"}},
    ],
)
def test_to_dict_pickle_and_repr(given: dict[str, Any]) -> None:
    q = query(**given)
    back = Query.from_dict(json.loads(json.dumps(q.to_dict())))
    assert back == q
    assert back.to_dict() == q.to_dict()
    assert pickle.loads(pickle.dumps(q)) == q
    assert eval(repr(q)) == q


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        ({"aggs": {}}, QueryError, r"aggs=\{\}: at least one output is needed"),
        ({"aggs": "count(*)"}, QueryError, "at least one output is needed"),
        ({"aggs": {"n": 5}}, ExpressionError, r"aggs\['n'\]=5 is not a string"),
        ({"aggs": {"n": "sum(x"}}, ExpressionError, r"aggs\['n'\]='sum\(x': .*line 1, column"),
        ({"aggs": {"n": "price"}}, AggregateError, r"aggs\['n'\]='price': column price is not"),
        ({"aggs": {"n": "histogram_numeric(x, 5)"}}, AggregateError, "approx_percentile"),
        ({"aggs": {"n": "sum(max(x))"}}, AggregateError, "aggregates do not nest"),
        ({"aggs": {"n": "count(*)", "N": "max(x)"}}, QueryError, "'N' is already"),
        ({"aggs": {"window": "count(*)"}}, QueryError, "the window's column"),
        ({"window": "1 hour"}, WindowError, "window='1 hour' is not a Window"),
        ({"where": 5}, ExpressionError, "where=5 is not a string"),
        ({"where": ""}, ExpressionError, "where='': the expression is empty"),
        ({"where": "rand() > 1"}, ExpressionError, r"where='rand\(\) > 1': rand is not determini"),
        ({"where": "sum(x) > 1"}, ExpressionError, "sum is an aggregate"),
        ({"by": [5]}, ExpressionError, r"by\[0\]=5 is not a string"),
        ({"by": ["a", "upper(b)"]}, ExpressionError, r"by\[1\]='upper\(b\)': .*needs a name"),
        ({"by": ["a", "A"]}, QueryError, "by: the name 'A' is already"),
        ({"by": ["n"]}, QueryError, "aggs: the name 'n' is already the name of a key"),
        ({"having": "price > 1"}, AggregateError, "having='price > 1': column price is not under"),
        ({"having": "max("}, ExpressionError, "having='max.': .*cannot be read"),
    ],
)
def test_refused(given: dict[str, Any], kind: type[QueryError], message: str) -> None:
    with pytest.raises(kind, match=f"^query 'q': .*{message}") as caught:
        query(**given)
    assert str(caught.value).count("query 'q'") == 1
    assert type(caught.value) is kind


def test_the_name_is_checked_first() -> None:
    with pytest.raises(QueryError, match="name='a/b' cannot name a query"):
        query("a/b")
