"""What a review by somebody with statements of their own found: nothing is dropped or misread."""

from __future__ import annotations

import pytest

from weft.errors import QueryError
from weft.query.sql.reading import Statement, in_spark, read_statements

KSQL = "SELECT k, {} AS v FROM s WINDOW TUMBLING (SIZE 1 HOUR) {} GROUP BY k EMIT CHANGES"
RISING = "SELECT window_start, {} AS v FROM TUMBLE(t, ts, INTERVAL '1 hour') GROUP BY window_start"
FLINK = (
    "SELECT window_start, window_end, {} AS v "
    "FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR)) "
    "GROUP BY window_start, window_end"
)
TWO_INPUTS = (
    "{} FROM A a TIMESTAMP BY ts {} JOIN B b TIMESTAMP BY ts "
    "ON a.k = b.k AND DATEDIFF(minute, a, b) BETWEEN 0 AND 15 {}"
)


def read(sql: str) -> Statement:
    (statement,) = read_statements(sql)
    return statement


def spark(sql: str) -> str:
    return in_spark(read(sql)).sql


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SELECT k, sum(x) AS y FROM s [ROWS 5] JOIN t ON s.k = t.k GROUP BY k", "one table"),
        ("SELECT sum(x) AS y FROM s [ROWS 5], t [ROWS 6]", "one table"),
        ("SELECT k, sum(x) AS y FROM s [ROWS 5] GROUP BY k ORDER BY k", "ORDER is not supported"),
        ("SELECT sum(x) OVER (ORDER BY k) AS y FROM s [ROWS 5]", "OVER beside a window"),
        ("SELECT u, sum(x) s [RANGE '90 sec'] GROUP BY u", "needs FROM"),
        (TWO_INPUTS.format("SELECT a.k, COUNT(*) AS n", "LEFT", "GROUP BY a.k, "
                           "TumblingWindow(minute, 10)"), "an outer join of two inputs"),
        ("SELECT Collect() AS c FROM t TIMESTAMP BY ts GROUP BY SlidingWindow(minute, 1)",
         "whole rows in a SlidingWindow"),
        (KSQL.format("ROUND(MAX(x), 2)", ""), "rounds halves"),
        (RISING.format("sum(x ^ 2)"), "a power here"),
        (RISING.format("array_agg(x)"), "keeps nulls"),
        (RISING.format("max(regexp_replace(a, 'b', 'X'))"), "first match only"),
        (RISING.format("first_value(x ORDER BY y)"), "the window's time"),
    ],
)  # fmt: skip
def test_what_cannot_be_said_is_refused_with_its_reason(sql: str, reason: str) -> None:
    statement = read(sql)
    assert not statement.queries
    with pytest.raises(QueryError, match=reason):
        in_spark(statement)


