"""Whole statements of other dialects mean as Spark SQL what they mean there."""

from __future__ import annotations

import pytest

from weft.errors import QueryError
from weft.query.sql import parse_query, write_query
from weft.query.sql.reading import Statement, read_statements
from weft.query.window import Window

HOUR = "FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start"
HOURLY = "WINDOW TUMBLING (SIZE 1 HOUR) GROUP BY k EMIT CHANGES"


def read(sql: str) -> Statement:
    (statement,) = read_statements(sql)
    return statement


def asks(statement: Statement) -> str:
    """What a statement asks, as one text."""
    shown = [query.to_dict() for query in statement.queries]
    return f"{shown} {statement.finish} {statement.sql}"


@pytest.mark.parametrize(
    ("text", "spark"),
    [
        # Weeks begin on Sunday.
        (
            "SELECT FLOOR(ts TO WEEK) AS w FROM t",
            "(date_trunc('WEEK', ts + INTERVAL 1 DAY) - INTERVAL 1 DAY)",
        ),
        ("SELECT FLOOR(ts TO MONTH) AS m FROM t", "date_trunc('MONTH', ts)"),
        # Nothing found is null, and no group is the whole match.
        ("SELECT SPLIT_INDEX(u, '/', 3) AS d FROM t", "get(split(u, '[/]'), 3)"),
        ("SELECT SPLIT_INDEX(u, '.*', 0) AS d FROM t", "get(split(u, '[.][*]'), 0)"),
        (f"SELECT REGEXP_EXTRACT(u, 'a(b)') AS x {HOUR}, u", "regexp_substr(u, 'a(b)')"),
        (
            f"SELECT MAX(REGEXP_EXTRACT(u, 'a(b)', 1)) AS x {HOUR}",
            "get(regexp_extract_all(u, 'a(b)', 1), 0)",
        ),
        # A table has one version, however its time is called.
        ("SELECT * FROM t JOIN u FOR SYSTEM_TIME AS OF t.p AS v ON a = b", "u  AS v ON a = b"),
        ("SELECT * FROM t JOIN u FOR SYSTEM_TIME AS OF p AS v ON a = b", "u  AS v ON a = b"),
        ("SELECT * FROM t JOIN u FOR SYSTEM_TIME AS OF proctime() ON a = b", "u  ON a = b"),
        (f"SELECT CAST(window_start AS TIMESTAMP(3)) AS s {HOUR}", "AS TIMESTAMP_NTZ)"),
        (f"SELECT CAST(k AS VARCHAR) AS s, COUNT(*) AS n {HOUR}, k", "AS STRING)"),
        # The first element is [1], and a key of a map is a key.
        (f"SELECT MAX(a[1]) AS x {HOUR}, window_end", "max(try_element_at(a, 1))"),
        (f"SELECT MAX(m['k']) AS x {HOUR}, window_end", "max(m['k'])"),
        (
            "SELECT t.a[2], m['k'], ARRAY[1] FROM t FETCH FIRST 1 ROW ONLY",
            "try_element_at(t.a, 2), m['k'], array(1)",
        ),
        # The window is there before WHERE.
        (
            "SELECT window_start, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), "
            "INTERVAL '1' HOUR)) WHERE window_end > x GROUP BY window_start, window_end",
            "FROM t)) WHERE window_end > x GROUP BY window_start, window_end",
        ),
    ],
)
def test_flink(text: str, spark: str) -> None:
    statement = read(text)
    assert statement.dialect == "flink"
    assert spark in asks(statement)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SELECT FLOOR(ts TO DECADE) AS w FROM t", "accepted units are YEAR"),
        ("SELECT SPLIT_INDEX(u, d, 3) AS d FROM t", "accepted is a constant such as '/'"),
        ("SELECT SPLIT_INDEX(u, '[', 3) AS d FROM t", "accepted is a constant such as '/'"),
        (f"SELECT SUM(CASE WHEN a THEN 1 ELSE 0 END) * 100 / COUNT(*) AS p {HOUR}", "divides int"),
        (f"SELECT COALESCE(MAX(CAST(a AS INT)), 0) / 2 AS p {HOUR}", "divides integers"),
        (f"SELECT MAX(TIMESTAMPDIFF(SECOND, a, b) / 60) AS p {HOUR}", "divides integers"),
        (f"SELECT MAX(EXTRACT(HOUR FROM a)) / 6 AS p {HOUR}", "divides integers"),
        (f"SELECT AVG(CASE WHEN a THEN 1 ELSE 0 END) AS p {HOUR}", "averages integers"),
        (f"SELECT AVG(CASE WHEN a THEN 1 END) AS p {HOUR}, window_end", "averages integers"),
        ("SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k)", "MATCH_RECOGNIZE is not supported"),
    ],
)
def test_flink_refused(text: str, reason: str) -> None:
    statement = read(text)
    assert (statement.queries, statement.is_spark) == ((), False)
    assert reason in statement.unshared


