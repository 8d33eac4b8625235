"""Several hundred texts: what each accepted one asks, and where and why the others are refused."""

from __future__ import annotations

import re
from typing import Any

import pytest
from sql_texts import DIALECTS, entries, summary

from weft.errors import QueryError
from weft.query.functions import OWN_AGGREGATES
from weft.query.sql import parse_queries, parse_query, write_query
from weft.query.sql.recognise import recognise
from weft.query.syntax.lexer import tokenize

ACCEPTED = [(dialect, entry) for dialect in DIALECTS for entry in entries("accepted", dialect)]
REFUSED = [(dialect, entry) for dialect in DIALECTS for entry in entries("refused", dialect)]


def ids(cases: list[tuple[str, dict[str, Any]]]) -> list[str]:
    return [f"{dialect}-{number}" for number, (dialect, _) in enumerate(cases)]


@pytest.mark.parametrize(("dialect", "entry"), ACCEPTED, ids=ids(ACCEPTED))
def test_an_accepted_text_is_recognised_and_asks_what_it_says(
    dialect: Any, entry: dict[str, Any]
) -> None:
    sql = entry["sql"]
    assert recognise(sql, tuple(tokenize(sql))) == dialect
    found = parse_queries(sql)
    assert [summary(query) for query in found] == entry["asks"]
    assert parse_queries(sql, dialect) == found


@pytest.mark.parametrize(("dialect", "entry"), ACCEPTED, ids=ids(ACCEPTED))
def test_an_accepted_text_can_be_written_in_its_dialect_and_read_back(
    dialect: Any, entry: dict[str, Any]
) -> None:
    for query in parse_queries(entry["sql"]):
        if any(f"{own}(" in sql for own in OWN_AGGREGATES for sql in query.aggs.values()):
            continue  # Spark has no such aggregate, and gets its definition
        again = parse_query(write_query(query, dialect))
        assert again == query
        assert again.source is not None
        assert query.source is not None
        assert again.source.table == query.source.table
        assert again.source.time in (query.source.time, "ts", None)


@pytest.mark.parametrize(("dialect", "entry"), ACCEPTED, ids=ids(ACCEPTED))
def test_what_can_be_written_in_another_dialect_means_the_same_there(
    dialect: Any, entry: dict[str, Any]
) -> None:
    for query in parse_queries(entry["sql"]):
        for other in DIALECTS:
            try:
                text = write_query(query, other)
            except QueryError:
                continue
            if other != "spark" or not any(
                f"{own}(" in sql for own in OWN_AGGREGATES for sql in query.aggs.values()
            ):
                assert parse_query(text) == query, text


@pytest.mark.parametrize(("dialect", "entry"), REFUSED, ids=ids(REFUSED))
def test_a_refused_text_says_where_and_why(dialect: Any, entry: dict[str, Any]) -> None:
    with pytest.raises(QueryError) as caught:
        parse_queries(entry["sql"])
    message, quoted, caret = str(caught.value).split("\n")
    found = re.fullmatch(r"(?:query 'q1': )?(.*) \(line 1, column (\d+)\):", message)
    assert found is not None, message
    assert found[1] == entry["because"]
    assert int(found[2]) == entry["column"]
    assert quoted == f"  {entry['sql']}"
    assert caret == " " * (entry["column"] + 1) + "^"


def test_there_are_a_few_hundred() -> None:
    assert len(ACCEPTED) > 200
    assert len(REFUSED) > 200
