"""Fragments on Spark: bit i of a row's fragment is what `where(p_i)` decides about the row."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from functools import reduce

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from weft.engine.fragments.atoms import IntervalIndex
from weft.engine.fragments.facets import Volume, split_facets
from weft.engine.fragments.fragments import FragmentLimits, FragmentPlan
from weft.query.expression import normalise
from weft.spark.batch.fragments import FRAGMENT, fragment_plan, with_fragments

SCHEMA = (
    "id int, i int, l bigint, y tinyint, d double, r float, c decimal(10,2), w decimal(30,4), "
    "s string, f boolean, g boolean, a date, t timestamp, x int"
)
NAN, INF = float("nan"), float("inf")
POOLS: dict[str, list[object]] = {
    "i": [0, 2, 3, -3, 7, 100, 2**31 - 1, None],
    "l": [0, 2**53 + 1, -(2**63), 2**63 - 1, 3, None],
    "y": [-128, 0, 2, 3, 127, None],
    "d": [0.0, -0.0, 2.5, NAN, -INF, INF, 0.1, 1e300, None],
    "r": [0.0, 2.5, NAN, 0.10000000149011612, 16777216.0, -INF, None],
    "c": [Decimal("2.50"), Decimal("-1.00"), Decimal("0.00"), Decimal("99999999.99"), None],
    "w": [Decimal("2.5000"), Decimal("2.4999"), Decimal("12345678901234567890123456.7891"), None],
    "s": ["a", "b", "", "é", "zz", "a'\\b", "ab", None],
    "f": [True, False, None],
    "g": [True, False, None],
    "a": [dt.date(2024, 1, 1), dt.date(1969, 12, 31), dt.date(2024, 1, 2), None],
    "t": [dt.datetime(2024, 1, 1, 12), dt.datetime(2024, 1, 1), None],
    "x": [0, 1, 2, -5, None],
}
CONSTANTS: dict[str, list[str]] = {
    "i": ["-3", "0", "2", "2.5", "3L", "7", "2147483648", "2e0", "1.0000000001"],
    "l": ["0", "9007199254740993", "-9223372036854775807", "2.5", "3", "9007199254740992D"],
    "y": ["-128", "0", "2.0", "300", "1.5F", "2e0"],
    "d": ["0", "0.0D", "2.5", "0.1", "1e300", "-1", "9007199254740993", "0.1F"],
    "r": ["0", "2.5", "0.1", "0.1F", "16777217", "0.1D"],
    "c": ["2.5", "2.501", "0", "-1", "99999999.99", "100000000", "2.5D"],
    "w": ["2.4999", "2.49995", "0", "12345678901234567890123456.7891"],
    "s": ["'a'", "'b'", "''", "'é'", "'zz'", "'a\\'\\\\b'"],
    "a": ["DATE'2024-01-01'", "'2024-01-02'", "DATE'1970-01-01'", "TIMESTAMP'2024-01-01 12:00:00'"],
    "t": ["TIMESTAMP'2024-01-01 12:00:00'", "'2024-01-01 00:00:00'", "DATE'2024-01-01'"],
}
OTHERS = [
    *(
        "f",
        "NOT f",
        "f = TRUE",
        "g <> FALSE",
        "f IS NOT TRUE",
        "g IS FALSE",
        "f = g",
        "NOT (f AND g)",
    ),
    *("s LIKE 'a%'", "NOT (s LIKE 'a%')", "length(s) > 1", "upper(s) = 'A'", "s IS NULL"),
    *("i IS NULL", "d IS NOT NULL", "isnan(d)", "i > x", "i % 3 = 0", "d * 2 > 5"),
    # Predicates that fail on some rows unless they are guarded.
    *("x <> 0 AND 10 / x > 2", "x <> 0 AND 10 / x > 5", "x = 0 OR 10 / x > 2"),
    *("x > 0 AND 7 % x = 1", "f AND x <> 0 AND i DIV x > 1", "x <> 0 AND (f OR 10 / x < 6)"),
    *("x IS NOT NULL AND x <> 0 AND 10 / x IN (5, 10)", "x <> 0 AND NOT (10 / x > 2 OR i > 3)"),
    *("CASE WHEN x <> 0 THEN 10 / x > 2 END", "length(s) = 1 AND ascii(s) > 97"),
    *("coalesce(f, g, FALSE)", "NOT (f AND g)"),
]


def table(spark: SparkSession, seed: int, count: int = 60) -> DataFrame:
    """Rows of random edge cases. They are never cached, because Spark's cache loses NaN rows."""
    random = np.random.default_rng(seed)
    drawn = [[pool[k] for k in random.integers(0, len(pool), count)] for pool in POOLS.values()]
    rows = [(number, *row) for number, row in enumerate(zip(*drawn, strict=True))]
    schema = spark.createDataFrame([], SCHEMA).schema
    assert isinstance(schema, T.StructType)
    return spark.createDataFrame(rows, schema).repartition(2)


