"""What untrusted queries may use of the installed Spark: all its functions are classified."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

import pytest
import yaml
from pyspark.errors import ParseException
from pyspark.sql import DataFrame, SparkSession

import weft
from weft.errors import EngineError, WeftError
from weft.query import functions
from weft.query.syntax import reader
from weft.query.trust.allowed import REACHING, SCALAR_FUNCTIONS
from weft.query.trust.spark_tree import tree_refusal
from weft.spark import parsed
from weft.spark.as_written import SUBSTITUTE, as_written

WORDS = {"and", "or", "not", "between", "in", "div", "case", "when", "cast"}
"""Listed as functions, but operators or special forms in SQL."""
TABLES = {"range", "collations", "sql_keywords", "python_worker_logs", "schema_of_variant_agg"}
"""Functions that return tables or aggregate, which an expression over one row cannot call."""


def test_every_function_of_spark_is_allowed_or_refused_for_a_reason(spark: SparkSession) -> None:
    listed = {row[0] for row in spark.sql("SHOW SYSTEM FUNCTIONS").collect()}
    named = {name for name in listed if re.fullmatch(r"\w+", name)}
    judged = (
        SCALAR_FUNCTIONS
        | set(REACHING)
        | set(functions.NOT_DETERMINISTIC)
        | functions.GENERATORS
        | functions.AGGREGATES
        | functions.WINDOW_FUNCTIONS
        | functions.TIME_WINDOWS
    )
    assert len(named) > 400
    assert named - judged - WORDS - TABLES == set()
    assert SCALAR_FUNCTIONS - named == set()


def test_limits_hold_on_a_loom(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    df = spark.range(10).selectExpr("timestamp_seconds(id) AS ts", "id AS v")
    loom = weft.Loom(df, time="ts")
    for number in range(3):
        window = weft.Window(range=f"{number + 1} minutes")
        loom.add(weft.Query(f"q{number}", aggs={"n": "count(*)"}, window=window))
    assert loom.types() == {}
    monkeypatch.setenv("WEFT_LIMITS", "queries=2")
    loom.add(weft.Query("q3", aggs={"n": "count(*)"}, window=weft.Window(range="1 hour")))
    with pytest.raises(WeftError, match="4 queries are asked for: at most 2"):
        loom.run(rate=1.0)


FAMILIES = yaml.safe_load((Path(__file__).parents[1] / "query/trust/attacks.yaml").read_text())
ATTACKS = [
    pytest.param(family, attack, id=attack["sql"])
    for family, attacks in FAMILIES.items()
    for attack in attacks
    if "sql" in attack
]
BY_TREE = ("subqueries", "code", "files and network", "session and environment")
"""Families that Spark's tree alone reveals; the first gate checks clocks and sizes."""


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> DataFrame:
    spark.sql("DECLARE OR REPLACE VARIABLE secret STRING DEFAULT 'topsecret'")
    return spark.range(6).selectExpr(
        "timestamp_seconds(id) AS ts",
        "id AS v",
        "CAST(id AS STRING) AS s",
        "array(id, 1L) AS a",
        "DATE '2024-01-01' AS d",
        "named_struct('f', id, 'g', 'x') AS st",
    )


def untrusted(where: str) -> weft.Query:
    window = weft.Window(range="1 minute")
    return weft.Query("q", aggs={"n": "count(*)"}, window=window, where=where, trusted=False)


@pytest.mark.parametrize(("family", "attack"), ATTACKS)
def test_no_attack_reaches_spark(rows: DataFrame, family: str, attack: dict[str, str]) -> None:
    def ask() -> None:
        loom = weft.Loom(rows, time="ts")
        loom.add(untrusted(attack["sql"]))
        loom.types()

    with pytest.raises(WeftError) as refused:
        ask()
    assert attack["says"] in str(refused.value)
    assert "topsecret" not in str(refused.value)


@pytest.mark.parametrize(
    ("family", "attack"), [param for param in ATTACKS if param.values[0] in BY_TREE]
)
def test_sparks_own_tree_gives_it_away(
    spark: SparkSession, rows: DataFrame, family: str, attack: dict[str, str]
) -> None:
    """The second gate alone, on the raw text, without the first one."""
    sql = attack["sql"]
    options = "option" in attack["says"]  # names of options are ordinary constants in a tree
    try:
        parsed = spark._jsparkSession.sessionState().sqlParser().parseExpression(sql)
    except ParseException:
        return  # Spark itself does not read it
    names = {name.casefold() for name in rows.columns}
    refused = tree_refusal(sql, json.loads(parsed.toJSON()), lambda parts: parts[0] in names)
    assert (refused is not None) or options


