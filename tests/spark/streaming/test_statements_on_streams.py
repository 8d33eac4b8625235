"""Statements with SQL over windows' answers, on streams, compared with Spark over all rows.

SQL over the answers of one window            gives the same rows, window by window
SQL over the answers of several windows       is refused by name, and the others start
"""

from __future__ import annotations

import pytest
from same import AXIS
from test_running import wait_for

import weft
from conftest import MINUTE, START, Feed
from weft.errors import EngineError, QueryError, WeftError
from weft.sinks import MemorySink
from weft.spark.streaming.verify import verify_answers

COUNTED = "SELECT window, k, count(*) AS n FROM t GROUP BY window(ts, '10 minutes'), k"
STATEMENTS = {
    "top_two": """
        SELECT window.start AS since, k, count(*) AS n FROM t GROUP BY window(ts, '10 minutes'), k
        QUALIFY row_number() OVER (PARTITION BY since ORDER BY n DESC, k) <= 2
        ORDER BY since, n""",
    "ranked": f"""
        SELECT * FROM (SELECT *, rank() OVER (PARTITION BY window.start ORDER BY n DESC) AS r
                       FROM ({COUNTED})) WHERE r = 1""",
    "share": f"""
        WITH c AS ({COUNTED})
        SELECT window, k, n, round(n / sum(n) OVER (PARTITION BY window), 6) AS part FROM c""",
    "most": f"WITH c AS ({COUNTED}) SELECT window, max(n) AS m, max_by(k, n) AS who FROM c "
    "GROUP BY window HAVING max(n) > 3",
    "busiest": f"""
        WITH c AS ({COUNTED}), m AS (SELECT window, max(n) AS n FROM c GROUP BY window)
        SELECT c.window.end AS until, c.k, c.n
        FROM c JOIN m ON c.window = m.window AND c.n = m.n""",
    "sliding": """
        SELECT DISTINCT window, g FROM (
            SELECT window, g, k, sum(x) AS s FROM t WHERE b
            GROUP BY window(ts, '20 minutes', '5 minutes'), g, k) WHERE s > 10""",
    "rolled_up": "SELECT window, g, k, sum(x) AS s, count(*) AS n FROM t "
    "GROUP BY window(ts, '10 minutes'), ROLLUP(g, k)",
    "both": """
        SELECT a.window, a.n, b.m FROM
        (SELECT window, count(*) AS n FROM t GROUP BY window(ts, '10 minutes')) AS a
        LEFT JOIN (SELECT window, avg(x) AS m FROM t WHERE x > 18
                   GROUP BY window(ts, '10 minutes')) AS b ON a.window = b.window""",
    "all_of_them": """
        SELECT 'ten' AS what, window.end AS until, count(*) AS n FROM t
        GROUP BY window(ts, '10 minutes')
        UNION ALL
        SELECT 'five', window.end, count(*) FROM t GROUP BY window(ts, '5 minutes')""",
    "sessions": """
        SELECT session_window.end AS until, k, n FROM (
            SELECT session_window, k, count(*) AS n FROM t
            GROUP BY session_window(ts, '20 seconds'), k)
        QUALIFY rank() OVER (PARTITION BY session_window ORDER BY n DESC) = 1""",
    "daily": "SELECT to_date(ts) AS day, g, count(*) AS n FROM t GROUP BY to_date(ts), g",
    "by_the_hour": """
        SELECT date_trunc('hour', ts) AS hour, month(ts) AS m, sum(x) AS s FROM t
        GROUP BY date_trunc('hour', ts), month(ts)""",
    "an_hour_of_tens": f"""
        WITH c AS ({COUNTED})
        SELECT window(window, '1 hour').start AS since, max(n) AS m, count(DISTINCT k) AS ks
        FROM c GROUP BY window(window, '1 hour')""",
    "a_day_of_tens": f"""
        WITH c AS ({COUNTED})
        SELECT since, k, n FROM (
            SELECT w.start AS since, k, n, rank() OVER (PARTITION BY w ORDER BY n DESC) AS r
            FROM (SELECT window(window_time(window), '1 day', '1 day', '3 hours') AS w, k, n
                  FROM c)) WHERE r = 1""",
    "twenties_of_sessions": """
        SELECT w.end AS until, k, count(*) AS sessions, sum(n) AS n FROM (
            SELECT window(session_window, '20 minutes') AS w, k, n
            FROM (SELECT session_window, k, count(*) AS n FROM t
                  GROUP BY session_window(ts, '20 seconds'), k)) GROUP BY w, k""",
    "hours_of_starts": f"""
        SELECT date_trunc('hour', window.start) AS hour, k, max(n) AS m FROM ({COUNTED})
        GROUP BY date_trunc('hour', window.start), k""",
    "days_of_slides": """
        SELECT to_date(window.start) AS day, count(*) AS n, sum(s) AS s FROM (
            SELECT window, sum(x) AS s FROM t GROUP BY window(ts, '20 minutes', '5 minutes'))
        GROUP BY to_date(window.start)""",
    "halves_of_two": """
        SELECT a.w.end AS until, a.n, b.m FROM (
            SELECT window(window, '30 minutes') AS w, sum(n) AS n FROM (
                SELECT window, count(*) AS n FROM t GROUP BY window(ts, '10 minutes'))
            GROUP BY window(window, '30 minutes')) AS a
        JOIN (
            SELECT window(window, '30 minutes') AS w, max(s) AS m FROM (
                SELECT window, sum(x) AS s FROM t WHERE b GROUP BY window(ts, '5 minutes'))
            GROUP BY window(window, '30 minutes')) AS b ON a.w = b.w""",
    "hourly": "SELECT window, k, max(x) AS hi FROM t GROUP BY window(ts, '1 hour'), k",
}
REFUSED = {
    "LIMIT": (f"{COUNTED} ORDER BY n LIMIT 3", "no end to cut at: write QUALIFY"),
    "OVER all": (f"SELECT k, avg(n) OVER (PARTITION BY k) AS a FROM ({COUNTED})", "OVER over"),
    "DISTINCT": (f"SELECT DISTINCT k FROM ({COUNTED})", "an aggregate over answers of several"),
    "windows of windows that overlap": (
        f"WITH c AS ({COUNTED}) SELECT window(window, '1 hour', '20 minutes') AS w, max(n) AS m "
        f"FROM c GROUP BY window(window, '1 hour', '20 minutes')",
        "overlapping windows of windows",
    ),
    "sessions of windows": (
        f"WITH c AS ({COUNTED}) SELECT k, count(*) AS n FROM c "
        f"GROUP BY `session_window` (window.end, '1 hour'), k",
        "sessions over answers of several windows",
    ),
    "windows of windows of two sizes": (
        f"WITH c AS ({COUNTED}) SELECT window(window, '1 hour').end AS e, max(n) AS m FROM c "
        f"GROUP BY window(window, '1 hour') UNION ALL SELECT window(window, '2 hours').end, "
        f"max(n) FROM c GROUP BY window(window, '2 hours')",
        "have several sizes or offsets",
    ),
    "a subquery": (
        f"WITH c AS ({COUNTED}) SELECT * FROM c WHERE n > (SELECT avg(n) FROM c)",
        "a subquery over answers of several",
    ),
    "windows of two sizes": (
        f"WITH c AS ({COUNTED}), d AS (SELECT window, count(*) AS m FROM t "
        f"GROUP BY window(ts, '20 minutes', '10 minutes')) "
        f"SELECT c.k, d.m FROM c JOIN d ON c.window.start = d.window.start",
        "must be of one size",
    ),
    "starts of two sizes": (
        "SELECT s, sum(n) AS n FROM (SELECT window.start AS s, count(*) AS n FROM t "
        "GROUP BY window(ts, '10 minutes') UNION ALL SELECT window.start, count(*) FROM t "
        "GROUP BY window(ts, '5 minutes')) GROUP BY s",
        "an aggregate over answers of several",
    ),
    "starts of sessions": (
        "SELECT k, count(*) AS n FROM t GROUP BY session_window(ts, '1 minute'), k "
        "QUALIFY rank() OVER (PARTITION BY session_window.start ORDER BY count(*)) = 1",
        "OVER over answers of several",
    ),
    "an outer join's other side": (
        f"WITH c AS ({COUNTED}), d AS (SELECT window, k FROM c WHERE n > 3) "
        f"SELECT d.window, count(*) AS n FROM c LEFT JOIN d ON c.window = d.window "
        f"GROUP BY d.window",
        "an aggregate over answers of several",
    ),
    "another table": (f"SELECT * FROM ({COUNTED}) JOIN u USING (k)", "'u', which is no table"),
    "chance": (f"SELECT k, rand() AS r FROM ({COUNTED})", "rand is not deterministic"),
    "the clock": (f"SELECT k, now() AS r FROM ({COUNTED})", "now "),
    "the clock in a text": (
        f"SELECT k, TIMESTAMP 'now' AS r FROM ({COUNTED})",
        "may mean",
    ),
    "the clock without a word": (
        f"SELECT k, unix_timestamp() AS r FROM ({COUNTED})",
        "the time",
    ),
    "a constant that fails": (f"SELECT window, CAST('x' AS INT) AS y FROM ({COUNTED})", "CAST_INV"),
    "code": (f"SELECT reflect('java.lang.System', 'exit') FROM ({COUNTED})", "reflect"),
    "two columns of a name": (f"SELECT k, n AS k FROM ({COUNTED})", "two columns are called 'k'"),
}


