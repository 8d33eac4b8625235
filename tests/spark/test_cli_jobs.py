"""`weft explain`, `run`, `verify` and `doctor`: what a user sees."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from cli_cases import SQL, write_trades
from click.testing import CliRunner
from engines import bag
from pyspark.sql import types as T

from weft.cli.main import cli
from weft.spark.jobs import messages
from weft.spark.verify import statements


@pytest.fixture
def here(tmp_path: Path, monkeypatch, spark) -> Path:
    write_trades(tmp_path / "trades.parquet")
    (tmp_path / "queries.sql").write_text(SQL)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def weft(*args: str, code: int = 0):
    result = CliRunner().invoke(cli, args, env={"COLUMNS": "100"})
    assert result.exit_code == code, result.output
    return result


def test_a_file_of_sql_and_a_table_two_commands_and_no_python(here, spark):
    shown = weft("run", "queries.sql", "--source", "trades.parquet", "--out", "answers")
    assert "hourly_hi" in shown.stdout
    assert "rows of 3 queries in" in shown.stdout
    spark.read.parquet(str(here / "trades.parquet")).createOrReplaceTempView("trades")
    for name, statement in zip(("hourly_hi", "volume", "q3"), SQL.split(";"), strict=False):
        expected = spark.sql(statement)
        found = spark.read.parquet(str(here / "answers" / name))
        assert found.columns == expected.columns
        assert bag(found.collect()) == bag(expected.collect()), name
    verified = weft("verify", "queries.sql", "--source", "trades.parquet")
    assert "equal: 3 of 3 queries" in verified.stdout
    assert verified.stderr == ""


def test_answers_are_not_overwritten_unless_asked(here):
    args = ("run", "queries.sql", "--source", "trades.parquet", "--out", "answers")
    weft(*args)
    refused = weft(*args, code=2)
    assert "answers/hourly_hi is there already; --overwrite replaces it" in refused.stderr
    weft(*args, "--overwrite")


def test_without_a_sink_the_first_rows_are_shown(here):
    shown = weft("run", "queries.sql", "--source", "trades.parquet").stdout
    assert shown.count("2023-11-14 2") >= 15
    assert "written to" not in shown
    few = json.loads(
        weft("run", "queries.sql", "--source", "trades.parquet", "--show", "2", "--json").stdout
    )
    assert [len(query["first"]) for query in few["queries"]] == [2, 2, 2]
    assert few["queries"][2]["rows"] == 13
    assert not {path.name for path in here.iterdir()} - {"trades.parquet", "queries.sql"}


@pytest.mark.parametrize("kind", ["parquet", "long", "memory", "console"])
def test_a_job_writes_to_its_sink(here, spark, kind):
    path = ", path: out" if kind in ("parquet", "long") else ""
    (here / "job.yaml").write_text(
        "source: {format: parquet, path: trades.parquet}\nqueries: [{files: [queries.sql]}]\n"
        f"sink: {{kind: {kind}{path}}}\nplan: {{strategy: weave}}\n"
    )
    told = json.loads(weft("run", "job.yaml", "--json").stdout)
    counts = {query["query"]: query["rows"] for query in told["queries"]}
    assert counts["q3"] == 13
    assert min(counts.values()) > 0
    if kind == "parquet":
        assert spark.read.parquet(str(here / "out/volume")).count() == counts["volume"]
    if kind == "long":
        assert spark.read.parquet(str(here / "out")).count() == sum(counts.values())


def test_explain_shows_the_plan_and_how_it_runs_and_runs_nothing(here):
    (here / "job.yaml").write_text(
        "source: {format: parquet, path: trades.parquet, options: {password: hunter2}}\n"
        "queries: [{files: [queries.sql]}]\nsink: {kind: parquet, path: out}\n"
    )
    shown = weft("explain", "job.yaml").stdout
    assert "job job: 3 queries on parquet trades.parquet, time ts" in shown
    assert "answers to parquet out" in shown
    assert "run: tree 1 as" in shown
    told = weft("explain", "job.yaml", "--json").stdout
    assert json.loads(told)["job"]["source"]["options"] == {"password": "***"}
    assert "hunter2" not in shown + told
    assert not (here / "out").exists()


def test_explain_of_a_stream(here):
    (here / "job.yaml").write_text(
        "source: {format: rate, time: timestamp, watermark: 1 minute}\n"
        "queries: [{name: a, aggs: {n: count(*)}, range: 1 minute}]\n"
        "sink: {kind: memory}\ncheckpoint: ck\n"
    )
    shown = weft("explain", "job.yaml").stdout
    assert "run: a new stream, by the operator engine" in shown
    assert f"watermark 1 minute; append; checkpoint {here / 'ck'}" in shown
    assert not (here / "ck").exists()


def test_an_answer_that_differs_ends_with_exit_code_1(here, monkeypatch):
    honest = statements.verify

    def lies(*args):
        report = honest(*args)
        first, *rest = report.differences
        return replace(report, differences=(replace(first, missing=1), *rest))

    monkeypatch.setattr(statements, "verify", lies)
    args = ("verify", "queries.sql", "--source", "trades.parquet")
    assert "NOT EQUAL: 2 of 3 queries" in weft(*args, code=1).stdout
    told = json.loads(weft(*args, "--json", code=1).stdout)
    assert [query["ok"] for query in told["queries"]] == [False, True, True]


def test_a_csv_and_its_options(here, spark):
    frame = spark.read.parquet(str(here / "trades.parquet")).coalesce(1)
    frame.write.option("header", True).option("sep", ";").csv(str(here / "rows"))
    args = ("verify", "queries.sql", "--source", "rows", "--option", "sep=;", "--json")
    assert json.loads(weft(*args).stdout)["ok"]


def test_the_doctor_finds_what_the_tests_run_on(here):
    told = json.loads(weft("doctor", "--json").stdout)
    assert told["ok"]
    names = {check["name"]: check["state"] for check in told["checks"]}
    assert names["RocksDB state store"] == "ok"
    assert names["Java module jdk.incubator.vector"] == "ok"
    assert "weft can run here" in weft("doctor").stdout


def test_the_doctor_looks_for_a_jobs_connectors(here):
    (here / "job.yaml").write_text(
        "source: {format: kafka, options: {kafka.bootstrap.servers: h, subscribe: t}}\n"
        "queries: [{files: [queries.sql]}]\ncheckpoint: ck\n"
    )
    shown = weft("doctor", "job.yaml", code=1).stdout
    assert "missing connector kafka: not on the class path" in shown
    assert "connectors: [kafka]" in " ".join(shown.split())
    assert "disk for the checkpoint" in shown


def test_the_messages_of_a_kafka_source_become_rows(spark):
    schema = T.StructType.fromDDL("ts TIMESTAMP, symbol STRING, price DOUBLE")
    sent = [b'{"ts": "2024-01-01T00:00:00Z", "symbol": "a", "price": 1.5}', b"not JSON"]
    frame = spark.createDataFrame([(bytearray(value),) for value in sent], "value binary")
    rows = messages(frame, schema).selectExpr("unix_seconds(ts)", "symbol", "price").collect()
    assert [tuple(row) for row in rows] == [(1704067200, "a", 1.5), (None, None, None)]


def test_a_query_that_fails_fails_alone(here, spark):
    """In a batch, too, the others' answers are complete, and the exit code reports the failure."""
    bad = "SELECT sum(CAST(symbol AS INT)) AS s FROM trades GROUP BY window(ts, '10 minutes');"
    (here / "queries.sql").write_text(f"-- name: bad\n{bad}\n{SQL}")
    args = ("run", "queries.sql", "--source", "trades.parquet", "--out")
    shown = weft(*args, "answers", code=1)
    assert "query 'bad' failed: [CAST_INVALID_INPUT]" in shown.stderr
    assert "1 of 4 queries failed; the others are complete" in shown.stderr
    (here / "queries.sql").write_text(SQL)
    weft(*args, "expected")
    for name in ("hourly_hi", "volume"):
        found, expected = (
            spark.read.parquet(str(here / f / name)) for f in ("answers", "expected")
        )
        assert found.exceptAll(expected).count() == expected.exceptAll(found).count() == 0
        assert found.count() > 0