@pytest.mark.parametrize(
    ("order", "says"),
    [
        ("x DESC", None),
        ("(SELECT 1)", "ScalarSubquery"),
        ("reflect('java.lang.System', 'exit')", "a call of 'reflect'"),
        ("nothing", "is not a column"),
    ],
)
def test_what_within_group_orders_by_is_judged_too(
    spark: SparkSession, order: str, says: str | None
) -> None:
    sql = f"percentile_cont(0.5) WITHIN GROUP (ORDER BY {order}) FILTER (WHERE x > 1)"
    read = "percentile_cont(0.5) WITHIN GROUP (ORDER BY x + nothing) FILTER (WHERE x > 1)"
    parsed = spark._jsparkSession.sessionState().sqlParser().parseExpression(sql)
    refused = tree_refusal(read, json.loads(parsed.toJSON()), lambda parts: parts[0] == "x")
    assert refused is None if says is None else says in str(refused)


def test_what_substitution_uncovers_is_refused_by_the_tree(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "refuse_substitution", lambda *given: None)
    sql = "s = '${ab'||\"}'||(SELECT 1)--\""
    parser = spark._jsparkSession.sessionState().sqlParser()
    assert spark.conf.get(SUBSTITUTE) == "true"
    nodes = json.loads(parser.parseExpression(sql).toJSON())
    assert "ScalarSubquery" in str(tree_refusal(sql, nodes, lambda parts: True))
    with as_written(spark):
        nodes = json.loads(parser.parseExpression(sql).toJSON())
    assert not any("Subquery" in node["class"] for node in nodes)