def rows(frame: object) -> list[str]:
    return sorted(str(tuple(row)) for row in frame.collect())


def expected(spark: object, feed: Feed, sql: str) -> list[str]:
    """Spark's own answers over all rows, except windows with the last row, which stay open."""
    last = START + 900_000 * MINUTE
    feed.batch(spark).where(f"unix_micros(ts) < {last}").createOrReplaceTempView("t")
    return rows(spark.sql(sql))


def test_sql_within_a_window_is_sparks_over_all_rows_across_a_restart(
    spark: object, feed: Feed, tmp_path: object
) -> None:
    out, checkpoint = str(tmp_path / "out"), str(tmp_path / "ck")
    feed.minutes(0, 24, rows=200, late=2.0)

    def loom() -> weft.Loom:
        made = weft.Loom(feed.stream(spark), time="ts", watermark="5 minutes")
        for name, sql in STATEMENTS.items():
            made.add(sql, name=name)
        return made

    loom().start(out, checkpoint=checkpoint, trigger="available_now").await_termination()
    feed.minutes(23, 45, rows=200, late=2.0)
    feed.end()
    running = loom().start(out, checkpoint=checkpoint, trigger="available_now")
    running.await_termination()
    listed = {query.name for query in running.status().queries}
    for name, sql in STATEMENTS.items():
        found = weft.read_results(spark, out, name)
        assert rows(found) == expected(spark, feed, sql), name
        assert name in listed
    frontier = START + 900_000 * MINUTE
    seen = feed.batch(spark).where(f"unix_micros(ts) < {frontier}")
    report = verify_answers(
        seen, AXIS, running.catalogue, frontier, lambda name: weft.read_results(spark, out, name)
    )
    assert [one for one in report if not one.ok] == []
    assert {one.name for one in report} == set(STATEMENTS)
    with pytest.raises(WeftError, match="rolled_up_2"):  # its answers go into the statement's
        weft.read_results(spark, out, "rolled_up_2")


