"""Queries in Spark SQL."""

from __future__ import annotations

import pytest

from weft.errors import AggregateError, ExpressionError, QueryError, WindowError
from weft.query.query import Query
from weft.query.source import Source
from weft.query.sql import parse_queries, parse_query, read_statements
from weft.query.window import Window

HOUR = Window(range="1 hour", slide="10 minutes")
WINDOW = "window(ts, '1 hour', '10 minutes')"


def test_the_whole_shape() -> None:
    q = parse_query(
        """
        SELECT window, t.symbol, upper(side) AS s, max(t.price) AS hi, sum(price)/count(*) AS mean
        FROM db.trades AS t
        WHERE 50 < t.volume AND t.side <> 'X'
        GROUP BY window(t.ts, '1 hour', '10 minutes', '1 minute'), symbol, upper(t.side)
        HAVING hi > 5 AND count(*) > 10
        """,
        name="all",
    )
    assert q == Query(
        "all",
        aggs={"hi": "max(price)", "mean": "sum(price) / count(*)"},
        window=Window(range="1 hour", slide="10 minutes", offset="1 minute"),
        where="volume > 50 AND side <> 'X'",
        by=["symbol", "upper(side) AS s"],
        having="max(price) > 5 AND count(*) > 10",
    )
    assert q.source == Source("db.trades", "ts")


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        ("window(ts, '1 hour')", Window(range="1 hour")),
        ("WINDOW(ts, \"1 hour\", '10 minutes')", HOUR),
        ("window(ts, interval 1 hour, interval '10' minutes)", HOUR),
        ("window(ts, 3600000000, 600000000)", HOUR),
        ("window(ts, '1 minute', '1 hour')", Window(range="1 minute", slide="1 hour")),
    ],
)
def test_windows(window: str, expected: Window) -> None:
    assert parse_query(f"SELECT count(*) AS n FROM t GROUP BY {window}").window == expected


@pytest.mark.parametrize(
    "items",
    ["count(*) AS n", "window, count(*) AS n", "window.start, window.end AS e, count(*) n"],
)
def test_the_window_may_be_selected_or_not(items: str) -> None:
    q = parse_query(f"SELECT {items} FROM t GROUP BY {WINDOW}")
    assert (q.aggs, q.by, q.window) == ({"n": "count(*)"}, (), HOUR)


@pytest.mark.parametrize(
    ("item", "name"),
    [
        ("max(price)", "max(price)"),
        ("count(*)", "count(1)"),
        ("max(price) `hi there`", "hi there"),
        ("max(price) - min(price)", "max(price) - min(price)"),
    ],
)
def test_outputs_without_a_name_get_one(item: str, name: str) -> None:
    q = parse_query(f"SELECT {item} FROM t GROUP BY {WINDOW}")
    assert list(q.aggs) == [name]


def test_keys_take_the_names_that_select_gives_them() -> None:
    q = parse_query(f"SELECT symbol AS s, count(*) AS n FROM t GROUP BY {WINDOW}, symbol, side")
    assert [key.name for key in q.keys] == ["s", "side"]
    assert [key.expression for key in q.keys] == ["symbol", "side"]


def test_a_time_that_is_computed() -> None:
    q = parse_query("SELECT count(*) AS n FROM t GROUP BY window(to_timestamp(s), '1 hour')")
    assert q.source == Source("t", "to_timestamp(s)")


def test_names_come_from_comments_the_caller_or_the_place() -> None:
    text = f"""
    -- two queries
    -- name: first one
    SELECT count(*) AS n FROM t GROUP BY {WINDOW};
    SELECT max(x) AS m FROM t GROUP BY {WINDOW};;
    -- Name: third
    SELECT min(x) AS m FROM t GROUP BY {WINDOW} -- name: not this
    ;
    """
    assert [q.name for q in parse_queries(text)] == ["first one", "q2", "third"]
    one = f"-- name: mine\nSELECT count(*) AS n FROM t GROUP BY {WINDOW}"
    assert parse_query(one).name == "mine"
    assert parse_query(one, name="yours").name == "yours"