def test_texts_are_run_as_written(
    spark: SparkSession, rows: DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No engine substitutes variables, even in a text that has passed the first gate."""
    monkeypatch.setattr(reader, "refuse_substitution", lambda *given: None)
    monkeypatch.setenv("WEFT_TEST_SECRET", "3")
    query = weft.Query(
        "q",
        aggs={"n": "count(*)"},
        window=weft.Window(range="1 minute"),
        where="s = '${env:WEFT_TEST_SECRET}'",
        having="n > length('${env:WEFT_TEST_SECRET}') - 100",
    )
    for engine in ("operator", "rewrite"):
        loom = weft.Loom(rows, time="ts")
        loom.add(query)
        assert loom.run(rate=1.0, engine=engine)["q"].collect() == []
    assert spark.conf.get(SUBSTITUTE) == "true"


def test_the_sessions_setting_is_put_back(spark: SparkSession) -> None:
    with as_written(spark):
        with as_written(spark):
            assert spark.conf.get(SUBSTITUTE) == "false"
        assert spark.conf.get(SUBSTITUTE) == "false"
    assert spark.conf.get(SUBSTITUTE) == "true"
    spark.conf.set(SUBSTITUTE, "false")
    try:
        with as_written(spark):
            pass
        assert spark.conf.get(SUBSTITUTE) == "false"
    finally:
        spark.conf.unset(SUBSTITUTE)


def test_a_spark_that_will_not_switch_is_refused(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(spark.conf), "set", lambda self, name, value: None)
    with (
        pytest.raises(EngineError, match=r"variable\.substitute cannot be switched off"),
        as_written(spark),
    ):
        pass


def test_what_honest_users_write_passes_both_gates(rows: DataFrame) -> None:
    """Every form of expression that weft reads works in untrusted texts, with Spark's answers."""
    loom = weft.Loom(rows, time="ts")
    texts = [
        "v > 1 AND s LIKE '1%' OR NOT (v IN (1, 2)) AND s ILIKE ANY ('a%', '2%')",
        "v BETWEEN 1 AND 3 AND s IS NOT NULL AND (s <=> '1' OR s IS DISTINCT FROM '2')",
        "CASE WHEN v > 1 THEN s ELSE 'a' END = '2' OR CASE s WHEN '1' THEN true END",
        "v DIV 2 = 1 AND v % 2 = 0 AND ~v < 0 AND v & 2 = 2 AND v ^ 1 = 3 AND v | 1 = 3",
        "v >> 1 = 1 AND v << 1 = 4 AND -v < 0",
        "a[0] = 2 AND st.f = 2 AND st.g || 'y' = 'xy' AND element_at(a, 2) = 1",
        "try_cast(s AS INT) = 2 AND CAST(v AS DECIMAL(10, 2)) = 2 AND EXTRACT(SECOND FROM ts) = 2",
        "exists(a, x -> x > v - 1) AND aggregate(a, 0L, (acc, x) -> acc + x + v) > 1",
        "struct(v, s) IS NOT NULL AND ts > TIMESTAMP '1960-01-01' - INTERVAL 1 DAY",
        "s RLIKE '^[0-9]+$' AND s NOT LIKE '5' AND s LIKE '2' ESCAPE '/' AND NOT s LIKE ALL ('3%')",
    ]
    aggs = {
        "n": "count(*)",
        "m": "product(v) + max(v) / nullif(min(v), 0)",
        "f": "first_n(v, 3)",
        "h": "sum(v) FILTER (WHERE v > 1)",
        "i": "first(v) IGNORE NULLS",
        "c": "count(DISTINCT s)",
    }
    window = weft.Window(range="1 minute")
    having = "m > 0 OR parity = 1 OR window.start IS NOT NULL"
    by = ["v % 2 AS parity", "st.g"]
    loom.add(weft.Query("all", aggs=aggs, window=window, by=by, having=having, trusted=False))
    for number, where in enumerate(texts):
        n = {"n": "count(*)"}
        loom.add(weft.Query(f"q{number}", aggs=n, window=window, where=where, trusted=False))
    assert loom.verify(rate=1.0)


def test_names_of_tables_before_columns_are_known(rows: DataFrame) -> None:
    loom = weft.Loom(rows.alias("t"), time="ts")
    loom.add(untrusted("t.v > 1 AND t.st.f > 1"))
    assert loom.run(rate=1.0)["q"].count() == 1


def test_a_function_of_ones_own_in_sql(spark: SparkSession, rows: DataFrame) -> None:
    spark.udf.register("weft_test_even", lambda v: v % 2 == 0, "boolean")
    sql = "SELECT count(*) AS n FROM t WHERE weft_test_even(v) GROUP BY window(ts, '1 minute')"
    loom = weft.Loom(rows, time="ts")
    with pytest.raises(WeftError, match=r"weft_test_even is not one .* trusted=True"):
        loom.add(sql, name="even")
    loom.add(sql, name="even", trusted=True)
    assert loom.run(rate=1.0)["even"].first()["n"] == 3


def test_a_plan_of_other_queries_is_not_run(rows: DataFrame) -> None:
    loom, other = weft.Loom(rows, time="ts"), weft.Loom(rows, time="ts")
    loom.add(untrusted("v > 1"))
    other.add(untrusted("v > 2"))
    with pytest.raises(WeftError, match="the plan was made for other queries"):
        loom.run(plan=other.plan(rate=1.0))


def test_a_few_seconds_of_mutated_texts(spark: SparkSession, tmp_path: Path) -> None:
    """No accepted text contains anything forbidden as Spark reads it with substitution on."""
    script = Path(__file__).parents[2] / "scripts" / "fuzz.py"
    spec = importlib.util.spec_from_file_location("weft_fuzz_gate", script)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.SCRATCH = tmp_path
    module.TARGETS = {"gate": module.gate(module.parser_of(spark))}
    counts, crashes = module.fuzz(8.0, 0, tmp_path / "crashes")
    assert crashes == []
    assert counts["gate: accepted"] > 50
    assert counts["gate: refused"] > 200


def test_texts_that_reach_into_others_are_read_one_by_one(rows: DataFrame) -> None:
    """If parsed together, a text could hide in another by a quote, comment or extra parenthesis."""
    texts = ["v > 1", "v > 1) AS x, (reflect('a', 'b')", "v > 2 /*", "*/ v > 3", "s = 'a", "b' = s"]
    parser = parsed._Parser(rows.sparkSession)
    assert not parser._read_together(texts[:2])
    assert not parser._read_together(texts[2:4])
    assert not parser._read_together(texts[4:])
    assert parser._read_together(["v > 1 -- so", "v > 2", "s = ')'"])
    for sql in ("v > 1 -- so", "v > 2", "s = ')'"):
        together = [dict(node) for node in parsed._trees[parser._key(sql)]]
        assert [node["class"] for node in together] == [
            node["class"] for node in parser._read_one(sql)
        ]
