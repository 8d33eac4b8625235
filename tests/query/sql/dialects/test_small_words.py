"""Words of other dialects that Spark spells in its own way, one by one."""

from __future__ import annotations

import pytest

from weft.query.sql.reading import Statement, in_spark, read_statements

KSQL = "SELECT k, COUNT(*) AS n FROM s WINDOW TUMBLING (SIZE 1 HOUR) {} GROUP BY k EMIT CHANGES"


def read(sql: str) -> Statement:
    (statement,) = read_statements(sql)
    return statement


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("1970", 0),
        ("1970-01-02", 86_400_000),
        ("1970-01-01T01", 3_600_000),
        ("1970-01-01T00:01", 60_000),
        ("1970-01-01T00:00:01.5", 1_500),
        ("1970-01-01T01:00+0100", 0),
        ("1969-12-31T23:59:59.999Z", -1),
    ],
)
def test_ksql_compares_its_times_with_texts(text: str, milliseconds: int) -> None:
    (query,) = read(KSQL.format(f"WHERE ROWTIME >= '{text}'")).queries
    assert query.where == f"unix_millis(weft_stream_time) >= {milliseconds}"


def test_ksql_between_two_texts_and_beside_other_texts() -> None:
    where = "WHERE ROWTIME BETWEEN '1970' AND '1970-01-01T00:01' AND k = '1970'"
    (query,) = read(KSQL.format(where)).queries
    assert query.where == "unix_millis(weft_stream_time) BETWEEN 0 AND 60000 AND k = '1970'"


@pytest.mark.parametrize("text", ["yesterday", "1970-13", "1970-01-01 00:00"])
def test_ksql_refuses_what_is_no_time(text: str) -> None:
    assert "time" in str(read(KSQL.format(f"WHERE ROWTIME >= '{text}'")).refusal)


def test_flink_rounds_times_up() -> None:
    statement = in_spark(read("SELECT CEIL(ts TO QUARTER) AS q FROM t"))
    begin = "date_trunc('QUARTER', ts)"
    assert statement.dialect == "flink"
    assert f"CASE WHEN {begin} = ts THEN {begin} ELSE {begin} + INTERVAL '3' MONTH END" in (
        statement.sql
    )


def test_flink_rounds_numbers_up() -> None:
    sql = "SELECT CEIL(x) AS c, FLOOR(ts TO HOUR) AS h FROM t"
    assert "ceil(x)" in in_spark(read(sql)).sql


@pytest.mark.parametrize(
    ("call", "made"),
    [
        ("first_value(x ORDER BY ts)", "min_by(x, ts)"),
        ("first_value(x ORDER BY t.ts DESC)", "max_by(x, ts)"),
        ("last_value(x ORDER BY ts ASC)", "max_by(x, ts)"),
        ("last_value(x ORDER BY ts DESC)", "min_by(x, ts)"),
    ],
)
def test_risingwave_takes_the_ends_of_a_group_by_an_order(call: str, made: str) -> None:
    sql = (
        f"SELECT window_start, {call} AS v FROM TUMBLE(t, ts, INTERVAL '1 hour') "
        "GROUP BY window_start"
    )
    (query,) = read(sql).queries
    assert query.aggs == {"v": made}


def test_an_alias_is_no_type() -> None:
    sql = (
        "SELECT window_start, CAST(max(x) AS text) AS text FROM TUMBLE(t, ts, INTERVAL '1 hour') "
        "GROUP BY window_start"
    )
    assert "AS STRING ) AS `text`" in in_spark(read(sql)).sql


def test_azure_calls_without_arguments() -> None:
    collected = "SELECT Collect() AS c FROM t TIMESTAMP BY ts GROUP BY TumblingWindow(hour, 1)"
    assert "collect_list" in in_spark(read(collected)).sql
    snapshot = "SELECT k, COUNT(*) AS n FROM t TIMESTAMP BY ts GROUP BY k, SnapshotWindow()"
    assert "SnapshotWindow" not in in_spark(read(snapshot)).sql


def test_a_named_window_hides_no_view() -> None:
    text = (
        "CREATE VIEW w AS SELECT * FROM t;\n"
        "SELECT sum(x) OVER w AS s FROM w WINDOW a AS (ORDER BY y), w AS (PARTITION BY k)"
    )
    _, query = read_statements(text)
    assert query.sql.startswith("WITH `w` AS (SELECT * FROM t)")