@pytest.mark.parametrize("what", REFUSED)
def test_sql_over_several_windows_is_refused_by_name(
    spark: object, feed: Feed, tmp_path: object, what: str
) -> None:
    sql, reason = REFUSED[what]
    feed.minutes(0, 1, rows=5)
    loom = weft.Loom(feed.stream(spark), time="ts", watermark="5 minutes")
    loom.add(sql, name="s")
    with pytest.raises((QueryError, EngineError), match="query 's'") as raised:
        loom.start(str(tmp_path / "out"), checkpoint=str(tmp_path / "ck"))
    assert reason in str(raised.value)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"output_mode": "update"}, "output_mode='update' does not give"),
        ({"engine": "rewrite"}, "engine='rewrite' does not give"),
    ],
)
def test_it_needs_whole_windows_of_the_operator(
    spark: object, feed: Feed, tmp_path: object, options: dict[str, str], reason: str
) -> None:
    feed.minutes(0, 1, rows=5)
    loom = weft.Loom(feed.stream(spark), time="ts", watermark="5 minutes")
    loom.add(STATEMENTS["ranked"], name="s")
    with pytest.raises(EngineError, match=reason):
        loom.start(str(tmp_path / "out"), checkpoint=str(tmp_path / "ck"), **options)


def test_a_statement_comes_fails_and_goes_with_all_of_its_queries(
    spark: object, feed: Feed, tmp_path: object
) -> None:
    feed.minutes(0, 30)
    sink = MemorySink()
    loom = weft.Loom(feed.stream(spark), time="ts", watermark="1 minute", offer=["g", "x"])
    loom.add(STATEMENTS["hourly"], name="hourly")
    running = loom.start(sink, checkpoint=str(tmp_path / "ck"), trigger="100 milliseconds")
    try:
        running.add(STATEMENTS["rolled_up"], name="up", backfill=True)
        names = {query.name for query in running.status().queries}
        assert names >= {"up", "up_2", "up_3"}
        with pytest.raises(EngineError, match="'up_2' is a part of 'up': drop that one"):
            running.drop("up_2")
        running.pause("up")
        states = {query.name: query.state for query in running.status().queries}
        assert {states[name] for name in ("up", "up_2", "up_3")} == {"paused"}
        running.resume("up")
        running.drop("up")
        assert {query.name for query in running.status().queries} == {"hourly"}
        failing = (
            "SELECT window, k, sum(x) AS s FROM t GROUP BY window(ts, '10 minutes'), ROLLUP(k)"
        )
        running.add(f"SELECT window, k, 100 / (s - s) AS q FROM ({failing})", name="bad")
        feed.minutes(60, 75)
        feed.minutes(90, 95)
        feed.minutes(95, 96)
        wait_for(lambda: len(running.catalogue.failed) == 2)
        states = {query.name: query.state for query in running.status().queries}
        assert states == {"hourly": "answering", "bad": "failed", "bad_2": "failed"}
    finally:
        running.stop()
