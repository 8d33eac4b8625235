"""What an untrusted query must not do: run code, reach sessions or files, use too much."""

from __future__ import annotations

import pytest

from weft.errors import ExpressionError, QueryError, WeftError
from weft.job.asked import asked_queries
from weft.job.reading import load_job
from weft.job.tables import job_on_table
from weft.query.expression import normalise
from weft.query.functions import AGGREGATES, NOT_DETERMINISTIC
from weft.query.limits import FUNCTIONS, LIMITS, Limits, allows, check_queries
from weft.query.query import Query
from weft.query.sql import parse_query
from weft.query.trust import check_untrusted
from weft.query.trust.allowed import SCALAR_FUNCTIONS
from weft.query.window import Window

DANGEROUS = [
    "reflect('java.lang.System', 'exit', 1) = x",
    "java_method('java.lang.Runtime', 'getRuntime') = x",
    "try_reflect('java.lang.System', 'getenv', 'HOME') = x",
    "`reflect`('java.lang.System', 'exit', 1) = x",
    "REFLECT ('java.lang.System', 'exit', 1) = x",
    "system.builtin.reflect('java.lang.System', 'exit', 1) = x",
    "spark_catalog.default.my_function(x) = 1",
    "my_function(x) = 1",
    "input_file_name() = 'x'",
    "current_user() = 'root'",
    "current_user = 'root'",
    "session_user = 'root'",
    "current_database() = 'x'",
    "version() = '4'",
    "rand() < 0.5",
    "uuid() = 'x'",
    "monotonically_increasing_id() = 1",
    "localtime() = x",
    "ai_query('model', x) = 'y'",
    "http_request('GET', x) = 'y'",
    "read_files('/etc/passwd') = x",
    "from_protobuf(x, 'Message', '/etc/passwd') = x",
    "raise_error('stop') = x",
    "assert_true(x > 1)",
    "x IN (SELECT y FROM secrets)",
    "EXISTS (SELECT 1 FROM secrets)",
    "(SELECT max(y) FROM secrets) > 1",
    "transform(a, v -> reflect('java.lang.System', 'exit', v)) = a",
    "CASE WHEN x > 1 THEN current_catalog() END = 'c'",
]


@pytest.fixture(autouse=True)
def _nothing_is_allowed(monkeypatch):
    monkeypatch.delenv(FUNCTIONS, raising=False)


@pytest.mark.parametrize("sql", DANGEROUS)
def test_no_place_of_a_query_takes_it(sql):
    window, n = Window(range="1 hour"), {"n": "count(*)"}
    places = [
        {"aggs": n, "where": sql},
        {"aggs": n, "by": [f"{sql} AS k"]},
        {"aggs": n, "having": f"n > 1 AND {sql}"},
        {"aggs": {"n": f"count_if({sql})"}},
        {"aggs": {"n": f"max(x) FILTER (WHERE {sql})"}},
    ]
    for given in places:
        with pytest.raises(QueryError):
            check_untrusted([Query("q", window=window, trusted=False, **given)])
    with pytest.raises(QueryError):
        asked_queries(
            f"SELECT count(*) AS n FROM t WHERE {sql} GROUP BY window(ts, '1 hour')", "ts", name="q"
        )


@pytest.mark.parametrize(
    "given",
    [
        {"where": "fair_price(x) > 1"},
        {"by": ["fair_price(x) AS k"]},
        {"having": "fair_price(max(x)) > 1"},
        {"aggs": {"n": "fair_price(max(x))"}},
        {"aggs": {"n": "max(fair_price(x))"}},
        {"aggs": {"n": "max(x) FILTER (WHERE fair_price(x) > 1)"}},
    ],
    ids=str,
)
def test_a_function_of_ones_own_is_for_code_and_for_whom_the_owner_allows(given, monkeypatch):
    given = {"aggs": {"n": "count(*)"}, **given}
    check_untrusted([Query("q", window=Window(range="1 hour"), **given)])  # the program's own query
    asked = Query("q", window=Window(range="1 hour"), trusted=False, **given)
    with pytest.raises(ExpressionError, match=r"'q': fair_price is .* WEFT_ALLOW_FUNCTIONS=fair_"):
        check_untrusted([asked])
    monkeypatch.setenv(FUNCTIONS, "Fair_Price")
    check_untrusted([asked])
    monkeypatch.setenv(FUNCTIONS, "*")
    assert allows("anything")