def test_no_statement_is_no_query() -> None:
    assert parse_queries("-- nothing\n;") == []
    with pytest.raises(QueryError, match="one SELECT statement is expected, not 0"):
        parse_query("")
    with pytest.raises(QueryError, match="one SELECT statement is expected, not 2"):
        parse_query("SELECT 1; SELECT 2")
    with pytest.raises(QueryError, match="5 is not SQL"):
        parse_query(5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("sql", "kind", "message"),
    [
        ("SELECT count(*) AS n", QueryError, "accepted is SELECT ... FROM table"),
        ("SELECT count(*) AS n FROM t", QueryError, "GROUP BY needs one window"),
        ("SELECT count(*) AS n FROM t GROUP BY k", QueryError, "needs one window.*, not 0"),
        (
            f"SELECT count(*) AS n FROM t GROUP BY {WINDOW}, window(ts, '1 day')",
            QueryError,
            r"needs one window.*, not 2",
        ),
        ("SELECT count(*) n FROM t GROUP BY window(ts)", QueryError, "window takes"),
        ("SELECT count(*) n FROM t GROUP BY window(ts, d)", QueryError, "range must be a constant"),
        (
            "SELECT count(*) n FROM t GROUP BY window(ts, '1 month')",
            WindowError,
            r"range='1 month' is not a fixed length.* \(line 1, column 46\)",
        ),
        (
            "SELECT count(*) n FROM t GROUP BY window(ts, '1 hour', '0 seconds')",
            WindowError,
            "slide='0 seconds' must be longer than nothing",
        ),
        (f"SELECT * FROM t GROUP BY {WINDOW}", QueryError, "name the columns"),
        (
            f"SELECT k, count(*) n FROM t GROUP BY {WINDOW}",
            QueryError,
            r"k is neither under an aggregate nor in GROUP BY \(line 1, column 8\)",
        ),
        (
            f"SELECT count(*) n FROM t GROUP BY {WINDOW}, 1",
            QueryError,
            "item 1 of SELECT has an aggregate",
        ),
        (f"SELECT count(*) n FROM t GROUP BY {WINDOW}, window", QueryError, "write the window"),
        (
            f"SELECT max(x), max(x) FROM t GROUP BY {WINDOW}",
            QueryError,
            "is that of another output",
        ),
        (f"SELECT vector_sum(x) m FROM t GROUP BY {WINDOW}", AggregateError, "sum each element"),
        (f"SELECT sum(x m FROM t GROUP BY {WINDOW}", ExpressionError, "cannot be read as Spark"),
        (
            f"SELECT count(*) n FROM t WHERE rand() > 1 GROUP BY {WINDOW}",
            ExpressionError,
            r"rand is not deterministic.* \(line 1, column 32\)",
        ),
        (f"SELECT count(*) n FROM t GROUP BY {WINDOW} HAVING x > 1", AggregateError, "column x is"),
        (
            f"SELECT count(*) n FROM t WHERE a = b IS NULL GROUP BY {WINDOW}",
            ExpressionError,
            "is ambiguous",
        ),
        (
            f"SELECT count(*) n FROM t t2 (a) GROUP BY {WINDOW}",
            QueryError,
            "one table|cannot be read",
        ),
        (f"SELECT count(*) n FROM f(x) GROUP BY {WINDOW}", QueryError, "FROM needs one table"),
    ],
)
def test_refused(sql: str, kind: type[QueryError], message: str) -> None:
    with pytest.raises(kind, match=message) as caught:
        parse_query(sql, name="odd")
    assert str(caught.value).startswith("query 'odd': ")


def test_places_are_those_of_the_whole_text() -> None:
    good, bad = (f"SELECT {f}(x) AS m FROM t GROUP BY {WINDOW}" for f in ("max", "measure"))
    with pytest.raises(AggregateError, match=r"query 'q2': measure .*\(line 2, column 8\)"):
        parse_queries(f"{good};\n{bad}")


