"""Statements that are no queries, as in a file of Flink's: each is refused and stops no other."""

from __future__ import annotations

import pytest

from weft.errors import QueryError
from weft.query.sql.reading import parse_queries, read_statements

TUMBLE = "TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"
BY_WINDOW = (
    "SELECT window_start, window_end, count(*) AS n "
    f"FROM {TUMBLE} GROUP BY window_start, window_end"
)
TABLE = "CREATE TABLE bids (ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'kafka')"


@pytest.mark.parametrize(
    "begin", ["EXECUTE STATEMENT SET\nBEGIN", "BEGIN STATEMENT SET;"], ids=["execute", "begin"]
)
def test_a_statement_set_is_its_statements(begin: str) -> None:
    text = f"{begin}\nINSERT INTO a {BY_WINDOW};\nINSERT INTO b {BY_WINDOW};\nEND;"
    read = read_statements(text)
    assert [(one.name, len(one.queries)) for one in read] == [("a", 1), ("b", 1)]


@pytest.mark.parametrize(
    ("sql", "word", "remedy"),
    [
        (TABLE, "CREATE TABLE", "--source NAME=PATH"),
        (
            "CREATE OR REPLACE STREAM s (x INT) WITH (kafka_topic = 's')",
            "CREATE STREAM",
            "--source",
        ),
        ("CREATE SOURCE s (x INT) WITH (connector = 'kafka')", "CREATE SOURCE", "--source"),
        ("CREATE SINK s (x INT) WITH (connector = 'print')", "CREATE SINK", "leave it out"),
        ("CREATE TEMPORARY FUNCTION f AS 'a.B'", "CREATE FUNCTION", "leave it out"),
        ("SET 'table.exec.mini-batch.enabled' = 'true'", "SET", "leave it out"),
        ("USE CATALOG shop", "USE", "leave it out"),
        (f"EXPLAIN {BY_WINDOW}", "EXPLAIN", "leave it out"),
        ("INSERT INTO t (a, b) VALUES (1, 2)", "INSERT of values", "leave it out"),
        ("DROP TABLE IF EXISTS bids", "DROP", "leave it out"),
        ("DELETE FROM bids", "DELETE", "leave it out"),
    ],
)
def test_it_says_what_it_is_and_stops_no_other(sql: str, word: str, remedy: str) -> None:
    setup, query = read_statements(f"{sql};\n{BY_WINDOW}")
    assert str(setup.refusal).startswith(f"query 'q1': {word} is not a query")
    assert remedy in str(setup.refusal)
    assert not setup.is_spark
    assert not setup.queries
    assert len(query.queries) == 1


def test_a_table_of_a_query_is_one() -> None:
    (read,) = read_statements(f"CREATE TABLE hourly WITH ('connector' = 'print') AS {BY_WINDOW}")
    assert (read.name, len(read.queries)) == ("hourly", 1)


def test_all_or_nothing_names_it() -> None:
    with pytest.raises(QueryError, match="CREATE TABLE is not a query"):
        parse_queries(f"{TABLE};\n{BY_WINDOW}")