@pytest.mark.parametrize(
    ("sql", "made"),
    [
        (KSQL.format("COUNT(*)", "WHERE note = 'a  ->  b' AND r->x = 1"),
         "WHERE note = 'a  ->  b' AND r.x = 1"),
        (KSQL.format("COUNT(*)", "WHERE '1970-01-02' <= ROWTIME"),
         "86400000 <= unix_millis(weft_stream_time)"),
        (KSQL.format("MAX(UNIX_TIMESTAMP())", ""), "MAX(unix_millis(current_timestamp()))"),
        (KSQL.format("MAX(MASK(a))", ""), "mask(a, 'X', 'x', 'n', '-')"),
        (KSQL.format("MAX(ROUND(a))", ""), "floor(a + 0.5)"),
        (KSQL.format("MAX(CONCAT(a, b))", ""), "concat_ws('', CAST(a AS STRING), "),
        ("SELECT k, f(v, 1) AS w FROM s PARTITION BY k, f(v, 1) EMIT CHANGES", "FROM s"),
        (RISING.format("max(x::double precision)"), "CAST ( x AS DOUBLE )"),
        (RISING.format("max(regexp_replace(a, 'b', 'X', 'g'))"), "( a , 'b' , 'X' )"),
        ("SELECT DISTINCT ON (1) k AS q, y FROM t ORDER BY q, 2 DESC",
         "(PARTITION BY k ORDER BY k NULLS LAST, y DESC NULLS FIRST)"),
        (FLINK.format("LISTAGG(b)"), "listagg(b, ',')"),
        (FLINK.format("LISTAGG(b, ';')"), "listagg(b, ';')"),
        (FLINK.format("FIRST_VALUE(x)"), "first_value(x, TRUE)"),
        ("SELECT 'CROSS JOIN UNNEST(a) AS t (b)' AS s, b FROM o CROSS JOIN UNNEST(o.a) AS t (b)",
         "SELECT 'CROSS JOIN UNNEST(a) AS t (b)' AS s, b FROM o LATERAL VIEW explode(o.a) t AS b"),
        ("SELECT date_bin(INTERVAL '15 min', ts) + INTERVAL '1h' AS b FROM t EMIT ON WINDOW CLOSE",
         "time_bucket(INTERVAL '15 minutes', ts) + INTERVAL '1 hours'"),
        ("SELECT a FROM (SELECT a FROM t FETCH FIRST ROW ONLY) OFFSET 1 ROW FETCH NEXT 2 ROWS ONLY",
         "SELECT a FROM (SELECT a FROM t LIMIT 1) LIMIT 2 OFFSET 1"),
        ("SELECT SUM(GetArrayLength(a)) AS n FROM t TIMESTAMP BY ts "
         "GROUP BY TumblingWindow(hour, 1)", "array_size ( a )"),
        ("SELECT a.*, LAG(a.x) OVER (LIMIT DURATION(ss, 5)) AS p FROM Input a TIMESTAMP BY t",
         "a . * EXCEPT ( weft_row_0 )"),
        ("SELECT sum(x) FILTER (WHERE x > 1) AS y FROM s [ROWS 5] AS z WHERE z.x > 2",
         "sum(x) FILTER (WHERE x > 1) OVER (ORDER BY"),
        (TWO_INPUTS.format("SELECT a.k, COUNT(*) AS n", "", "GROUP BY a.k, "
                           "TumblingWindow(minute, 10)"), "window(greatest(a.ts, b.ts), "),
    ],
)  # fmt: skip
def test_what_is_meant_is_what_is_said(sql: str, made: str) -> None:
    assert made in spark(sql)


def test_ksql_puts_the_window_where_it_stands() -> None:
    text = (
        "SELECT k, SUM(n) AS m FROM (SELECT k, n FROM s GROUP BY k, n) "
        "WINDOW TUMBLING (SIZE 1 HOUR) GROUP BY k EMIT CHANGES"
    )
    assert "GROUP BY k, n)  GROUP BY window(" in spark(text)


def test_ksql_windows_of_another_select_are_not_at_hand() -> None:
    text = (
        "SELECT k, WINDOWSTART FROM (SELECT k, COUNT(*) AS n FROM s "
        "WINDOW TUMBLING (SIZE 1 HOUR) GROUP BY k) EMIT CHANGES"
    )
    with pytest.raises(QueryError, match="another SELECT's window"):
        in_spark(read(text))


def test_ksql_names_of_its_own_columns_are_names() -> None:
    assert "unix_millis(window.start) AS `WINDOWSTART`" in spark(
        KSQL.format("COUNT(*)", "").replace("SELECT k", "SELECT k, WINDOWSTART AS WINDOWSTART")
    )


def test_a_step_that_joins_two_inputs_keeps_the_time_of_the_later_row() -> None:
    step = TWO_INPUTS.format("WITH j AS (SELECT a.k", "", ")")
    text = f"{step} SELECT k, COUNT(*) AS n FROM j GROUP BY k, TumblingWindow(minute, 10)"
    made = spark(text)
    assert "greatest(a.ts, b.ts) AS weft_step_time" in made
    assert "window(weft_step_time, " in made


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT CEIL(ts TO HOUR) AS h FROM t GROUP BY CEIL(ts TO HOUR",
        "SELECT a.k FROM a TIMESTAMP BY t JOIN b ON DATEDIFF(minute, a, b BETWEEN 0 AND 5",
        "SELECT DISTINCT ON (k k, x FROM t",
        "SELECT substring(a FROM 1 FOR FROM TUMBLE(t, ts, INTERVAL '1 day') GROUP BY window_start",
        "SELECT SUBSTRING(a, 0, 3 c AS l FROM t TIMESTAMP BY ts GROUP BY SUBSTRING(a, 0, 3)",
        "SELECT CollectTop(2) OVER (ORDER BY a ASC, DESC) AS c FROM t TIMESTAMP BY ts "
        "GROUP BY TumblingWindow(hour, 1)",
    ],
)
def test_a_malformed_statement_is_refused_and_no_more(sql: str) -> None:
    with pytest.raises(QueryError):
        in_spark(read(sql))