def test_a_file_runs_whole(here, spark):
    """Statements that can share do, the others run unchanged, and one that fails stops no other."""
    beside = "-- name: latest\nSELECT symbol, price FROM trades ORDER BY ts DESC, price LIMIT 3;"
    wrong = "-- name: wrong\nSELECT reflect('java.lang.System', 'exit', 1) FROM trades;"
    ranked = """-- name: ranked
SELECT window.start AS since, symbol, sum(volume) AS v FROM shop.trades
GROUP BY window(ts, '30 minutes'), symbol
QUALIFY rank() OVER (PARTITION BY window ORDER BY v DESC) = 1 ORDER BY since DESC LIMIT 2;"""
    (here / "queries.sql").write_text("\n".join((SQL, beside, ranked, wrong)))
    args = ("run", "queries.sql", "--source", "trades.parquet")
    shown = weft(*args, "--out", "answers", code=1)
    assert "rows of 5 queries in" in shown.stdout
    assert (
        "latest runs as it is on plain Spark: no SELECT of it groups rows by a window"
        in shown.stderr
    )
    assert "and as it is: reflect runs code of the JVM" in shown.stderr
    assert "1 of 6 queries failed; the others are complete" in shown.stderr
    spark.read.parquet(str(here / "trades.parquet")).createOrReplaceTempView("trades")
    for name, text in (("latest", beside), ("ranked", ranked.replace("shop.", ""))):
        found = spark.read.parquet(str(here / "answers" / name))
        expected = spark.sql(text.rstrip(";"))
        assert found.schema.names == expected.schema.names
        assert sorted(map(tuple, found.collect())) == sorted(map(tuple, expected.collect()))
        assert found.count() > 1
    told = json.loads(weft(*args, "--json", code=1).stdout)
    how = {one["query"]: one["how"] for one in told["queries"]}
    assert (how["volume"], how["latest"], how["ranked"]) == (
        "shared",
        "as it is",
        "shared, then SQL",
    )
    strict = weft(*args, "--strict", code=2)
    assert "queries.sql: query 'wrong': no SELECT of it groups rows" in strict.stderr
    verified = json.loads(weft("verify", *args[1:], "--json", code=1).stdout)
    assert verified["ok"]
    assert (list(verified["as they are"]), list(verified["failed"])) == (["latest"], ["wrong"])
    assert [query["name"] for query in verified["queries"]][-1] == "ranked"
    explained = weft("explain", *args[1:]).stdout
    assert "then Spark SQL over the answers: ranked" in explained


def test_several_tables(here, spark):
    names = spark.createDataFrame([("s0", "zero"), ("s1", "one")], "symbol string, name string")
    names.write.parquet(str(here / "names.parquet"))
    (here / "queries.sql").write_text(
        "-- name: a\nSELECT n.name, window.start AS since, count(*) AS n FROM trades t\n"
        "JOIN names n ON t.symbol = n.symbol WHERE t.volume > 10\n"
        "GROUP BY window(t.ts, '20 minutes'), n.name;\n"
        "-- name: b\nSELECT count(*) AS n FROM names;\n"
    )
    args = ("queries.sql", "--source", "trades=trades.parquet", "--source", "names=names.parquet")
    verified = json.loads(weft("verify", *args, "--json").stdout)
    assert verified["ok"]
    assert (verified["rows"] > 5, list(verified["as they are"])) == (True, ["b"])
    lacking = weft("run", *args[:3], code=2).stderr
    assert "query 'a': it reads 'names', which is no table of its source; there is" in lacking
    plan = weft("plan", "queries.sql")
    assert "b runs as it is" in plan.stderr