def test_every_door_for_other_peoples_queries_asks(tmp_path):
    sql = "SELECT count(*) AS n FROM t WHERE uper(s) = 'A' GROUP BY window(ts, '1 hour')"
    file, job = tmp_path / "q.sql", tmp_path / "job.yaml"
    file.write_text(sql)
    text = "source: {format: parquet, path: in}\nqueries: [{files: [q.sql]}]\n"
    job.write_text(text)
    for door in (
        lambda: asked_queries(sql, "ts", name="q"),
        lambda: job_on_table(file, "rows.parquet"),
        lambda: load_job(job),
    ):
        with pytest.raises(WeftError, match=r"uper is not one of .*did you mean .*upper"):
            door()
    assert parse_query(sql, "q").where == "uper(s) = 'A'"


def test_what_is_allowed_does_not_allow_what_is_refused_by_name(monkeypatch):
    monkeypatch.setenv(FUNCTIONS, "*")
    with pytest.raises(ExpressionError, match="reflect runs code of the JVM"):
        normalise("reflect('java.lang.System', 'exit', 1) = x")


def test_the_lists_do_not_overlap():
    assert not SCALAR_FUNCTIONS & set(NOT_DETERMINISTIC)
    assert not SCALAR_FUNCTIONS & AGGREGATES
    assert len(SCALAR_FUNCTIONS) > 350


def query(name: str = "q", **more) -> Query:
    window = more.pop("window", Window(range="1 hour"))
    return Query(name, aggs={"n": "count(*)"}, window=window, **more)


@pytest.mark.parametrize(
    ("set_to", "queries", "message"),
    [
        ("queries=2", [query(f"q{i}") for i in range(3)], "3 queries are asked for: at most 2"),
        (
            "predicates=2",
            [query(f"q{i}", where=f"x > {i}") for i in range(3)],
            "3 predicates are asked for: at most 2 are accepted .the limit predicates of WEFT_LIM",
        ),
        (
            "progressions=2",
            [query(f"q{i}", window=Window(range=f"{i + 2} hours")) for i in range(3)],
            "3 progressions are asked for",
        ),
        (
            "windows_per_row=100",
            [query(window=Window(range="101 seconds", slide="1 second"))],
            "query 'q': a row lies in 101 windows .* at most 100",
        ),
    ],
)
def test_too_much_at_once(monkeypatch, set_to, queries, message):
    check_queries(queries)
    monkeypatch.setenv(LIMITS, set_to)
    with pytest.raises(QueryError, match=message):
        check_queries(queries)


def test_a_text_that_is_too_long(monkeypatch):
    monkeypatch.setenv(LIMITS, "text=80")
    with pytest.raises(ExpressionError, match=r"the expression has .* at most 80 are accepted"):
        normalise("x > 1" + " AND x > 2" * 10)
    with pytest.raises(QueryError, match=r"the statement has 1.. characters"):
        parse_query(
            "SELECT count(*) AS n, sum(a) AS a, sum(b) AS b, sum(c) AS c, sum(d) AS d "
            "FROM t GROUP BY window(ts, '1 hour')"
        )


@pytest.mark.parametrize(
    "text", ["queries", "queries=0", "queries=-1", "rows=5", "queries=²", "=1"]
)
def test_limits_that_are_none(text):
    with pytest.raises(QueryError, match="is not a limit: accepted are queries=N"):
        Limits.read(text)


@pytest.mark.parametrize(
    "name",
    ["../x", "/etc/passwd", "a/b", "..", ".", "a\x00b", "a\nb", " a", "x" * 256, "", "\ud800"],
)
def test_names_that_would_lead_elsewhere(name):
    with pytest.raises(WeftError):
        query(name)


@pytest.mark.parametrize("name", ["..a", "_weft", "été", "a b", "CON", "x" * 255, "'; DROP", "%2e"])
def test_other_names_stay_in_their_folder(name):
    from pathlib import PurePosixPath

    from weft.sinks.parquet import folder_name

    path = PurePosixPath(folder_name(query(name).name, 3))
    assert len(path.parts) == 2
    assert ".." not in path.parts
    assert path.name == "3"
    assert len(path.parts[0].encode()) <= 255


def test_names_that_differ_in_case_only_are_one():
    from weft.query.workload import Workload

    with pytest.raises(WeftError, match="compared without case"):
        Workload([query("Hourly"), query("hourly")])
