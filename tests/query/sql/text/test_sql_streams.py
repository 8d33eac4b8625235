"""Databricks' STREAM before a table is not the name of a table."""

from __future__ import annotations

import pytest

from weft.query.sql.reading import read_statements

BY_WINDOW = "GROUP BY window(ts, '10 minutes'), k"


@pytest.mark.parametrize("table", ["STREAM events", "STREAM(events)", "stream  events AS e"])
def test_a_stream_is_its_table(table: str) -> None:
    (read,) = read_statements(f"SELECT window, k, count(*) AS n FROM {table} {BY_WINDOW}")
    (query,) = read.queries
    assert query.source is not None
    assert (query.source.table, query.source.relation) == ("events", None)
    assert read.sql.startswith("SELECT window, k, count(*) AS n FROM events")


def test_a_table_may_be_called_stream() -> None:
    for rest in ("", "AS s", "WHERE k > 1"):
        (read,) = read_statements(f"SELECT k, count(*) AS n FROM stream {rest} {BY_WINDOW}")
        (query,) = read.queries
        assert query.source is not None
        assert query.source.table == "stream"


def test_a_flow_is_named_after_its_table() -> None:
    flow = "CREATE FLOW f AS INSERT INTO hourly BY NAME"
    (read,) = read_statements(f"{flow} SELECT k, count(*) AS n FROM STREAM t {BY_WINDOW}")
    assert (read.name, len(read.queries), read.refusal) == ("hourly", 1, None)


def test_a_view_is_read_as_a_stream() -> None:
    text = f"CREATE VIEW v AS SELECT * FROM t; SELECT k, count(*) AS n FROM STREAM v {BY_WINDOW}"
    _, read = read_statements(text)
    (query,) = read.queries
    assert query.source is not None
    assert query.source.relation is not None
    assert query.source.relation.definitions == "WITH `v` AS (SELECT * FROM t)"
