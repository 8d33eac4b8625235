"""Sessions of every gap from the same slices equal Spark's own session_window."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
import pytest

import weft
from weft.errors import EngineError, PlanError
from weft.spark.verify.native import native

GAPS = ("1 microsecond", "5 minutes", "7 minutes", "3 hours", "2 days")
# No keys of doubles: with -0.0 and NaN as keys, Spark 4.3's own sessions fail ("must be sorted").
ASKED = ((None, ()), (None, ("k",)), ("x > 10", ("k", "s")), ("100 / nullif(x, 0) > 3", ("k",)))


@pytest.fixture(scope="module")
def df(spark):
    """Times that are unique within a key, many exactly a minute apart, and some before 1970."""
    random = np.random.default_rng(3)
    rows = []
    for at in random.choice(9000, 500, replace=False):
        x = None if random.random() < 0.1 else int(random.integers(-50, 50))
        y = float(random.choice([0.0, -0.0, np.nan, 1.5, np.inf]))
        when = datetime(1969, 12, 31) + timedelta(minutes=int(at), microseconds=int(at % 3 == 0))
        rows.append((when, "abc"[at % 3] if at % 7 else None, x, y, None if at % 11 else "s"))
    rows.append((None, "a", 1, 1.0, None))  # a row without a time is in no session
    return spark.createDataFrame(rows, "ts timestamp, k string, x int, y double, s string")


def loom_of(df, gaps=GAPS) -> weft.Loom:
    loom = weft.Loom(df, time="ts")
    for number, gap in enumerate(gaps):
        for place, (where, by) in enumerate(ASKED):
            loom.add(
                weft.Query(
                    f"s{number}_{place}",
                    aggs={
                        "n": "count(*)",
                        "nx": "count(x)",
                        "total": "sum(x)",
                        "hi": "max(y)",
                        "first_x": "min_by(x, ts)",
                        "last_s": "max_by(s, ts)",
                        "mean": "avg(x)",
                        "kinds": "count(DISTINCT s)",
                        "some": "sum(x) FILTER (WHERE s IS NULL)",
                        "both": "max(x) - min(x)",
                    },
                    window=weft.Session(gap=gap),
                    where=where,
                    by=by,
                    having="n > 1" if place == 3 else None,
                )
            )
    return loom


def test_sessions_of_every_gap_are_those_of_spark(df):
    loom = loom_of(df)
    loom.add(weft.Query("fixed", aggs={"n": "count(*)"}, window=weft.Window(range="1 hour")))
    assert "sessions by union" in loom.explain()
    report = loom.verify()
    assert report.ok, str(report)
    assert len(report.differences) == 21


CAPPED = (
    ("1 microsecond", "1 microsecond"),
    ("7 minutes", "7 minutes"),
    ("3 hours", "1 day"),
)


def loom_with_maxima(df) -> weft.Loom:
    """Sessions with and without a maximum, with all keys and predicates."""
    loom = loom_of(df, GAPS[2:4])
    for number, (gap, maximum) in enumerate(CAPPED):
        for place, query in enumerate(loom_of(df, [gap]).queries):
            told = query.to_dict() | {"name": f"m{number}_{place}"}
            loom.add(weft.Query.from_dict(told).over(weft.Session(gap=gap, maximum=maximum)))
    return loom


def test_sessions_with_a_maximum_are_those_of_their_plain_definition(df):
    """They share slices with sessions without one; there are negative times and null keys."""
    loom = loom_with_maxima(df)
    told = loom.explain(strategy="share_all")
    assert "sessions by union" in told
    assert "sessions with a maximum from the slices" in told
    report = loom.verify(strategy="share_all")
    assert report.ok, str(report)
    assert len(report.differences) == 4 * (2 + len(CAPPED))


def test_a_session_with_a_maximum_by_itself_is_not_run_as_plain_spark(df):
    """Spark has no such window, and the plain definition is a join."""
    loom = weft.Loom(df, time="ts")
    window = weft.Session(gap="5 minutes", maximum="12 minutes")
    loom.add(weft.Query("alone", aggs={"n": "count(*)"}, window=window, by="k"))
    assert "finals in Arrow code" in loom.explain()
    assert loom.verify().ok
    with loom.run() as results:
        ends = {row[0].minute % 12 for row in results["alone"].selectExpr("window.end").collect()}
    assert 0 in ends


def test_the_rewrite_engine_runs_sessions_with_a_maximum_as_they_are(df):
    loom = weft.Loom(df, time="ts")
    window = weft.Session(gap="5 minutes", maximum="12 minutes")
    loom.add(weft.Query("alone", aggs={"n": "count(*)"}, window=window, by="k"))
    assert loom.verify(engine="rewrite").ok


def test_azures_sessions_are_read_and_run(spark, df):
    loom = weft.Loom(df, time="ts")
    loom.add(
        "SELECT k, System.Timestamp() AS e, COUNT(*) AS n FROM t TIMESTAMP BY ts "
        "GROUP BY k, SessionWindow(minute, 5, 12) OVER (PARTITION BY k)",
        name="visits",
    )
    assert loom.queries[0].window == weft.Session(gap="5 minutes", maximum="12 minutes")
    assert loom.verify().ok


def test_all_answers_fit_one_table(df):
    loom = loom_of(df, GAPS[1:3])
    with loom.run() as results:
        found = {row[0]: row[1] for row in results.all().groupBy("query").count().collect()}
        for query in loom.queries:
            assert found.get(query.name, 0) == results[query.name].count()
        first = results.all().where("query = 's0_1'").selectExpr("window.*", "k", "n")
        plain = results["s0_1"].selectExpr("window.*", "k", "n")
        assert first.exceptAll(plain).isEmpty()


def test_the_rewrite_engine_runs_sessions_as_they_are(df):
    loom = loom_of(df, GAPS[1:3])
    assert "sessions as they are" in loom.explain(engine="rewrite", strategy="weave")
    assert loom.verify(engine="rewrite").ok


@pytest.mark.parametrize("kind", ["timestamp_ntz", "date"])
def test_other_times_have_sessions_too(df, kind):
    loom = loom_of(df.withColumn("ts", df.ts.cast(kind)).dropDuplicates(["ts", "k", "s"]), GAPS[3:])
    for query in list(loom.queries):  # any row of a day may be the first
        if kind == "date":
            loom.drop(query.name)
            kept = {n: sql for n, sql in query.aggs.items() if n not in ("first_x", "last_s")}
            loom.add(
                weft.Query(
                    query.name, aggs=kept, window=query.window, where=query.where, by=query.by
                )
            )
    report = loom.verify()
    assert report.ok, str(report)


def test_what_a_statement_selects_of_sessions(spark, df, tmp_path):
    from weft.query.sql import read_statements
    from weft.spark.whole import WholeBatch

    texts = [
        "SELECT session_window, k, count(*) AS n FROM t "
        "GROUP BY session_window(ts, '5 minutes'), k",
        "SELECT session_window.start AS s, session_window.end AS e, max(x) AS hi FROM t "
        "GROUP BY session_window(ts, '9 minutes') HAVING session_window.start > '1970-01-02'",
        "SELECT k, max(n) AS longest FROM (SELECT k, count(*) AS n FROM t "
        "GROUP BY session_window(ts, '7 minutes'), k) GROUP BY k ORDER BY k",
        "SELECT k, count(*) AS n FROM t GROUP BY session_window(ts, '3 minutes'), k "
        "ORDER BY n DESC, session_window.start, k LIMIT 5",
    ]
    statements = read_statements(";\n".join(texts))
    with WholeBatch(spark, {"t": df}, statements=statements) as whole:
        for text, asked in zip(texts, whole.asked, strict=True):
            assert asked.is_shared, (asked.why, asked.error)
            plain = whole.plain(asked)
            if asked.query is None:
                got = whole.use(asked, lambda frame, again: frame.collect())
                assert sorted(map(repr, got)) == sorted(map(repr, plain.collect())), text
            else:
                from weft.spark.results.selected import selected

                query = asked.query
                frame = whole.use(asked, lambda frame, again: frame)
                shown = selected(frame, query)
                assert shown.columns == plain.columns
                assert sorted(map(repr, shown.collect())) == sorted(map(repr, plain.collect()))


def test_a_gap_of_rows_runs_as_it_is(spark, df):
    from weft.query.sql import read_statements
    from weft.spark.whole import WholeBatch

    sql = (
        "SELECT k, count(*) AS n FROM t GROUP BY "
        "session_window(ts, CASE WHEN k = 'a' THEN '5 minutes' ELSE '1 minute' END), k"
    )
    with WholeBatch(spark, {"t": df}, statements=read_statements(sql)) as whole:
        (asked,) = whole.asked
        assert asked.how == "as it is"
        assert "a gap that depends on rows" in (asked.why or "")


def test_what_sessions_cannot_do_is_said(df):
    loom = loom_of(df, GAPS[:1])
    with loom.run() as results, pytest.raises(EngineError, match="asks for sessions"):
        results.wide(keys=["k"], queries=["s0_1"])
    with pytest.raises(PlanError, match="write_query"):
        loom.plan().to_sql()


def test_the_native_query_is_sparks_own(df):
    query = weft.Query("q", aggs={"n": "count(*)"}, window=weft.Session(gap="5 minutes"), by="k")
    plan = native(df, weft.Loom(df).axis, query)._jdf.queryExecution().analyzed().toString()
    assert "session_window" in plan
