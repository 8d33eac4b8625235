"""The mistakes in a job that only Spark can find: each gives one message and changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_cases import SCHEMA, write_trades
from click.testing import CliRunner

from weft.cli.main import cli

QUERY = "{name: hourly, aggs: {n: count(*)}, range: 1 hour, by: [symbol]}"
REST = "sink: {kind: parquet, path: out}\ncheckpoint: ck\n"
CASES = {
    "missing path": (
        "source: {format: parquet, path: nowhere, watermark: 1 minute}",
        QUERY,
        "job.yaml:1:33: source.path='nowhere': does not exist",
    ),
    "missing connector": (
        "source: {format: nosuchformat, path: trades, watermark: 1 minute}",
        QUERY,
        "job.yaml:1:18: source.format='nosuchformat': Spark has no such connector on its class "
        "path; check its spelling",
    ),
    "connector that has a package": (
        "source: {format: kafka, options: {kafka.bootstrap.servers: h, subscribe: t}, "
        "watermark: 1 minute}",
        QUERY,
        "job.yaml:1:18: source.format='kafka': Spark has no such connector on its class path; add "
        "to the job file connectors: [kafka]; in Python, start Spark with ",
    ),
    "bad schema": (
        "source: {format: parquet, path: trades, watermark: 1 minute, schema: ts TIMSTAMP}",
        QUERY,
        "job.yaml:1:70: source.schema='ts TIMSTAMP': is not a list of columns with their types: ",
    ),
    "missing time column": (
        "source: {format: parquet, path: trades, watermark: 1 minute, time: at}",
        QUERY,
        "job.yaml:1:68: source.time='at' is not a column of the source; it has 'ts', 'symbol'",
    ),
    "time of another type": (
        "source: {format: parquet, path: trades, watermark: 1 minute, time: symbol}",
        QUERY,
        "job.yaml:1:68: source.time='symbol' is of type string: accepted are TIMESTAMP, ",
    ),
    "missing column": (
        "source: {format: parquet, path: trades, watermark: 1 minute}",
        "{name: hourly, aggs: {hi: max(prize)}, range: 1 hour}",
        "job.yaml: query 'hourly' cannot run on this DataFrame: 'prize' is not a column of the "
        "stream, in 'max(prize)'; its columns are ts, symbol, price, volume",
    ),
    "aggregate of the wrong type": (
        "source: {format: parquet, path: trades, watermark: 1 minute}",
        "{name: hourly, aggs: {v: 'sum(array(volume))'}, range: 1 hour}",
        "job.yaml: query 'hourly' cannot run on this DataFrame: [DATATYPE_MISMATCH",
    ),
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch, spark) -> Path:
    write_trades(tmp_path / "trades" / "1.parquet", rows=20)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("command", ["run", "stream", "verify", "explain"])
@pytest.mark.parametrize("case", CASES)
def test_a_mistake_is_one_message(here, case, command):
    source, query, message = CASES[case]
    (here / "job.yaml").write_text(f"{source}\nqueries: [{query}]\n{REST}")
    before = sorted(here.rglob("*"))
    result = CliRunner().invoke(cli, [command, "job.yaml"])
    assert result.exit_code == 2, result.output
    assert result.stderr.startswith(f"weft: {message}"), result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""
    assert sorted(here.rglob("*")) == before


@pytest.mark.parametrize("kind", ["kafka, servers: h, topic: t", "delta, path: out"])
@pytest.mark.parametrize("command", ["run", "stream"])
def test_a_sink_without_its_connector(here, kind, command):
    (here / "job.yaml").write_text(
        f"source: {{format: parquet, path: trades, watermark: 1 minute, schema: '{SCHEMA}'}}\n"
        f"queries: [{QUERY}]\nsink: {{kind: {kind}}}\ncheckpoint: ck\n"
    )
    before = sorted(here.rglob("*"))
    result = CliRunner().invoke(cli, [command, "job.yaml"])
    assert result.exit_code == 2, result.output
    assert "job.yaml:3:14: sink.kind=" in result.stderr
    advice = "add to the job file" if kind.startswith("kafka") else "connector 'delta': Delta Lake"
    assert f"Spark has no such connector on its class path; {advice}" in result.stderr
    assert sorted(here.rglob("*")) == before


def test_an_error_while_it_runs_is_one_message_too(here):
    """A division by zero, which no check before the run can find."""
    (here / "job.yaml").write_text(
        "source: {format: parquet, path: trades}\n"
        "queries: [{name: bad, aggs: {v: sum(volume / (volume - volume))}, range: 1 hour}]\n"
    )
    result = CliRunner().invoke(cli, ["run", "job.yaml"])
    assert result.exit_code == 1, result.output
    assert result.stderr.startswith("query 'bad' failed: [DIVIDE_BY_ZERO]")
    assert result.stderr.endswith("1 of 1 queries failed\n")
    assert "Traceback" not in result.stderr
    assert "\tat " not in result.stderr
    assert len(result.stderr) < 600


def test_a_secret_in_an_error_is_hidden(here, monkeypatch):
    monkeypatch.setenv("WEFT_TEST_SECRET", "nosuchcodec-hunter2")
    (here / "job.yaml").write_text(
        "source: {format: csv, path: trades, schema: ts TIMESTAMP, "
        'options: {encoding: "${WEFT_TEST_SECRET}"}}\n'
        "queries: [{name: all, aggs: {n: count(*)}, range: 1 hour}]\n"
    )
    result = CliRunner().invoke(cli, ["--debug", "run", "job.yaml"])
    assert result.exit_code == 2, result.output
    assert "hunter2" not in result.output
    assert "***" in result.stderr


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_secret_in_the_error_of_a_query_is_hidden(here, monkeypatch, options):
    monkeypatch.setenv("WEFT_TEST_SECRET", "nosuchcodec-hunter2")
    (here / "job.yaml").write_text(
        "source: {format: csv, path: trades, schema: ts TIMESTAMP, "
        'options: {encoding: "${WEFT_TEST_SECRET}"}}\n'
        "plan: {rate: 10}\n"  # so that weft measures nothing first, and the query fails
        "queries: [{name: all, aggs: {n: count(*)}, range: 1 hour}]\n"
    )
    result = CliRunner().invoke(cli, ["run", "job.yaml", *options])
    assert result.exit_code == 1, result.output
    assert "CHARSET" in result.output
    assert "hunter2" not in result.output
