"""Which query made a micro-batch fail, by the text of the error."""

from __future__ import annotations

from dataclasses import replace

import pytest

from weft.query.query import Query
from weft.query.window import Window
from weft.stream.catalogue import Catalogue, Failure, Settings
from weft.stream.columns import Column
from weft.stream.culprits import Asking, judge
from weft.stream.evolve import first_catalogue
from weft.stream.planning import stream_plan

W = Window(range="1 minute")
CAST = "CAST(s AS INT)"
QUERIES = [
    Query("all", aggs={"n": "sum(cast(s as int))"}, window=W),
    Query("some", aggs={"n": "sum(cast(s as int))"}, window=W, where="x > 1"),
    Query("few", aggs={"n": "sum(cast(s as int))"}, window=W, where="x > 9"),
    Query("ratio", aggs={"r": "sum(x) / count(y)"}, window=W, having="max(x) > 0"),
]
SETTINGS = Settings("ts", "timestamp", "5 minutes", (3, 4), 2, "append")
CATALOGUE = first_catalogue(stream_plan(QUERIES), SETTINGS)
GUARDS = frozenset(("x > 1", "x > 9"))


def error(line: int) -> str:
    return f"[CAST_INVALID_INPUT] bad value\n== SQL (line {line}, position 9) ==\n..."


def asking(*columns: Column) -> Asking:
    askers = {CAST: {None: {"all"}, "x > 1": {"some"}, "x > 9": {"few"}}}
    return Asking(CATALOGUE.entries, columns, askers, (4,))


def names(verdict) -> list[str]:
    return [failure.query.name for failure in verdict.failures]


def test_an_expression_of_every_row_is_of_those_that_take_every_row():
    verdict = judge(error(2), "bad value", 7, asking(Column("c0", CAST, None, False)))
    assert names(verdict) == ["all"]
    (failure,) = verdict.failures
    assert failure.expression == "sum(cast(s as int))"
    assert "query 'all' failed at micro-batch 7 in sum(cast(s as int)): bad value" in failure.said


def test_of_several_conditions_each_is_tried_by_itself():
    plain, shared = Column("c0", "x", None, False), Column("c1", CAST, GUARDS, False)
    verdict = judge(error(4), "bad value", 7, asking(plain, shared))
    assert names(verdict) == []
    assert [probe.guards for probe in verdict.probes] == [{"x > 1"}, {"x > 9"}]
    again = asking(plain, shared, *verdict.probes)
    assert names(judge(error(2 * 3 + 2), "bad value", 7, again)) == ["few"]


def test_what_nobody_asks_for_is_nobodys_fault():
    verdict = judge(error(2), "bad value", 7, asking(Column("c0", "100 / x", None, False)))
    assert verdict is not None
    assert (verdict.failures, verdict.probes) == ((), ())


def test_outputs_and_numbers():
    assert names(judge(error(3), "bad value", 7, asking())) == ["ratio"]
    text = "x\n[weft query 2] sum overflows\n[weft query 3] sum overflows\n at y"
    verdict = judge(text, "", 7, asking())
    assert names(verdict) == ["some", "few"]
    assert verdict.failures[0].message == "sum overflows"


@pytest.mark.parametrize(
    "text", ["disk full", error(1), error(900), error(901), "[weft query 99] x"]
)
def test_who_cannot_be_found_is_not_blamed(text):
    assert judge(text, "", 7, asking()) is None


def test_failures_are_kept_in_the_catalogue():
    failure = Failure(2, QUERIES[1].as_trusted(), 7, "bad value", "sum(cast(s as int))")
    kept = replace(CATALOGUE, failed=(failure,))
    read = Catalogue.from_dict(kept.to_dict())
    assert read.failed == (failure,)
    assert read.failed[0].query.trusted
