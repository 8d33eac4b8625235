"""What other dialects say of single rows, and RisingWave's words, as Spark SQL."""

from __future__ import annotations

import pytest

from weft.errors import QueryError
from weft.query.calendar import Calendar
from weft.query.source import NO_NULLS, UTC
from weft.query.sql import parse_statement, read_statements
from weft.query.sql.reading import Statement
from weft.query.window import Window

FROM_T = "FROM t TIMESTAMP BY ts"


def read(sql: str) -> Statement:
    (statement,) = read_statements(sql)
    return statement


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        (f"SELECT LAG(x) OVER (PARTITION BY k) AS y {FROM_T}", "LIMIT DURATION"),
        (f"SELECT LAG(x, k) OVER (LIMIT DURATION(hour, 1)) AS y {FROM_T}", "constant of 1 or more"),
        (
            f"SELECT LAG(x, 2) OVER (LIMIT DURATION(hour, 1) WHEN x > 1) AS y {FROM_T}",
            "with WHEN no more than 1",
        ),
        (f"SELECT x {FROM_T} WHERE ISFIRST(minute, 7) = 1", "the length divides a day"),
        (
            f"SELECT LAST(x) OVER (LIMIT DURATION(hour, 1)) AS y {FROM_T} JOIN u ON t.k = u.k",
            "LAST over a join or a subquery",
        ),
        (f"SELECT COUNT(*) AS n {FROM_T} GROUP BY SlidingWindow(minute)", "(unit, size)"),
        (
            f"SELECT CollectTop(k) OVER (ORDER BY x) AS y {FROM_T} "
            f"GROUP BY TumblingWindow(hour, 1)",
            "must be a constant",
        ),
        (
            f"SELECT CollectTop(2) OVER (ORDER BY x, y DESC) AS y {FROM_T} "
            f"GROUP BY TumblingWindow(hour, 1)",
            "one direction",
        ),
        (f"SELECT e.x {FROM_T} CROSS APPLY GetArrayElements(t.a)", "needs a name"),
        ("SELECT COUNT(*) AS n FROM t TIMESTAMP BY ts OVER k", "a timeline for each key"),
    ],
)
def test_what_azure_cannot_mean_is_refused_with_its_reason(sql: str, reason: str) -> None:
    statement = read(sql)
    assert not statement.is_spark
    assert reason in statement.unshared


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        (f"SELECT k, COUNT(*) AS n {FROM_T} GROUP BY k, SlidingWindow(minute, 5)", "every event"),
        ("SELECT sum(x) AS s FROM t [ROWS 5]", "no time to slice"),
        ("SELECT sum(x) AS s FROM t [RANGE '1 hour']", "moves with every row"),
    ],
)
def test_a_stream_refuses_answers_for_every_row_in_the_words_of_the_text(
    sql: str, reason: str
) -> None:
    statement = read(sql)
    assert statement.is_spark
    assert not statement.queries
    with pytest.raises(QueryError, match=reason):
        statement.as_queries()
    with pytest.raises(QueryError, match=reason):
        parse_statement(sql)


def test_a_star_does_not_show_the_columns_of_what_looks_at_other_rows() -> None:
    looks = "ISFIRST(minute, 5) = 1 AND LAST(x) OVER (LIMIT DURATION(s, 9)) > 1"
    assert read(f"SELECT * {FROM_T} WHERE {looks}").sql.startswith(
        "SELECT * EXCEPT ( weft_row_0 , weft_row_1 ) FROM (SELECT *, "
    )


@pytest.mark.parametrize("more", ["[NOW]", "[ROWS 0]", "[PARTITION BY j ROWS 5]"])
def test_windows_of_cql_that_are_no_answers_for_every_row_stay_refused(more: str) -> None:
    assert not read(f"SELECT sum(x) AS s FROM t {more} GROUP BY k").is_spark
    assert not read(f"SELECT x FROM t {more}").is_spark


TWO = (
    "-- owner: ops\nWITH c AS (SELECT k, COUNT(*) AS n FROM t TIMESTAMP BY ts "
    "GROUP BY k, TumblingWindow(minute, 5)) "
    "SELECT * INTO every FROM c SELECT k INTO busy FROM c WHERE n > 9; SELECT 1 AS one"
)