@st.composite
def leaves(draw: st.DrawFn) -> str:
    if draw(st.integers(0, 3)) == 0:
        return draw(st.sampled_from(OTHERS))
    column = draw(st.sampled_from(list(CONSTANTS)))
    constant = st.sampled_from(CONSTANTS[column])
    shape = draw(st.integers(0, 9))
    if shape == 0:
        return f"{column} {draw(st.sampled_from(['<=>', 'IS DISTINCT FROM']))} {draw(constant)}"
    if shape == 1:
        return f"{column} BETWEEN {draw(constant)} AND {draw(constant)}"
    if shape <= 3:
        items = draw(st.lists(constant, min_size=1, max_size=3))
        return f"{column} {draw(st.sampled_from(['IN', 'NOT IN']))} ({', '.join(items)})"
    return f"{column} {draw(st.sampled_from(['=', '<>', '<', '<=', '>', '>=']))} {draw(constant)}"


predicates = st.recursive(
    leaves(),
    lambda inner: st.one_of(
        st.builds("({}) AND ({})".format, inner, inner),
        st.builds("({}) OR ({})".format, inner, inner),
        st.builds("NOT ({})".format, inner),
    ),
    max_leaves=4,
)


def bits(df: DataFrame, plan: FragmentPlan) -> dict[int, list[bool]]:
    """For every row that was kept, by id, the predicates of its fragment."""
    rows = with_fragments(df, plan).select("id", FRAGMENT).collect()
    codes = [tuple(row[1]) if isinstance(row[1], tuple) else (row[1],) for row in rows]
    words = [np.array(word) for word in zip(*codes, strict=True)] or [np.empty(0)] * plan.words
    members = plan.members(words)
    assert plan.keeps_all or members.any(axis=1).all()
    return {row[0]: found.tolist() for row, found in zip(rows, members, strict=True)}


def filtered(df: DataFrame, asked: Sequence[str | None]) -> dict[int, list[bool]]:
    """The results of Spark's own filters, one query for each, in one job."""
    queries = [
        (df if predicate is None else df.where(predicate)).select(F.lit(i).alias("p"), "id")
        for i, predicate in enumerate(asked)
    ]
    found: dict[int, list[bool]] = {}
    for number, row in reduce(DataFrame.unionAll, queries).collect():
        found.setdefault(row, [False] * len(asked))[number] = True
    return found


def evaluated(df: DataFrame, asked: Sequence[str]) -> dict[int, list[bool]]:
    """The predicates evaluated as columns, which are faster to plan than as many filters."""
    conf, setting = df.sparkSession.conf, "spark.sql.subexpressionElimination.enabled"
    conf.set(setting, "false")  # it would move 10 / x out of its guards
    try:
        bools = [
            F.coalesce(F.expr(sql), F.lit(False)).alias(f"b{i}") for i, sql in enumerate(asked)
        ]
        rows = [list(row) for row in df.select("id", *bools).collect()]
    finally:
        conf.unset(setting)
    return {row[0]: row[1:] for row in rows if any(row[1:])}


