"""Attacks by untrusted texts, by family: each is refused with a clear message, in every clause."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from weft.errors import QueryError
from weft.job.asked import asked_queries
from weft.query.query import Query
from weft.query.trust import check_untrusted
from weft.query.window import Window

FAMILIES = yaml.safe_load((Path(__file__).parent / "attacks.yaml").read_text())
ATTACKS = [
    pytest.param(attack, id=f"{family}: {attack.get('sql') or attack['agg']}")
    for family, attacks in FAMILIES.items()
    for attack in attacks
    if not attack.get("spark")  # the others need Spark: tests/spark/test_trust_on_spark.py
]
WINDOW = Window(range="1 hour")
N = {"n": "count(*)"}


def test_there_are_many():
    assert len(ATTACKS) >= 60
    assert len(FAMILIES) >= 8


def places(attack):
    """The attack in every clause of a query."""
    if "agg" in attack:
        return [{"aggs": {"n": attack["agg"]}}, {"aggs": N, "having": f"{attack['agg']} IS NULL"}]
    sql = attack["sql"]
    return [
        {"aggs": N, "where": sql},
        {"aggs": N, "where": f"v > 1 AND NOT ({sql}\n)"},
        {"aggs": N, "by": [f"{sql}\n AS k"]},
        {"aggs": {"n": f"count_if({sql}\n)"}},
        {"aggs": {"n": f"max(v) FILTER (WHERE {sql}\n)"}},
        {"aggs": {"n": f"max(CASE WHEN {sql}\n THEN v END)"}},
    ]


@pytest.mark.parametrize("attack", ATTACKS)
def test_it_is_refused_with_one_sentence(attack):
    for given in places(attack):
        with pytest.raises(QueryError) as refused:
            check_untrusted([Query("q", window=WINDOW, trusted=False, **given)])
        first = str(refused.value).splitlines()[0]
        assert len(first) < 500 + 2 * len(str(given))
        assert "Traceback" not in first
    given = places(attack)[0]
    with pytest.raises(QueryError) as refused:
        check_untrusted([Query("q", window=WINDOW, trusted=False, **given)])
    assert attack["says"] in str(refused.value)


@pytest.mark.parametrize("attack", [a for a in ATTACKS if "sql" in a.values[0]])
def test_it_is_refused_in_a_statement(attack):
    with pytest.raises(QueryError):
        asked_queries(
            f"SELECT count(*) AS n FROM t WHERE {attack['sql']}\n GROUP BY window(ts, '1 hour')",
            "ts",
            name="q",
        )


HONEST = (
    """
    upper(trim(s)) = 'A'
    s LIKE '%a%' AND s NOT LIKE 'b_'
    s LIKE concat('%', st.g, '%')
    s ILIKE ANY ('a%', '%b')
    s RLIKE '^[A-Z]{2,3}-\\\\d+$'
    s RLIKE '^.*error.*timeout.*$'
    s RLIKE '^(GET|POST) /api/v\\\\d+/(\\\\w+)(\\\\?.*)?$'
    regexp_extract(s, '(\\\\d+)-(\\\\d+)', 1) = '12'
    regexp_replace(s, '[^0-9]', '') = '12'
    regexp_replace(s, '(\\\\w+)@(\\\\w+)', '$2 $1') = 'x'
    split(s, ',')[0] = 'a'
    size(split(s, '\\\\s+')) > 3
    lpad(s, 10, '0') = '0000000001'
    repeat('-', 20) = s
    repeat(s, least(v, 10)) = s
    size(sequence(1, 12)) = 12
    size(sequence(d, date_add(d, 7))) = 8
    size(sequence(1, month(d))) > 3
    array_contains(sequence(1, size(a)), 2)
    size(sequence(ts, ts + INTERVAL 1 HOUR, INTERVAL 5 MINUTES)) = 13
    size(sequence(DATE '2020-01-01', DATE '2024-12-31')) > v
    format_string('%05d-%s', v, s) = '00001-a'
    date_format(ts, 'yyyy-MM-dd HH:mm') = '2024-01-01 00:00'
    aggregate(a, 0L, (acc, x) -> acc + x) > 10
    aggregate(a, '', (acc, x) -> concat(acc, ',', CAST(x AS STRING))) = s
    aggregate(a, 0L, (acc, x) -> acc + x, acc -> acc * 10) > 1
    exists(a, x -> x > v)
    size(filter(a, x -> x % 2 = 0)) > 1
    size(transform(transform(a, x -> x + 1), y -> y * v)) > 1
    array_join(transform(a, x -> CAST(x AS STRING)), '-') = s
    from_json(s, 'a INT, b STRING').a > 1
    from_json(s, 'a TIMESTAMP', map('timestampFormat', 'dd/MM/yyyy')).a > ts
    get_json_object(s, '$.a.b') = 'x'
    to_json(st) = s
    to_json(named_struct('a', v, 'b', s), map('ignoreNullFields', 'false')) = s
    sha2(concat_ws('|', s, st.g), 256) = s
    xxhash64(s, v) % 10 = 3
    levenshtein(s, st.g) < 3
    replace(s, ' ', '') = 'x'
    hex(unhex(s)) = s
    date_trunc('HOUR', ts) = ts
    to_timestamp(s, 'yyyy-MM-dd') > ts
    ts > TIMESTAMP '2024-01-01 00:00:00' AND d >= DATE '2024-01-01'
    CAST('2024-01-01' AS DATE) = d
    CAST(s AS DATE) = d AND to_date(s) = d
    s IN ('now', 'today', '$5 {x}')
    s = 'costs $5' AND s <> '{}'
    element_at(map('a', 1, 'b', 2), s) = 1
    flatten(array(a, a))[0] = 1
    width_bucket(v, 0, 100, 10) = 3
    coalesce(st.f, v, 0) BETWEEN 1 AND 5
    array_position(array_sort(array_distinct(a)), 3) > 0
    translate(initcap(s), 'abc', 'xyz') = 'X'
    url_decode(parse_url(s, 'QUERY', 'q')) = 'x'
    zip_with(a, a, (x, y) -> x + y)[0] > 2
    map_filter(map_from_arrays(array('a'), array(v)), (k, x) -> x > 1) IS NOT NULL