def test_each_output_of_azure_is_a_statement_with_the_steps_before_it() -> None:
    every, busy, one = read_statements(TWO)
    assert [every.name, busy.name, one.name] == ["every", "busy", "q3"]
    assert [query.owner for each in (every, busy) for query in each.queries] == ["ops", "ops"]
    assert every.queries[0].window == busy.queries[0].window
    assert busy.finish is not None
    assert busy.finish.endswith("SELECT k FROM c WHERE n > 9")


def test_a_second_select_without_an_output_is_left_to_be_refused() -> None:
    assert len(read_statements("SELECT 1 AS a SELECT 2 AS b")) == 1
    assert len(read_statements("SELECT x INTO a FROM t UNION ALL SELECT y FROM t")) == 1


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT ts AT TIME ZONE 'Asia/Tokyo' AS l FROM t", "convert_timezone('Asia/Tokyo', ts)"),
        (
            "SELECT f(a, (b)) AT TIME ZONE 'UTC' AT TIME ZONE 'Asia/Tokyo' AS l FROM t",
            "CAST(convert_timezone('Asia/Tokyo', current_timezone(), "
            "convert_timezone('UTC', f(a, (b)))) AS TIMESTAMP)",
        ),
        (
            "SELECT DISTINCT ON (k) k, x FROM t WHERE x > 1 ORDER BY k, ts DESC LIMIT 5",
            "WHERE x > 1 QUALIFY row_number() OVER "
            "(PARTITION BY k ORDER BY k NULLS LAST, ts DESC NULLS FIRST) = 1",
        ),
    ],
)
def test_risingwaves_words_are_sparks(sql: str, expected: str) -> None:
    statement = read(sql)
    assert statement.dialect == "risingwave"
    assert " ".join(expected.split()) in " ".join(statement.sql.split())


def test_a_text_in_an_order_is_shared() -> None:
    sql = (
        "SELECT string_agg(v, ',' ORDER BY v DESC) AS l FROM tumble(t, ts, INTERVAL '1 day') "
        "GROUP BY window_start"
    )
    (query,) = read(sql).queries
    assert query.aggs == {"l": "string_agg(v, ',') WITHIN GROUP (ORDER BY v DESC)"}


@pytest.mark.parametrize("clause", ["WINDOW TUMBLING (SIZE 1 HOUR) GROUP BY k EMIT CHANGES", ""])
def test_a_quotient_of_integers_is_not_what_spark_means(clause: str) -> None:
    table = "t" if clause else "tumble(t, ts, INTERVAL '1 hour')"
    group = clause or "GROUP BY k, window_start"
    statement = read(f"SELECT k, count(*) / 60 AS rate FROM {table} {group}")
    assert not statement.is_spark
    assert "divides integers without a remainder" in str(statement.refusal)


@pytest.mark.parametrize(
    ("key", "window"),
    [
        ("date_bin(INTERVAL '15 minutes', ts, TIMESTAMP '2001-01-01 00:05:00')",
         Window(range="15 minutes", offset="5 minutes")),
        ("time_bucket(INTERVAL '2' MONTH, ts)", Calendar(range="2 months", zone="UTC")),
    ],
)  # fmt: skip
def test_buckets_of_time_are_windows_in_utc(key: str, window: Window) -> None:
    (query,) = read(f"SELECT {key} AS b, count(*) AS n FROM t GROUP BY b").queries
    assert query.window == window
    assert query.source is not None
    assert query.source.needs == (NO_NULLS, UTC)


@pytest.mark.parametrize(
    "key",
    [
        "time_bucket(INTERVAL '0' SECOND, ts)",
        "time_bucket(INTERVAL '1' HOUR, ts, origin)",
        "time_bucket(INTERVAL '1' MONTH, ts, TIMESTAMP '2001-01-15 00:00:00')",
        "time_bucket(step, ts)",
        "time_bucket(INTERVAL '1' HOUR, ts, TIMESTAMP '2001-13-15 00:00:00')",
    ],
)
def test_other_buckets_run_as_they_are(key: str) -> None:
    statement = read(f"SELECT {key} AS b, count(*) AS n FROM t GROUP BY b")
    assert not statement.queries
    assert statement.is_spark


