"""Numbers with thousands of digits: the error gives the position and does not repeat them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from weft.algebra.sketches import kll_size
from weft.errors import ExpressionError, QueryError, WeftError, WindowError, WorkloadError
from weft.job.reading import load_job
from weft.query.expression import normalise
from weft.query.files import load_workload
from weft.query.limits import Limits
from weft.query.predicate import comparison
from weft.query.query import Query
from weft.query.sql import parse_query
from weft.query.syntax.lexer import NUMBER, place, tokenize
from weft.query.window import Window
from weft.query.workload import Workload

LONG = "9" * 5000
GROUPED = "SELECT count(*) AS n FROM t GROUP BY"
FLINK = "SELECT count(*) AS n FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), {})) GROUP BY window_start"


def refused(kind: type[WeftError], message: str, do, *args) -> None:
    with pytest.raises(kind, match=message) as caught:
        do(*args)
    assert len(str(caught.value)) < 800


@pytest.mark.parametrize(
    "number",
    [LONG, f"{LONG}.5", f".{LONG}", f"{LONG}L", f"{LONG}BD", f"1e{LONG}", "9" * 350],
    ids=lambda number: number.replace(LONG, "N")[:10],
)
@pytest.mark.parametrize("sql", ["x > {}", "x > -{}", "x IN (1, {})", "x > interval {} days"])
def test_in_an_expression(sql, number):
    message = rf"has [\d,]+ characters: at most {NUMBER} are accepted \(line 1, column \d+\)"
    refused(ExpressionError, message, normalise, sql.format(number))


@pytest.mark.parametrize("number", ["1e9999999BD", "1e-99999999999999999999BD", "1E9999999"])
def test_an_exponent_that_no_number_of_pythons_has(number):
    refused(ExpressionError, "exponent has .* digits: at most 6", normalise, f"x > {number}")


def test_the_longest_number_goes_through_everything():
    longest = "9" * NUMBER
    found = comparison(normalise(f"x > -{longest}"))
    assert found.constant.value == -int(longest)
    assert float(found.constant.value) < 0
    assert kll_size(int(longest)) == 65535
    assert comparison(normalise("x > 1e-000006BD")).constant.kind == "decimal"


@pytest.mark.parametrize(
    "sql",
    [
        f"{GROUPED} window(ts, '{LONG} minutes')",
        f"{GROUPED} window(ts, {LONG})",
        f"{GROUPED} window(ts, INTERVAL {LONG} MINUTES)",
        f"{GROUPED} window(ts, INTERVAL '{LONG}' MINUTES)",
        f"SELECT count(*) AS n FROM t [RANGE '{LONG} min' SLIDE '5 min']",
        f"SELECT count(*) AS n FROM t [RANGE {LONG} SLIDE 5]",
        f"SELECT count(*) AS n FROM t [RANGE {LONG} MINUTES SLIDE 5 MINUTES]",
        f"SELECT count(*) AS n FROM t TIMESTAMP BY ts GROUP BY TumblingWindow(minute, {LONG})",
        f"SELECT count(*) AS n FROM t TIMESTAMP BY ts GROUP BY TumblingWindow(minute, 0.{LONG})",
        FLINK.format(f"INTERVAL '{LONG}' MINUTES"),
        FLINK.format(f"INTERVAL '1:{LONG}' HOUR TO MINUTE"),
        FLINK.format(f"INTERVAL '1.{LONG}' SECOND"),
    ],
    ids=lambda sql: sql.replace(LONG, "N")[-60:],
)
def test_in_the_window_of_each_dialect(sql):
    refused(QueryError, r"\(line 1, column \d+\)", parse_query, sql, "q")


@pytest.mark.parametrize(
    "sql",
    [
        f"approx_percentile(x, 0.5, {LONG})",
        f"approx_percentile(x, {LONG})",
        f"approx_count_distinct(x, 0.{LONG})",
        f"max_by(x, y, {LONG})",
        f"first_value(x) + {LONG}",
    ],
    ids=lambda sql: sql.replace(LONG, "N"),
)
def test_in_an_aggregate(sql):
    def ask() -> None:
        Query("q", aggs={"p": sql}, window=Window(range="1 hour"))

    refused(QueryError, "query 'q'.*at most", ask)


def test_in_a_window_and_a_rate():
    refused(WindowError, "must be longer", lambda: Window(range="0 seconds " * 1000))
    refused(WindowError, "mix integers", lambda: Window(range="1 second " * 1000, slide=3))
    refused(WorkloadError, "rate=an integer of", lambda: Workload([], rate=10**400))
    refused(QueryError, "is not a limit", Limits.read, f"queries={LONG}")


@pytest.mark.parametrize("field", ["range", "offset"])
def test_in_files(tmp_path: Path, field):
    entry = {"name": "q", "aggs": {"n": "count(*)"}, "range": "1 hour", field: "NUMBER"}
    text = json.dumps({"queries": [entry]}).replace('"NUMBER"', LONG)
    for name in ("w.json", "w.yaml"):
        (tmp_path / name).write_text(text)
        refused(WorkloadError, name, load_workload, tmp_path / name)
    job = tmp_path / "job.yaml"
    for number in (LONG, "0x" + "f" * 5000, "9" * 400):
        job.write_text(text.replace("{", '{"source": {"format": "x"}, ', 1).replace(LONG, number))
        refused(WeftError, "characters: at most 100", load_job, job)


def test_a_long_line_is_quoted_around_the_place_of_an_error():
    sql = "\tx > 1 AND " * 1000
    told = place(sql, 6000, "here")
    head, line, caret = told.split("\n")
    assert head == "here (line 1, column 6001):"
    assert len(line) < 200
    assert line.strip().startswith("...")
    assert line.endswith("...")
    assert line[len(caret) - 1] == sql[6000]
    assert [char == "\t" for char in line[: len(caret) - 1]] == [c == "\t" for c in caret[:-1]]
    assert place("a + ) b", 4, "no") == "no (line 1, column 5):\n  a + ) b\n      ^"


def test_numbers_as_users_write_them_are_taken():
    for text in ("1", "1.5", "1e10", "1E-300D", "9" * 38, "0." + "1" * 37 + "BD", "007"):
        assert [token.text for token in tokenize(text)] == [text]
