"""`weft translate`: what a user sees."""

import json

import pytest
from click.testing import CliRunner

from weft.cli.main import cli
from weft.query.query import Query
from weft.query.sql import parse_queries

SQL = """
-- name: high
SELECT symbol, max(price) AS hi FROM trades GROUP BY window(ts, '1 hour', '10 minutes'), symbol;
SELECT count(*) AS n FROM trades GROUP BY window(ts, '12 minutes', '5 minutes');
"""


@pytest.fixture
def run(tmp_path):
    (tmp_path / "queries.sql").write_text(SQL)

    def invoke(file, *args, stdin=None):
        path = file if file == "-" else tmp_path / file
        return CliRunner().invoke(cli, ["translate", str(path), *args], input=stdin)

    return invoke


@pytest.mark.parametrize("dialect", ["spark", "flink"])
def test_a_file_goes_through_and_reads_back(run, dialect):
    result = run("queries.sql", "--to", dialect)
    assert result.exit_code == 0, result.output
    assert parse_queries(result.stdout) == parse_queries(SQL)


def test_what_cannot_be_said_is_reported_and_the_rest_written(run):
    result = run("queries.sql", "--to", "cql")
    assert result.exit_code == 2
    assert "[RANGE '1 hour' SLIDE '10 minutes']" in result.stdout
    assert "q2" not in result.stdout
    assert "weft: query 'q2' cannot be written in CQL: " in result.stderr


def test_json(run):
    result = run("queries.sql", "--to", "asa", "--json")
    assert result.exit_code == 2
    found = json.loads(result.stdout)
    assert found["dialect"] == "asa"
    good, bad = found["queries"]
    assert Query.from_dict(good["query"]) == parse_queries(SQL)[0] == parse_queries(good["text"])[0]
    assert "does not divide its size" in bad["error"]
    assert "text" not in bad


def test_standard_input_and_options(run):
    text = "SELECT max(x) AS m FROM t [RANGE '1 hour' SLIDE '5 min']"
    result = run(
        "-", "--to", "flink", "--from", "cql", "--time", "tick", "--table", "u", stdin=text
    )
    assert result.exit_code == 0, result.output
    assert "TABLE u, DESCRIPTOR(tick)" in result.stdout


def test_the_dialect_may_be_said(run):
    result = run("queries.sql", "--to", "cql", "--from", "flink")
    assert "queries.sql: 2 of 2 statements are refused:" in result.stderr
    assert "query 'high': GROUP BY needs one TUMBLE" in result.stderr


def test_a_workload_in_yaml(run, tmp_path):
    (tmp_path / "w.yaml").write_text(
        "queries: [{name: a, aggs: {n: count(*)}, range: 5 minutes},"
        "{name: b, sql: 'SELECT COUNT(*) AS n FROM t GROUP BY Windows(Window(''x'', "
        "TumblingWindow(hour, 1)), Window(''y'', TumblingWindow(hour, 2)))'}]"
    )
    result = run("w.yaml", "--to", "spark")
    assert result.exit_code == 0, result.output
    assert [query.name for query in parse_queries(result.stdout)] == ["a", "b_x", "b_y"]
