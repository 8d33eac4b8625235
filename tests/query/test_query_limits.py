"""Limits of a query: parsed from the forms that users write, and stored with the query."""

from __future__ import annotations

import pytest

from weft.errors import QueryError
from weft.query.files import read_entry
from weft.query.query import Query
from weft.query.query_limits import QueryLimits
from weft.query.window import Window


def query(**options):
    return Query("q", aggs={"n": "count(*)"}, window=Window(range="1 hour"), **options)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"groups": 0}, "groups=0 must be a number, at least 1"),
        ({"answers": True}, "answers=True must be a number"),
        ({"share": 1.5}, "share=1.5 must be a number, more than 0, at most 1"),
        ({"state_bytes": "much"}, "state_bytes='much' is not a size such as 500000 or '2 GB'"),
        ({"group": 5}, "'group' is not a limit: accepted are state_bytes, groups, answers"),
        ({"groups": 5, "over": "stop"}, "over='stop': accepted are fail, pause"),
    ],
)
def test_what_is_not_a_limit_is_refused_with_the_query_s_name(given, said):
    with pytest.raises(QueryError, match="query 'q': limits: ") as error:
        query(limits=given)
    assert said in str(error.value)


@pytest.mark.parametrize(("size", "found"), [("2 GB", 2e9), ("1.5MB", 1.5e6), ("700", 700)])
def test_sizes_have_units(size, found):
    assert QueryLimits.of({"state_bytes": size}) == QueryLimits(state_bytes=int(found))


def test_on_a_command_line():
    assert QueryLimits.read("groups=1_000, share=0.5, over=pause") == QueryLimits(
        groups=1000, share=0.5, over="pause"
    )
    assert QueryLimits.read("none") is None
    with pytest.raises(QueryError, match="answers='many' is not a number"):
        QueryLimits.read("answers=many")


def test_a_query_keeps_them_and_means_the_same_without():
    limited = query(limits={"groups": 10, "over": "pause"})
    assert limited == query()
    assert Query.from_dict(limited.to_dict()).limits == QueryLimits(groups=10, over="pause")
    assert limited.limited(None).limits is None
    assert query(limits={"over": "pause"}).limits is None


def test_a_file_says_them_of_sql_too():
    sql = "SELECT count(*) AS n FROM t GROUP BY window(ts, '1 hour')"
    (found,) = read_entry({"sql": sql, "limits": {"answers": 7}}, 1)
    assert found.limits == QueryLimits(answers=7)
    fields = {"name": "q", "aggs": {"n": "count(*)"}, "range": "1 hour", "limits": {"share": 1}}
    assert read_entry(fields, 1)[0].limits == QueryLimits(share=1)


@pytest.mark.parametrize("given", [5, "groups=5", [1]])
def test_limits_are_a_mapping(given):
    with pytest.raises(QueryError, match="is not a mapping"):
        QueryLimits.of(given)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_numbers_without_an_end_are_no_limits(value):
    with pytest.raises(QueryError, match="must be a number"):
        QueryLimits(share=value)
