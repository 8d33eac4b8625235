"""`weft plan`: what a user sees."""

import json

import pytest
from click.testing import CliRunner

import weft
from weft.cli.main import cli
from weft.demo.trades import QUERIES as TRADES

SQL = """
-- name: hourly_high
SELECT symbol, max(price) AS high FROM trades GROUP BY window(ts, '1 hour', '10 minutes'), symbol;
-- name: half_hour_high
SELECT symbol, max(price) AS high FROM trades GROUP BY window(ts, '30 minutes'), symbol;
"""


@pytest.fixture
def run():
    def invoke(*args: str):
        return CliRunner().invoke(cli, [str(arg) for arg in args])

    return invoke


def test_the_built_in_workload_is_planned_and_explained(run):
    result = run("plan", TRADES)
    assert result.exit_code == 0, result.output
    assert "24 queries at 375 rows per second -> 2 trees" in result.output
    assert "cannot share: their group-by keys differ: symbol and none" in result.output


def test_json_is_a_plan_that_reads_back(run):
    result = run("plan", TRADES, "--json", "--strategy", "weave")
    assert weft.Plan.from_dict(json.loads(result.output)).strategy == "weave"


def test_a_file_of_sql_is_planned_and_the_default_rate_is_said(run, tmp_path):
    file = tmp_path / "queries.sql"
    file.write_text(SQL)
    result = run("plan", file)
    assert result.exit_code == 0, result.output
    assert "no rate given: planned for 1,000 rows per second" in result.output
    assert "hourly_high" in result.output


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--strategy", "best"], "strategy='best': accepted are"),
        (["--rate", "-3"], "rate=-3.0"),
        (["--keys", "none"], "keys='none'"),
    ],
)
def test_a_wrong_option_is_one_message(run, options, message):
    result = run("plan", TRADES, *options)
    assert result.exit_code == 2
    assert message in result.stderr


def test_engine_cost(run):
    result = run("plan", TRADES, "--cost", "engine", "--groups", "500")
    assert result.exit_code == 0, result.output
    assert "ns of work" in result.output