@pytest.mark.parametrize(
    ("item", "spark"),
    [
        ("avg(x)::numeric", "CAST(avg(x) AS DECIMAL(38,18))"),
        ("CAST(max(x) AS double precision)", "CAST(max(x) AS DOUBLE)"),
        ("max(tags[1])", "max(try_element_at(tags, 1))"),
        ("max(extract(dow FROM ts))", "max(EXTRACT(DOW FROM ts) - 1)"),
        ("max(extract(epoch FROM ts))", "max(unix_micros(ts) / 1000000)"),
        ("max(to_char(ts, 'YYYY-MM HH24:MI'))", "max(date_format(ts, 'yyyy-MM HH:mm'))"),
    ],
)
def test_what_risingwave_says_in_sparks_words_and_means_otherwise(item: str, spark: str) -> None:
    sql = f"SELECT {item} AS v FROM tumble(t, ts, INTERVAL '1 day') GROUP BY window_start"
    (query,) = read(sql).queries
    assert query.aggs["v"].replace("((", "(").replace("))", ")") == spark.replace("))", ")")


def test_names_in_double_quotes_are_no_strings_in_risingwave() -> None:
    sql = (
        "SELECT \"side\", count(*) AS n FROM tumble(t, ts, INTERVAL '1 day') "
        'WHERE "side" = \'B\' GROUP BY "side", window_start'
    )
    (query,) = read(sql).queries
    assert (query.where, query.by) == ("`side` = 'B'", ("`side`",))


def test_a_pattern_of_a_time_that_spark_reads_otherwise_is_refused() -> None:
    sql = "SELECT to_char(ts, 'Dy DD') AS d FROM t EMIT ON WINDOW CLOSE"
    assert "to_char" in read(sql).unshared


def test_brackets_in_strings_are_no_names_in_azure() -> None:
    sql = "SELECT [my note] FROM t TIMESTAMP BY ts WHERE note <> '[none]'"
    assert read(sql).sql == "SELECT `my note` FROM t WHERE note <> '[none]'"


def test_azures_units_of_time_may_be_short() -> None:
    sql = f"SELECT DATEADD(hh, 1, ts) AS l {FROM_T}"
    assert "dateadd ( hour , 1 , ts )" in read(sql).sql


@pytest.mark.parametrize(
    ("sql", "shown"),
    [
        (
            "SELECT window_start AS ws, window_time, k, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE t, "
            "DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end, k",
            ("window.start", "window.end - INTERVAL '0.001000' SECOND", "`k`", "`n`"),
        ),
        (
            "SELECT HOP_END(ts, INTERVAL '1' MINUTE, INTERVAL '1' HOUR) AS e, COUNT(*) AS n "
            "FROM t GROUP BY HOP(ts, INTERVAL '1' MINUTE, INTERVAL '1' HOUR)",
            ("window.end", "`n`"),
        ),
        (
            f"SELECT COUNT(*) AS n, System.Timestamp() AS at {FROM_T} "
            f"GROUP BY k, TumblingWindow(hour, 1)",
            ("`n`", "window.end - INTERVAL '0.000001' SECOND"),
        ),
        (
            f"SELECT COUNT(*) AS n, System.Timestamp() AS at {FROM_T} "
            f"GROUP BY k, SessionWindow(minute, 5, 10)",
            ("`n`", "window.end"),
        ),
        ("SELECT max(x) AS hi FROM t [RANGE '1 hour' SLIDE '5 min'] GROUP BY k", ("`hi`",)),
    ],
)
def test_answers_are_what_a_statement_of_another_dialect_selects(
    sql: str, shown: tuple[str, ...]
) -> None:
    (query,) = read(sql).queries
    assert query.shown is not None
    assert tuple(text for text, _ in query.shown) == shown


def test_windows_with_ids_show_them() -> None:
    sql = (
        f"SELECT System.Window().Id AS w, COUNT(*) AS n {FROM_T} GROUP BY "
        f"Windows(Window('a', Tumbling(hour, 1)), Window('b', Tumbling(day, 1)))"
    )
    queries = read(sql).queries
    assert [query.shown[0][0] for query in queries if query.shown] == ["'a'", "'b'"]
