"""`weft serve` and `weft query pause|resume` on the command line, without Spark."""

from __future__ import annotations

import json
import socket
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner
from serve_cases import SQL, bearer, client, write_checkpoint, write_plan

from weft.cli.main import cli
from weft.errors import EngineError
from weft.query.query import Query
from weft.query.sql import parse_query
from weft.serve.server import bound

JOB = """
source: {format: parquet, path: in, watermark: 1 minute}
queries:
  - {name: all, aggs: {n: count(*)}, range: 10 minutes}
sink: {kind: parquet, path: out}
checkpoint: ck
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job.yaml").write_text(JOB)
    return tmp_path


def invoke(*args: str, code: int = 0):
    result = CliRunner().invoke(cli, args)
    assert result.exit_code == code, result.output
    return result


def test_a_query_is_paused_and_resumed(here):
    write_checkpoint(here)
    told = invoke("query", "pause", "job.yaml", "busy trades", "hourly").stdout
    assert "paused busy trades: the stream is not running" in told
    listed = json.loads(invoke("query", "list", "job.yaml", "--json").stdout)
    assert [one["state"] for one in listed["queries"]] == ["paused", "paused", "answering"]
    assert "paused already" in invoke("query", "pause", "job.yaml", "hourly", code=2).stderr
    told = json.loads(invoke("query", "resume", "job.yaml", "hourly", "--json").stdout)
    (change,) = told["changes"]
    assert (change["query"], change["done"], change["by"]) == ("hourly", "resumed", "stored")
    before = invoke("query", "list", "job.yaml").stdout
    assert "no query 'x'" in invoke("query", "drop", "job.yaml", "hourly", "x", code=2).stderr
    assert invoke("query", "list", "job.yaml").stdout == before  # all or none
    assert "no query 'x'" in invoke("query", "resume", "job.yaml", "x", code=2).stderr


def test_a_query_added_on_the_page_while_no_stream_runs_goes_by_the_command(here, monkeypatch):
    """The dashboard has no Spark to check columns with, so it runs a separate command."""
    checkpoint = write_checkpoint(here)
    asked = []

    def change_queries(checkpoint, changes, rows, *, timeout):
        change, *_ = changes
        asked.append((checkpoint, Query.from_dict(change["query"]), change["backfill"]))
        return "stored", {"batch": 7, "complete_from": {"half": None}}

    def run(command, **how):
        assert command[1:3] == ["-m", "weft.cli"]
        done = CliRunner().invoke(cli, command[3:])
        return subprocess.CompletedProcess(command, done.exit_code, done.stdout, done.stderr)

    monkeypatch.setattr("weft.spark.streaming.changes.change_queries", change_queries)
    monkeypatch.setattr("weft.serve.changing.subprocess.run", run)
    page = client(here / "job.yaml", **bearer())
    added = page.post("/api/queries", json={"sql": SQL, "name": "half", "backfill": True})
    assert added.json() == {"queries": ["half"], "done": "added", "by": "stored"}
    [(where, query, backfill)] = asked
    assert (where, backfill) == (str(checkpoint), True)
    assert query == parse_query(SQL, "half")
    top = (
        f"-- name: top\nSELECT symbol, n FROM ({SQL.replace('symbol,', 'window, symbol,', 1)}) "
        "QUALIFY rank() OVER (PARTITION BY window ORDER BY n) = 1"
    )
    added = page.post("/api/queries", json={"sql": top})
    assert added.json() == {"queries": ["top"], "done": "added", "by": "stored"}
    assert "rank() OVER" in asked[-1][1].finish.sql
    monkeypatch.setattr("weft.spark.streaming.changes.change_queries", refuse)
    refused = page.post("/api/queries", json={"sql": SQL, "name": "half"})
    assert refused.status_code == 409
    assert refused.json()["error"]["message"] == "`price` cannot be resolved"


def refuse(*args, **how):
    raise EngineError("`price` cannot be resolved")


def test_a_bind_address_that_others_reach_demands_a_token(here, monkeypatch):
    monkeypatch.delenv("WEFT_TOKEN", raising=False)
    refused = invoke("serve", "job.yaml", "--host", "0.0.0.0", code=2).stderr
    assert "--host '0.0.0.0' is not loopback" in refused
    refused = invoke("serve", "job.yaml", "--token", "hunter2", code=2).stderr
    assert "at least 16" in refused


def test_what_is_missing_is_named(here, monkeypatch):
    assert "does not exist" in invoke("serve", "nothing.yaml", code=2).stderr
    monkeypatch.setattr("weft.cli.serve.find_spec", lambda name: None)
    assert "weft[dashboard]" in invoke("serve", "job.yaml", code=2).stderr


def test_a_port_that_is_taken_is_named(here):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(EngineError, match=f"--port {port}: .*--port 0 takes any"):
            bound("127.0.0.1", port)


def test_whoever_is_told_of_the_address_is_not_refused(here):
    with bound("127.0.0.1", 0) as listening:
        socket.create_connection(listening.getsockname(), timeout=5).close()


@pytest.mark.parametrize("args", [(), ("--read-only",), ("--token", "x" * 20)])
def test_it_says_where_it_is_and_keeps_a_given_token_to_itself(here, monkeypatch, args):
    ready: list[str] = []
    monkeypatch.setattr(
        "weft.serve.server.run_server",
        lambda app, host, port, tell, stopping: ready.append(tell("http://127.0.0.1:1") or ""),
    )
    write_plan(here / "plan.json")
    told = invoke("serve", "plan.json", *args).stdout
    assert "weft dashboard: http://127.0.0.1:1/\n" in told  # a plan needs no token
    write_checkpoint(here)
    told = invoke("serve", "ck", *args).stdout
    assert ("#token=" in told) == (not args)
    assert "x" * 20 not in told
    told = json.loads(invoke("serve", "ck", "--json", *args).stdout)
    assert told["url"] == "http://127.0.0.1:1"
    assert (told["token"] is None) == bool(args)
    assert len(ready) == 3
