"""The costs of queries and owners: who is charged for which micro-batch, and for how long."""

from __future__ import annotations

import csv
import io

import pytest

from weft import Query, Window, optimize
from weft.errors import QueryError
from weft.stream.catalogue import Catalogue, Failure, Settings
from weft.stream.evolve import first_catalogue, next_catalogue
from weft.stream.ledger import DROPPED, Cost, Ledger, LedgerFile, as_csv, by_owner
from weft.stream.progress import Progress

SETTINGS = Settings("ts", "timestamp", "1 minute", (0, 1), 1, "append")


def query(name: str, owner: str | None = None, minutes: int = 10) -> Query:
    window = Window(range=f"{minutes} minutes")
    return Query(name, aggs={"n": "count(*)"}, window=window, owner=owner)


def catalogue(*queries: Query) -> Catalogue:
    return first_catalogue(optimize(list(queries), rate=10.0, strategy="share_all"), SETTINGS)


def figures(
    catalogue: Catalogue, answers: dict[str, int], *, merging: float, answering: float, held: int
) -> list[dict]:
    """One bucket's report on a micro-batch in which all queries have the same store."""
    numbers = {entry.query.name: entry.number for entry in catalogue.entries}
    store = {"merging": merging, "answering": answering, "bytes": held, "shards": 0, "cuts": 0}
    given = {str(numbers[name]): count for name, count in answers.items()}
    number = catalogue.entries[0].assignments[-1].store
    return [{"bucket": 0, "answers": given, "stores": {str(number): store}}]


def lines(ledger: Ledger) -> dict[tuple[str, str], Cost]:
    return {(cost.owner, cost.query): cost for cost in ledger.costs()}


def test_seconds_answers_and_state_go_to_the_queries_that_ran():
    both = catalogue(query("a", "ann"), query("b"))
    told = figures(both, {"a": 3, "b": 1}, merging=2.0, answering=2.0, held=1000)
    ledger = Ledger()
    ledger.add(0, both, told, at=100.0)
    ledger.add(1, both, told, at=110.0)
    a, b = lines(ledger)["ann", "a"], lines(ledger)["unowned", "b"]
    assert (a.seconds, b.seconds) == (5.0, 3.0)
    assert (a.share, b.share) == (0.625, 0.375)
    assert (a.answers, b.answers) == (6, 2)
    assert (a.state_bytes, b.state_bytes) == (500, 500)
    assert (a.state_byte_seconds, b.state_byte_seconds) == (5000.0, 5000.0)


def test_a_query_that_comes_later_pays_nothing_for_what_was_before_it():
    one = catalogue(query("a", "ann"))
    ledger = Ledger()
    ledger.add(0, one, figures(one, {"a": 1}, merging=4.0, answering=0.0, held=80), at=0.0)
    both = next_catalogue(one, one.planned.add([query("b", "bob")]), Progress(0, 0, 0))
    ledger.add(1, both, figures(both, {}, merging=2.0, answering=0.0, held=80), at=10.0)
    assert {name: cost.seconds for name, cost in lines(ledger).items()} == {
        ("ann", "a"): 5.0,
        ("bob", "b"): 1.0,
    }
    assert lines(ledger)["ann", "a"].state_byte_seconds == 800.0


def test_a_query_that_is_dropped_stays_on_its_owner_s_bill():
    three = catalogue(query("a", "ann"), query("b", "ann"), query("c", "bob"))
    ledger = Ledger()
    answers = {"a": 1, "b": 1, "c": 1}
    ledger.add(0, three, figures(three, answers, merging=3.0, answering=0.0, held=3), at=0.0)
    left = next_catalogue(three, three.planned.drop(["a", "b"]), Progress(0, 0, 0))
    told = figures(left, {}, merging=1.0, answering=0.0, held=1)
    for batch in (1, 2):
        ledger.add(batch, left, told, at=1.0)
    found = lines(ledger)
    assert found["ann", DROPPED].seconds == 2.0
    assert found["ann", DROPPED].queries == 0
    assert found["bob", "c"].seconds == 3.0
    ann = by_owner(ledger.costs())[1]
    assert (ann.owner, ann.seconds, ann.answers, ann.queries) == ("ann", 2.0, 2, 0)