@pytest.mark.parametrize(
    ("items", "shown"),
    [
        ("window, k, count(*) AS n", [("window", "window"), ("`k`", "k"), ("`n`", "n")]),
        ("count(*) AS n, window.start AS s", [("`n`", "n"), ("window.start", "s")]),
        ("window.end, count(*)", [("window.end", "end"), ("`count(1)`", "count(1)")]),
        (f"{WINDOW}.start AS s, count(*) AS n", [("window.start", "s"), ("`n`", "n")]),
        ("k AS a, k AS b, count(*) AS n", [("`a`", "a"), ("`a`", "b"), ("`n`", "n")]),
        ("upper(k) AS u, count(*) AS n", [("upper(`k`)", "u"), ("`n`", "n")]),
        ("k AS a, k || '!' AS u, sum(x) AS n", [("`a`", "a"), ("`a` || '!'", "u"), ("`n`", "n")]),
        ("date_format(window.start, 'HH') AS h, count(*) AS n, 'v1' AS tag",
         [("date_format(window.start, 'HH')", "h"), ("`n`", "n"), ("'v1'", "tag")]),
    ],
)  # fmt: skip
def test_a_query_knows_what_is_selected_of_its_answers(items, shown):
    query = parse_query(f"SELECT {items} FROM t GROUP BY {WINDOW}, k")
    assert query.shown == tuple(shown)
    assert Query.from_dict(query.to_dict()).shown == query.shown
    assert query == Query.from_dict({**query.to_dict(), "shown": None})


def test_a_key_that_nobody_sees_needs_no_name():
    query = parse_query(f"SELECT count(*) AS n FROM t GROUP BY {WINDOW}, upper(k)")
    assert query.shown == (("`n`", "n"),)
    assert [key.name for key in query.keys] == ["upper(k)"]


@pytest.mark.parametrize("group", ["1, 2", f"2, {WINDOW}", "ALL", f"{WINDOW}, k"])
def test_positions_and_all_stand_for_items(group):
    query = parse_query(f"SELECT {WINDOW} AS w, k, count(*) AS n FROM t GROUP BY {group}", "q")
    assert query == Query("q", aggs={"n": "count(*)"}, window=HOUR, by="k")
    assert query.shown == (("window", "w"), ("`k`", "k"), ("`n`", "n"))


@pytest.mark.parametrize("key", ["'total'", "1", "NULL", "DATE '2026-01-01'"])
def test_a_constant_makes_no_groups(key: str) -> None:
    q = parse_query(f"SELECT {key} AS k, count(*) AS n FROM t GROUP BY {WINDOW}, {key}")
    assert (q.by, q.shown) == ((), ((key, "k"), ("`n`", "n")))


def test_a_byte_order_mark_is_no_part_of_a_text() -> None:
    assert parse_query(f"\ufeffSELECT count(*) AS n FROM t GROUP BY {WINDOW}").window == HOUR


def test_from_comes_after_select() -> None:
    with pytest.raises(QueryError, match="in this order"):
        parse_query(f"FROM t SELECT count(*) AS n GROUP BY {WINDOW}")


def test_all_is_no_column() -> None:
    q = parse_query(f"SELECT ALL k, sum(ALL v) AS s FROM t GROUP BY {WINDOW}, k")
    assert (q.by, q.aggs) == (("k",), {"s": "sum(v)"})


def test_a_column_may_have_the_whole_name_of_its_table() -> None:
    sql = "SELECT DB.t.k, sum(db.t.v.x) AS s FROM db.t GROUP BY window(db.t.ts, '1 hour'), db.t.k"
    q = parse_query(sql)
    assert (q.by, q.aggs) == (("k",), {"s": "sum(v.x)"})
    assert q.source == Source("db.t", "ts")


def test_a_text_is_no_name() -> None:
    with pytest.raises(ExpressionError, match="a text is no name"):
        parse_query(f"SELECT count(*) AS 'n' FROM t GROUP BY {WINDOW}")


def test_a_table_that_reads_itself_is_not_shared() -> None:
    read = "SELECT count(*) AS n FROM t JOIN r ON t.i = r.i GROUP BY window(ts, '1 hour')"
    recursive = "r AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM r WHERE i < 3)"
    (statement,) = read_statements(f"WITH RECURSIVE {recursive} {read}")
    assert (statement.queries, statement.is_spark) == ((), True)
    assert "WITH RECURSIVE" in statement.unshared
