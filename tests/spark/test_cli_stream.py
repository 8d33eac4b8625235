"""`weft stream` and `weft query`: a stream in one process, changed from another."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from cli_cases import SCHEMA, write_trades
from click.testing import CliRunner

from weft.cli.main import cli
from weft.sinks import read_results

pytestmark = pytest.mark.integration

JOB = f"""
source:
  format: parquet
  path: in
  schema: {SCHEMA}
  watermark: 1 minute
  options: {{maxFilesPerTrigger: 1}}
queries:
  - name: hourly
    sql: SELECT symbol, max(price) AS hi FROM trades GROUP BY window(ts, '1 hour'), symbol
  - {{name: all, aggs: {{n: count(*)}}, range: 10 minutes}}
sink: {{kind: parquet, path: out}}
checkpoint: ck
trigger: 200 milliseconds
spark: {{spark.master: "local[2]", spark.sql.session.timeZone: UTC}}
"""
TEN = "SELECT symbol, count(*) AS n FROM trades GROUP BY window(ts, '10 minutes'), symbol"


def weft(*args: str, code: int = 0):
    result = CliRunner().invoke(cli, args)
    assert result.exit_code == code, result.output
    return result


def rows_of(name: str) -> int:
    return pq.read_metadata(f"in/{name}.parquet").num_rows


class Stream:
    """`weft stream job.yaml --json` in a separate process group."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        command = [sys.executable, "-m", "weft.cli", "stream", "job.yaml", "--json"]
        self.errors = Path("stream.err").open("w")  # noqa: SIM115 (closed with the process)
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=self.errors, text=True, start_new_session=True
        )

    def until(self, event: str, rows: int | None = None) -> dict:
        """The next event of a kind; for micro-batches, the next one with this number of rows."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            told = json.loads(line)
            self.seen.append(told["event"])
            if told["event"] == event and rows in (None, told.get("rows")):
                return told
        raise AssertionError(f"no {event}: {Path('stream.err').read_text()}")

    def close(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(30)
        assert self.process.stdout is not None
        self.process.stdout.close()
        self.errors.close()


@pytest.fixture
def here(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job.yaml").write_text(JOB)
    write_trades(tmp_path / "in" / "0.parquet", 0, 30)
    return tmp_path


@pytest.fixture
def stream(here: Path) -> Iterator[Stream]:
    running = Stream()
    yield running
    running.close()


def test_queries_come_and_go_from_another_process_and_ctrl_c_stops_it(here, stream, spark):
    first = stream.until("batch", rows_of("0"))
    assert first["batch"] == 0
    assert first["seconds"] > 0
    assert (
        "added ten: takes effect in the running stream"
        in weft("query", "add", "job.yaml", TEN, "--name", "ten", "--owner", "ann").stdout
    )
    refused = weft("query", "add", "job.yaml", TEN, "--name", "ten", code=2)
    assert "query 'ten' runs already" in refused.stderr
    bad = TEN.replace("symbol", "simbol")
    refused = weft("query", "add", "job.yaml", bad, "--name", "bad", code=2)
    assert "'simbol' is not a column of the stream" in refused.stderr
    assert (
        "dropped all: takes effect in the running stream"
        in weft("query", "drop", "job.yaml", "all").stdout
    )
    told = json.loads(weft("query", "list", "job.yaml", "--json").stdout)
    assert [query["query"] for query in told["queries"]] == ["hourly", "ten"]
    assert told["running"]["pid"] == stream.process.pid
    refused = weft("stream", "job.yaml", code=2)
    assert f"runs on this checkpoint already, as process {stream.process.pid}" in refused.stderr

    write_trades(here / "in" / "1.parquet", 30, 100)
    stream.until("batch", rows_of("1"))  # others that close windows may precede it
    os.killpg(stream.process.pid, signal.SIGINT)  # to the whole group, as a terminal does
    stream.until("stopping")
    stopped = stream.until("stopped")
    assert stopped["total"] >= sum(stopped["answers"].values())
    assert {"added", "dropped"} <= set(stream.seen)
    assert stream.process.wait(60) == 0
    assert "Traceback" not in (here / "stream.err").read_text()

    listed = weft("query", "list", "job.yaml").stdout
    assert "2 queries" in listed
    assert "the stream is not running" in listed
    # Without a stream the change is written to the catalogue, for the next start.
    assert (
        "added again: the stream is not running"
        in weft("query", "add", "job.yaml", f"-- name: again\n{TEN}").stdout
    )
    assert (
        "'simbol' is not a column of the stream"
        in weft("query", "add", "job.yaml", bad, "--name", "bad", code=2).stderr
    )
    assert (
        "dropped ten: the stream is not running" in weft("query", "drop", "job.yaml", "ten").stdout
    )
    write_trades(here / "in" / "2.parquet", 100, 200)
    write_trades(here / "in" / "3.parquet", 1000, 1001, rows=1)
    ended = weft("stream", "job.yaml", "--once").stdout
    assert "started: 2 queries" in ended
    assert "ended after batch" in ended
    assert read_results(spark, str(here / "out"), "again").count() > 0
    hourly = spark.read.schema(SCHEMA).parquet(str(here / "in")).where("ts < '2023-11-15 10:00'")
    expected = hourly.selectExpr("window(ts, '1 hour') AS w", "symbol").distinct().count()
    assert read_results(spark, str(here / "out"), "hourly").count() == expected

    costs = weft("query", "costs", "job.yaml", "--by", "owner", "--csv").stdout.splitlines()
    assert {line.split(",")[0] for line in costs} == {"owner", "ann", "unowned"}
    logged = weft("stream", "job.yaml", "--once", "--log", "json").stdout.splitlines()
    events = [json.loads(line)["event"] for line in logged]
    assert (events[0], events[-1]) == ("started", "stopped")
    refused = weft("stream", "job.yaml", "--log", "json", "--json", code=2)
    assert "Give either --json (the whole status)" in refused.stderr


def test_a_checkpoint_that_no_stream_has_used(here):
    refused = weft("query", "list", "job.yaml", code=2)
    assert "no stream has been started on this checkpoint yet" in refused.stderr
    refused = weft("query", "add", "job.yaml", f"-- name: a=b\n{TEN}", code=2)
    assert "no stream has been started" in refused.stderr
    assert not (here / "ck").exists()