def test_flinks_average_of_integers_is_not_written() -> None:
    query = parse_query("SELECT avg(1) AS a FROM t GROUP BY window(ts, '1 hour')")
    with pytest.raises(Exception, match="averages integers to an integer"):
        write_query(query, "flink")
    assert "AVG(1)" in write_query(query, "asa").upper()


@pytest.mark.parametrize(
    ("text", "spark"),
    [
        (f"SELECT k, TIMESTAMPTOSTRING(WINDOWSTART, 'HH') AS h, COUNT(*) AS n FROM t {HOURLY}",
         "date_format(timestamp_millis(unix_millis(window.start)), 'HH')"),
        (f"SELECT k, TIMESTAMPTOSTRING(WINDOWEND, 'HH', 'UTC') AS h, COUNT(*) AS n FROM t {HOURLY}",
         "date_format(convert_timezone('UTC', timestamp_millis(unix_millis(window.end))), 'HH')"),
        (f"SELECT k, FORMAT_TIMESTAMP(MAX(a), 'HH', 'UTC') AS h FROM t {HOURLY}",
         "date_format(convert_timezone('UTC', MAX(a)), 'HH')"),
        (f"SELECT k, MAX(CAST(a AS VARCHAR)) AS h FROM t {HOURLY}", "MAX(CAST(a AS STRING))"),
        (f"SELECT k, MAX(ROWTIME) AS h FROM t {HOURLY}", "MAX(unix_millis(weft_stream_time))"),
        # A session ends with its last row.
        (
            "SELECT k, WINDOWEND - WINDOWSTART AS l, COUNT(*) AS n FROM t "
            "WINDOW SESSION (5 MINUTES) GROUP BY k EMIT CHANGES",
            "(unix_millis(window.end) - 300000) - unix_millis(window.start)",
        ),
        (f"SELECT WINDOWEND, k, COUNT(*) AS n FROM t {HOURLY}", "'WINDOWEND'"),
        (f"SELECT k, MAX(a[1]) AS h FROM t {HOURLY}", "MAX(try_element_at(a, 1))"),
        # The pattern comes first.
        (f"SELECT k, MAX(REGEXP_EXTRACT('a.', b)) AS h FROM t {HOURLY}", "regexp_substr(b, 'a.')"),
        (f"SELECT k, MAX(REGEXP_EXTRACT('a(.)', b, 1)) AS h FROM t {HOURLY}",
         "get(regexp_extract_all(b, 'a(.)', 1), 0)"),
        (f"SELECT k, MAX(SPLIT(b, '.')) AS h FROM t {HOURLY}", "split(b, '[.]')"),
        (f"SELECT k, MAX(UNIX_TIMESTAMP(b)) AS h FROM t {HOURLY}", "MAX(unix_millis(b))"),
        (f"SELECT k, MAX(SLICE(b, 2, 4)) AS h FROM t {HOURLY}", "slice(b, 2, 4 - 2 + 1)"),
    ],
)  # fmt: skip
def test_ksqldb(text: str, spark: str) -> None:
    statement = read(text)
    assert statement.dialect == "ksql"
    assert spark in asks(statement)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"SELECT k, COUNT(*) / 60 AS n FROM t {HOURLY}", "divides integers"),
        (f"SELECT k, MAX('a' + b) AS n FROM t {HOURLY}", "adds numbers only"),
        (f'SELECT k, MAX("a") AS n FROM t {HOURLY}', "a name without double quotes"),
        (f"SELECT k, MAX(a RLIKE '\\d') AS n FROM t {HOURLY}", "a backslash means itself"),
        (f"SELECT k, MAX(SPLIT(a, b)) AS n FROM t {HOURLY}", "accepted is a constant"),
        (f"SELECT k, TOPK(a, b, 3) AS n FROM t {HOURLY}", r"accepted is TOPK(column, k)"),
        ("SELECT * FROM t JOIN u WITHIN 1 HOUR ON t.a = u.a EMIT CHANGES", "WITHIN: a join of"),
        ("SELECT * FROM t JOIN u WITHIN (1 HOUR, 2 HOURS) ON t.a = u.a EMIT CHANGES", "WITHIN: a"),
    ],
)
def test_ksqldb_refused(text: str, reason: str) -> None:
    statement = read(text)
    assert (statement.queries, statement.is_spark) == ((), False)
    assert reason in statement.unshared