""".strip()
    .replace("\\\\\\\\", "\\\\")
    .splitlines()
)


@pytest.mark.parametrize("sql", [line.strip() for line in HONEST])
def test_what_honest_users_write_is_accepted(sql):
    check_untrusted([Query("q", aggs=N, window=WINDOW, where=sql, trusted=False)])


@pytest.mark.parametrize(
    "agg",
    [
        "sum(v * 2) / nullif(count(*), 0)",
        "approx_count_distinct(s)",
        "approx_count_distinct(s, 0.01)",
        "approx_percentile(v, array(0.5, 0.9), 100000)",
        "first_n(s, 1000)",
        "array_join(collect_list(s), ',')",
        "size(collect_set(s))",
        "to_json(collect_list(named_struct('a', v)))",
    ],
)
def test_aggregates_of_honest_users_are_accepted(agg):
    check_untrusted([Query("q", aggs={"n": agg}, window=WINDOW, trusted=False)])


def test_a_function_that_the_owner_allows_is_not_bounded(monkeypatch):
    asked = Query("q", aggs=N, window=WINDOW, where="size(sequence(1, v)) > 5", trusted=False)
    with pytest.raises(QueryError):
        check_untrusted([asked])
    monkeypatch.setenv("WEFT_ALLOW_FUNCTIONS", "sequence")
    check_untrusted([asked])


def test_the_owner_raises_a_limit(monkeypatch):
    asked = Query("q", aggs=N, window=WINDOW, where="length(repeat(s, 2000)) > 5", trusted=False)
    with pytest.raises(QueryError, match="value_bytes of WEFT_LIMITS"):
        check_untrusted([asked])
    monkeypatch.setenv("WEFT_LIMITS", "value_bytes=5000000")
    check_untrusted([asked])


def test_the_programs_own_query_is_not_asked():
    check_untrusted([Query("q", aggs=N, window=WINDOW, where="my_udf(repeat(s, v)) > 5")])


def test_a_text_cannot_say_that_it_is_trusted():
    data = Query("q", aggs=N, window=WINDOW, where="my_udf(v) > 5").to_dict()
    assert data["trusted"] is True
    assert not Query.from_dict(data, trusted=False).trusted
    assert not Query.from_dict({**data, "trusted": "yes"}).trusted