def test_a_micro_batch_that_is_run_again_costs_again_and_answers_once():
    one = catalogue(query("a"))
    ledger = Ledger()
    told = figures(one, {"a": 7}, merging=1.0, answering=0.0, held=0)
    ledger.add(4, one, told, at=0.0)
    again = Ledger.from_dict(ledger.to_dict())
    again.add(4, one, told, at=60.0)
    again.add(5, one, told, at=61.0)
    (cost,) = again.costs()
    assert (cost.seconds, cost.answers) == (3.0, 14)


def test_a_failed_query_keeps_its_line_and_holds_nothing():
    both = catalogue(query("a", "ann"), query("b"))
    ledger = Ledger()
    ledger.add(0, both, figures(both, {"a": 2}, merging=2.0, answering=0.0, held=100), at=0.0)
    entry = both.entry("a")
    failure = Failure(entry.number, entry.query, 1, "overflow", "sum(x)")
    left = next_catalogue(both, both.planned.drop(["a"]), Progress(0, 0, 0))
    from dataclasses import replace

    left = replace(left, failed=(failure,))
    ledger.add(1, left, figures(left, {}, merging=1.0, answering=0.0, held=50), at=10.0)
    ledger.add(2, left, figures(left, {}, merging=1.0, answering=0.0, held=50), at=20.0)
    a = lines(ledger)["ann", "a"]
    assert (a.seconds, a.answers, a.state_bytes, a.queries) == (1.0, 2, 0, 0)
    assert a.state_byte_seconds == 500.0  # up to the first micro-batch without it


def test_the_file_goes_on_after_a_restart_and_a_damaged_one_is_begun_anew(tmp_path):
    one = catalogue(query("a", "ann"))
    ledger = Ledger()
    ledger.add(0, one, figures(one, {"a": 1}, merging=1.0, answering=0.5, held=9), at=0.0)
    LedgerFile(str(tmp_path)).write(ledger)
    assert LedgerFile(str(tmp_path)).read().costs() == ledger.costs()
    (tmp_path / "weft" / "costs.json").write_text("{")
    assert LedgerFile(str(tmp_path)).read().costs() == ()


def test_csv_is_what_a_spreadsheet_reads():
    text = as_csv([Cost('the "a" team', "x,y", 1.5, 1.0, 10, 12345678901.4, 3)])
    (row,) = csv.DictReader(io.StringIO(text))
    assert (row["owner"], row["query"], row["seconds"]) == ('the "a" team', "x,y", "1.500000")
    assert row["state_byte_seconds"] == "12345678901"


def test_an_owner_is_no_part_of_the_meaning_and_one_line():
    assert query("a", "ann") == query("a", "bob")
    assert Query.from_dict(query("a", "ann").to_dict()).owner == "ann"
    assert query("a", "ann").owned("bob").owner == "bob"
    for wrong in ("", " ann", "a\nb", 7):
        with pytest.raises(QueryError, match="query 'a': owner="):
            query("a", wrong)  # type: ignore[arg-type]


def test_sql_says_whose_a_query_is():
    from weft.query.sql import parse_queries, read_statements

    text = """
    -- name: a
    -- owner: payments team
    SELECT count(*) AS n FROM t GROUP BY window(ts, '1 hour');
    SELECT count(*) AS n FROM t GROUP BY window(ts, '1 hour');
    -- owner: ann
    SELECT * FROM (SELECT window, k, count(*) AS n FROM t GROUP BY window(ts, '1 hour'), k)
    ORDER BY n LIMIT 3
    """
    assert [q.owner for q in parse_queries(text, whole=True)] == ["payments team", None, "ann"]
    told = [[q.owner for q in one.as_queries()] for one in read_statements(text)]
    assert told == [["payments team"], [None], ["ann"]]
