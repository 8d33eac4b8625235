"""Functions and types that another dialect spells as Spark does, and means otherwise."""

from __future__ import annotations

import pytest

from weft.query.sql.reading import Statement, read_statements

RISING = (
    "SELECT window_start, {} AS v FROM TUMBLE(t, ts, INTERVAL '1 hour') GROUP BY window_start{}"
)
FLINK = (
    "SELECT window_start, window_end, {} AS v "
    "FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR)) "
    "GROUP BY window_start, window_end{}"
)
KSQL = "SELECT {} AS v FROM s WINDOW TUMBLING (SIZE 1 HOUR) GROUP BY k EMIT CHANGES{}"
AZURE = "SELECT {} AS v FROM t TIMESTAMP BY ts GROUP BY TumblingWindow(hour, 1){}"


def read(sql: str) -> Statement:
    (statement,) = read_statements(sql)
    return statement


@pytest.mark.parametrize(
    ("form", "item", "made"),
    [
        (RISING, "sum(x::float)", "sum(CAST(x AS DOUBLE))"),
        (RISING, "sum(CAST(x AS float))", "sum(CAST(x AS DOUBLE))"),
        (RISING, "sum(x::float4)", "sum(CAST(x AS FLOAT))"),
        (RISING, "sum(x::int8)", "sum(CAST(x AS BIGINT))"),
        (RISING, "bool_or(x::bool)", "bool_or(CAST(x AS BOOLEAN))"),
        (RISING, "max(CAST(x AS timestamp with time zone))", "max(CAST(x AS TIMESTAMP))"),
        (RISING, "max(x ->> 'a')", "max(get_json_object(x, '$.a'))"),
        (RISING, "max((x->'a'->0->>'b')::int)",
         "max(CAST((get_json_object(x, '$.a[0].b')) AS INT))"),
        (RISING, "max(t.x::jsonb ->> 'a')", "max(get_json_object(CAST(x AS STRING), '$.a'))"),
        (RISING, "avg(log(x))", "avg(log10(x))"),
        (RISING, "avg(log(2, x))", "avg(log(2, x))"),
        (RISING, "max(left(x, 2))", "max(left(x, 2))"),
        (RISING, "max(ltrim(x, '0'))", "max(ltrim('0', x))"),
        (RISING, "max(trim(rtrim(x), '0'))", "max(btrim(rtrim(x), '0'))"),
        (RISING, "max(array_position(a, x))", "max(nullif(array_position(a, x), 0))"),
        (FLINK, "MAX(SPLIT(x, '.')[1])", "max(try_element_at(split(x, '[.]'), 1))"),
        (FLINK, "MAX(ARRAY_SORT(x)[1])", "max(try_element_at(sort_array(x), 1))"),
        (FLINK, "MAX(LTRIM(x, '0'))", "max(ltrim('0', x))"),
        (KSQL, "MAX(REGEXP_EXTRACT_ALL('a', x))", "MAX(regexp_extract_all(x, 'a', 0))"),
        (KSQL, "MAX(REGEXP_EXTRACT_ALL('(a)', x, 1))", "MAX(regexp_extract_all(x, '(a)', 1))"),
        (FLINK, "MAX(STR_TO_MAP(q)['a'])", "max(STR_TO_MAP(q, ',', '=')['a'])"),
        (FLINK, "MAX(STR_TO_MAP(q, ';', ':')['a'])", "max(STR_TO_MAP(q, ';', ':')['a'])"),
        (FLINK, "MAX(EXTRACT(SECOND FROM x))", "max(second(x))"),
        (KSQL, "COLLECT_LIST(a->b)",
         "transform(collect_list(named_struct('v', a.b)), weft_e -> weft_e.v)"),
        (KSQL, "MAX(EXTRACTJSONFIELD(x, '$.a'))", "MAX(get_json_object(x, '$.a'))"),
        (KSQL, "SUM(ARRAY_LENGTH(x))", "SUM(array_size(x))"),
        (KSQL, "MAX(STRINGTOTIMESTAMP(x, 'yyyy'))",
         "MAX(unix_millis(try_to_timestamp(x, 'yyyy')))"),
        (KSQL, "MAX(PARSE_TIMESTAMP(x, 'yyyy'))", "MAX(try_to_timestamp(x, 'yyyy'))"),
        (KSQL, "MAX(PARSE_DATE(x, 'yyyy'))", "MAX(CAST(try_to_timestamp(x, 'yyyy') AS DATE))"),
        (KSQL, "MAX(FORMAT_DATE(x, 'yyyy'))", "MAX(date_format(x, 'yyyy'))"),
        (KSQL, "MAX(TIMESTAMPADD(HOURS, 1, x))", "MAX(timestampadd(HOUR, 1, x))"),
        (KSQL, "MAX(STRUCT(a := x, b := 1))", "MAX(named_struct('a', x, 'b', 1))"),
        (KSQL, "MAX(MAP('a' := x)['a'])", "MAX(map('a', x)['a'])"),
        (KSQL, "MAX(ARRAY_CONTAINS(ARRAY['a', 'b'], x))",
         "MAX(ARRAY_CONTAINS(array('a', 'b'), x))"),
        (FLINK, "MAX(ARRAY_CONTAINS(ARRAY['a', 'b'], x))",
         "MAX(ARRAY_CONTAINS(array('a', 'b'), x))"),
        (RISING, "max(array_length(ARRAY[1, x]))", "max(array_length(array(1, x)))"),
        (KSQL, "MAX(TIMESTAMPSUB(DAY, 1, x))", "MAX(timestampadd(DAY, -(1), x))"),
        (AZURE, "MAX(SUBSTRING(s, 0, 3))", "max(substring(s, 1, 2))"),
        (AZURE, "MAX(SUBSTRING(s, -1, 1))", "max(substring(s, 1, 0))"),
        (AZURE, "MAX(SUBSTRING(s, 2, 3))", "max(substring(s, 2, 3))"),
        (AZURE, "MAX(CAST(s AS datetime))", "max(CAST(s AS TIMESTAMP))"),
    ],
)  # fmt: skip
def test_what_is_spelled_alike_is_translated(form: str, item: str, made: str) -> None:
    (query,) = read(form.format(item, "")).queries
    assert query.aggs == {"v": made}