@given(
    st.lists(predicates, min_size=15, max_size=30),
    st.integers(0, 9),
    st.sampled_from([FragmentLimits(few=0), FragmentLimits(), FragmentLimits(4, 0)]),
)
@settings(
    max_examples=8,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # shrinking would take many jobs
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_bits_are_what_predicates_say(
    spark: SparkSession, drawn: list[str], seed: int, limits: FragmentLimits
) -> None:
    asked = list(dict.fromkeys(normalise(sql) for sql in drawn))
    df = table(spark, seed)
    assert bits(df, fragment_plan(df, asked, limits)) == evaluated(df, asked), asked


def test_facets_tell_the_same_apart(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Volume, "cost", lambda self, cells, predicates: cells)
    df = table(spark, 12, 200)
    asked: list[str | None] = [f"i > {k}" for k in range(-3, 6)]
    asked += [f"d < {k / 2}" for k in range(-3, 6)] + [f"f AND s LIKE '%{k}'" for k in "ab"]
    asked = [None if sql is None else normalise(sql) for sql in asked]
    for every in ([], [None]):  # with and without a query that accepts every row
        plan = fragment_plan(df, asked + every)
        facets = split_facets(plan, Volume())
        assert facets.faceted
        assert facets.words > 1
        rows = with_fragments(df, facets).select("id", FRAGMENT).collect()
        members = facets.members((np.array([row[1] for row in rows]),))
        # A row must appear at most once for each predicate, or it would count twice.
        counted = {row[0]: np.zeros(len(asked + every), dtype=int) for row in rows}
        for row, found in zip(rows, members, strict=True):
            counted[row[0]] += found
        assert max(taken.max() for taken in counted.values()) == 1
        expected = evaluated(df, [sql or "TRUE" for sql in asked + every])
        assert {id_: (n > 0).tolist() for id_, n in counted.items() if n.any()} == expected


def test_bits_are_what_filters_decide(spark: SparkSession) -> None:
    asked = list(dict.fromkeys(normalise(sql) for sql in OTHERS))
    asked += ["i > 2", "i <= 2", "d > 2.5", "d <= 2.5", "s IN ('a', 'é')", "c = 2.5"]
    df = table(spark, 11, 150)
    assert bits(df, fragment_plan(df, asked)) == filtered(df, asked)


@pytest.mark.parametrize("column", list(CONSTANTS))
def test_every_comparison_of_every_type(spark: SparkSession, column: str) -> None:
    df = table(spark, 3, 200)
    asked = [
        normalise(f"{column} {op} {constant}")
        for constant in CONSTANTS[column]
        for op in ("=", "<", ">=", "<=>")
    ]
    asked = list(dict.fromkeys(asked))
    plan = fragment_plan(df, asked, FragmentLimits(few=0))
    found = bits(df, plan)
    assert found
    assert found == evaluated(df, asked)
    if column != "t":
        assert any(isinstance(f, IntervalIndex) and f.boundaries for f in plan.atoms.values())


def test_a_thousand_predicates_of_three_kinds(spark: SparkSession) -> None:
    df = table(spark, 5, 300)
    asked: list[str | None] = [f"f AND i > {k}" for k in range(-200, 200)]
    asked += [f"g AND d < {k / 8}" for k in range(300)]
    asked += [f"s LIKE '%{k}'" for k in range(290)] + ["s LIKE '%a%'", None]
    plan = fragment_plan(df, asked)
    assert plan.words > 1
    found = bits(df, plan)
    assert len(found) == 300
    counts = np.array(list(found.values())).sum(axis=0)
    some = [0, 150, 199, 203, 399, 400, 419, 420, 699, 700, 990, 991]
    row = df.select(
        *(F.count_if(F.expr(asked[k] or "TRUE")).alias(f"n{k}") for k in some)
    ).collect()[0]
    assert counts[some].tolist() == list(row)


@pytest.mark.parametrize(
    ("asked", "fails"),
    [
        (["10 / x > 2", "i > 1"], True),
        (["10 / x > 2 AND f", "10 / x > 3 AND f", "10 / x > 4 AND f", "10 / x > 5 AND f"], True),
        (["x <> 0 AND 10 / x > 2", "x <> 0 AND 10 / x > 5", "x <> 0 AND 10 / x > 7"], False),
        ([f"x <> 0 AND 10 / x > {k}" for k in range(8)], False),
        (["x = 0 OR 10 / x > 2", "x = 0 OR 10 / x > 5"], False),
        (["(x = 0 OR 10 / x > 2) AND f", "(x = 0 OR 10 / x > 5) AND f"], False),
        # A null conjunct is equivalent to false; under OR, null is not.
        (["f AND 10 / x > 2", "f AND 10 / x > 5"], False),
        ([f"f AND 10 / x > {k}" for k in range(8)], False),
        (["(f AND 10 / x > 2) OR i = 77", "i > 1"], True),
        (["CAST(s AS INT) > 1", "i > 1"], True),
        (["s IN ('7', '12') AND CAST(s AS INT) > 10", "s IN ('7', '12') AND s > 5"], False),
    ],
)
def test_errors_are_raised_exactly_where_spark_raises_them(
    spark: SparkSession, asked: list[str], fails: bool
) -> None:
    df = spark.createDataFrame(
        [(0, 0, 5, "q", None), (1, 2, 7, "12", False), (2, 5, None, "7", True)],
        "id int, x int, i int, s string, f boolean",
    ).coalesce(1)
    asked = [normalise(sql) for sql in asked]

    plans = [fragment_plan(df, asked, limits) for limits in (FragmentLimits(few=0), None)]
    if not fails:
        alone = filtered(df, asked)
        assert [bits(df, plan) for plan in plans] == [alone, alone]
        return
    spark.sparkContext.setLogLevel("OFF")  # the errors are meant
    known = "DIVIDE_BY_ZERO|CAST_INVALID_INPUT"
    with pytest.raises(Exception, match=known):
        filtered(df, asked)
    for plan in plans:
        with pytest.raises(Exception, match=known):
            bits(df, plan)


def test_python_functions_are_opaque_conditions(spark: SparkSession) -> None:
    spark.udf.register("weft_test_odd", lambda i: i is not None and i % 2 == 1, "boolean")
    spark.udf.register("weft_test_half", lambda i: None if i is None else i // 2, "int")
    df = table(spark, 1)
    asked = [normalise("weft_test_odd(i)"), normalise("f AND NOT weft_test_odd(i)")]
    asked += [normalise(f"weft_test_half(x) > {k}") for k in range(-3, 3)]
    assert bits(df, fragment_plan(df, asked)) == filtered(df, asked)


def test_one_predicate_is_a_filter(spark: SparkSession) -> None:
    df = table(spark, 2)
    plan = fragment_plan(df, ["i > 2"])
    assert bits(df, plan) == filtered(df, ["i > 2"])


def test_no_predicate_keeps_every_row(spark: SparkSession) -> None:
    df = table(spark, 2)
    rows = with_fragments(df, fragment_plan(df, [None])).select(FRAGMENT).collect()
    assert [row[0] for row in rows] == [0] * 60


def test_columns_and_names_stay_as_they_are(spark: SparkSession) -> None:
    df = table(spark, 2)
    asked = [f"i > {k}" for k in range(6)] + ["s LIKE 'a%'"]
    out = with_fragments(df, fragment_plan(df, asked), "mine")
    assert out.columns == [*df.columns, "mine"]
    assert out.schema["mine"].dataType == T.LongType()


def test_a_filter_on_the_fragment_is_not_pushed_into_its_computation(
    spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    df = table(spark, 2)
    plan = fragment_plan(df, [f"f AND i > {k}" for k in range(100)])
    with_fragments(df, plan).where(f"{FRAGMENT} > 3").groupBy(FRAGMENT).count().explain()
    filters = [line for line in capsys.readouterr().out.splitlines() if "Filter" in line]
    assert filters
    assert not any("shiftleft" in line for line in filters)