def test_azures_outputs_need_no_other_sign() -> None:
    statement = read("SELECT a INTO [my out] FROM t UNION SELECT b FROM u")
    assert (statement.dialect, statement.is_spark) == ("asa", True)
    assert " ".join(statement.sql.split()) == "SELECT a FROM t UNION ALL SELECT b FROM u"


def test_azures_start_of_a_window_is_of_its_answers() -> None:
    """MINUTE is a unit here, and no column."""
    statement = read(
        "SELECT DATEADD(minute, -10, System.Timestamp()) AS s, COUNT(*) AS n "
        "FROM t TIMESTAMP BY ts GROUP BY TumblingWindow(minute, 10)"
    )
    (query,) = statement.queries
    assert query.columns == frozenset()
    assert query.shown is not None
    assert query.shown[0] == ("DATEADD(minute, -10, window.end - INTERVAL '0.000001' SECOND)", "s")


def test_azures_sessions_have_a_length() -> None:
    """DATEDIFF counts borders; a session with a maximum is shared or nothing."""
    statement = read(
        "SELECT k, DATEDIFF(mi, MIN(ts), MAX(ts)) AS l FROM t TIMESTAMP BY ts "
        "GROUP BY k, SessionWindow(second, 60, 600)"
    )
    (query,) = statement.queries
    last, first = "unix_seconds(max(ts))", "unix_seconds(min(ts))"
    between = f"{last} - pmod({last}, 60) - {first} + pmod({first}, 60)"
    assert query.aggs == {"l": f"(({between}) DIV 60)"}


def test_risingwave_has_the_versions_of_the_standard_too() -> None:
    statement = read(
        "SELECT window_start, count(*) AS n FROM tumble(t, ts, INTERVAL '1 hour') a "
        "JOIN u FOR SYSTEM_TIME AS OF PROCTIME() b ON a.k = b.k GROUP BY window_start "
        "ORDER BY n FETCH FIRST 3 ROWS ONLY"
    )
    assert (statement.dialect, statement.is_spark) == ("risingwave", True)
    assert "JOIN u  b ON" in statement.sql
    assert statement.sql.endswith("ORDER BY n NULLS LAST LIMIT 3")


def test_keys_by_position() -> None:
    text = "SELECT window_start, k AS c, count(*) AS n FROM tumble(t, ts, INTERVAL '1 hour') "
    query = parse_query(f"{text} GROUP BY 1, 2")
    assert query.by == parse_query(f"{text} GROUP BY window_start, k").by
    assert query.by == ("k AS `c`",)


@pytest.mark.parametrize("unit", ["min", "mins", "m", "MINUTE", "minutes"])
def test_postgresqls_short_units(unit: str) -> None:
    text = f"SELECT count(*) AS n FROM tumble(t, ts, INTERVAL '5 {unit}') GROUP BY window_start"
    assert parse_query(text).window == Window(range="5 minutes", slide="5 minutes")
    with pytest.raises(QueryError, match="unknown unit"):
        parse_query(f"SELECT count(*) AS n FROM t GROUP BY window(ts, '5 {unit[:2]}')")