@pytest.mark.parametrize(
    ("form", "item", "made"),
    [
        (FLINK, "MAX(LTRIM(SPLIT(x, '.')[1], '0'))",
         "MAX(ltrim('0', try_element_at(split(x, '[.]'), 1)))"),
        (FLINK, "MAX(STR_TO_MAP(q)['a'])", "MAX(str_to_map(q, ',', '=')['a'])"),
        (FLINK, "MAX(EXTRACT(SECOND FROM x))", "MAX(second(x))"),
        (FLINK, "MAX(EXTRACT(YEAR FROM x))", "MAX(EXTRACT(YEAR FROM x))"),
        (AZURE, "MAX(DATEPART(second, x))", "MAX(second(x))"),
        (AZURE, "MAX(DATEPART(dayofyear, x))", "MAX(dayofyear(x))"),
        (AZURE, "MAX(SUBSTRING(s, 0, 3))", "MAX(substring(s, 1, 2))"),
    ],
)  # fmt: skip
def test_also_in_a_statement_of_more_than_one_clause(form: str, item: str, made: str) -> None:
    (query,) = read(form.format(item, " ORDER BY v")).queries
    assert query.aggs == {"v": made}


@pytest.mark.parametrize(
    ("form", "item", "reason"),
    [
        (RISING, "max(x ->> k)", "constant names"),
        (RISING, "max(x ->> 'a.b')", "constant names"),
        (RISING, "max(initcap(x))", "the end of a word"),
        (RISING, "max(left(x, -1))", "leaves out characters"),
        (RISING, "max(substr(x, 0, 3))", "from before the first character"),
        (FLINK, "MAX(INITCAP(x))", "words end at"),
        (FLINK, "ARRAY_AGG(x)", "it keeps nulls"),
        (FLINK, "MAX(SPLIT(x, y)[1])", "accepted is a constant"),
        (KSQL, "MAX(PARSE_TIMESTAMP(x, 'yyyy', 'UTC'))", "accepted are a text and its pattern"),
        (AZURE, "MAX(SUBSTRING(s, 0, n))", "start at 1"),
        (AZURE, "MAX(GetMetadataPropertyValue(t, 'a'))", "not in the rows"),
        (AZURE, "MAX(DATEPART(week, x))", "weeks are counted otherwise"),
        (AZURE, "MAX(DATEPART(millisecond, x))", "accepted parts are year, "),
    ],
)
@pytest.mark.parametrize("rest", ["", " LIMIT 5"])
def test_what_cannot_be_said_in_spark_is_refused(
    form: str, item: str, reason: str, rest: str
) -> None:
    statement = read(form.format(item, rest))
    assert not statement.is_spark
    assert reason in statement.unshared
