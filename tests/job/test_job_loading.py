"""A job file becomes a job: defaults, places, variables and secrets."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest

from weft.errors import JobError
from weft.job import job_on_table, load_job
from weft.job.document import read_text
from weft.job.streams import as_stream

JOB = """
source:
  format: csv
  path: in/trades.csv
  options: {header: true, maxFilesPerTrigger: 1, password: "${DB_PASSWORD}"}
queries:
  - name: big
    aggs: {n: count(*)}
    range: 12 minutes
    slide: 5 minutes
    by: symbol
  - sql: SELECT max(price) AS hi FROM trades GROUP BY window(at, '1 hour')
  - files: [more.sql, more.yaml]
sink: {kind: parquet, path: /data/out}
checkpoint: ck
spark: {spark.ui.enabled: false, spark.hadoop.fs.s3a.secret.key: hunter22}
"""
SECRETS = {"DB_PASSWORD": "open sesame"}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "more.sql").write_text(
        "-- name: low\nSELECT min(price) AS lo FROM trades GROUP BY window(at, '1 hour')"
    )
    (tmp_path / "more.yaml").write_text(
        "queries: [{name: all, aggs: {n: count(*)}, range: 1 minute}]"
    )
    path = tmp_path / "trades.yaml"
    path.write_text(JOB)
    return path


def test_a_job_is_read_with_its_defaults(file):
    job = load_job(file, SECRETS)
    assert job.name == "trades"
    assert [query.name for query in job.queries] == ["big", "q2", "low", "all"]
    assert job.source.time == "at"  # as the queries in SQL say
    assert job.source.options["header"] == "true"
    assert job.source.options["maxFilesPerTrigger"] == "1"
    assert (job.output_mode, job.trigger, job.adaptive) == ("append", None, False)


def test_one_file_of_queries_and_owners(file):
    """The owner that a query names overrides the one of its file's entry."""
    (file.parent / "more.sql").write_text(
        "SELECT min(p) AS lo FROM t GROUP BY window(at, '1 hour');\n-- owner: ann\n"
        "SELECT max(p) AS hi FROM t GROUP BY window(at, '1 hour');\n"
        "SELECT max(n) AS n FROM (SELECT window, k, count(*) AS n FROM t "
        "GROUP BY window(at, '1 hour'), k) GROUP BY window"
    )
    file.write_text(
        "source: {format: csv, path: in, time: at}\n"
        "queries:\n"
        "  - {files: more.sql, owner: bob}\n"
        "  - {name: a, aggs: {n: count(*)}, range: 1 hour, owner: eve}\n"
        "  - {name: b, owner: zoe, "
        "sql: \"SELECT max(p) AS hi FROM t GROUP BY window(at, '1 hour')\"}\n"
    )
    job = load_job(file, SECRETS, strict=False)
    owners = {query.name: query.owner for query in as_stream(job).queries}
    assert owners == {"q1": "bob", "q2": "ann", "q3": "bob", "a": "eve", "b": "zoe"}
    file.write_text("source: {format: csv, path: in}\nqueries: [{files: none.sql}]\n")
    with pytest.raises(JobError, match=r":2:19: queries\[1\].files='none.sql': .*cannot"):
        load_job(file, SECRETS)


def test_paths_start_at_the_file(file):
    job = load_job(file, SECRETS)
    assert job.locate(job.source.path[0]) == str(file.parent / "in/trades.csv")
    assert job.locate(job.sink.path) == "/data/out"
    assert job.locate("s3a://bucket/x") == "s3a://bucket/x"


def test_variables_are_filled_in_where_they_are_used_and_shown_nowhere(file):
    job = load_job(file, SECRETS)
    assert job.filled(job.source.options)["password"] == "open sesame"
    for shown in (json.dumps(job.to_dict()), repr(job.source)):
        assert "open sesame" not in shown
    shown = json.dumps(job.to_dict())
    assert "${DB_PASSWORD}" in shown
    assert "hunter22" not in shown
    message = "login failed: open sesame; key hunter22 is wrong"
    assert job.scrub(message) == "login failed: ***; key *** is wrong"


def test_variables_come_from_the_environment(file, monkeypatch):
    monkeypatch.setenv("DB_PASSWORD", "from the shell")
    job = load_job(file)
    assert job.filled(job.source.options)["password"] == "from the shell"


def test_yaml_that_surprises_is_read_as_it_looks():
    values = read_text("x", "a: 2024-01-01\nb: 1:30\nc: 1_000\nd: 0x10\ne: '5'\nno: 1").value
    assert values == {"a": "2024-01-01", "b": "1:30", "c": 1000, "d": 16, "e": "5", "no": 1}


@pytest.mark.parametrize("text", ["a: .inf", "a: !!python/object:os.system {}", "a: !x 1"])
def test_yaml_that_is_not_data_is_refused(text):
    with pytest.raises(JobError, match=r"x:1:4: a"):
        read_text("x", text)


def test_aliases_cannot_grow_without_bound():
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 9)]
    with pytest.raises(JobError, match="more than 100,000 values"):
        read_text("x", "\n".join(lines))


SQL = "SELECT count(*) AS n FROM t GROUP BY window(at, '1 hour')"


def test_a_file_of_queries_and_a_table_make_a_job(tmp_path):
    file = tmp_path / "queries.sql"
    file.write_text(SQL)
    job = job_on_table(file, "data/trades.csv.gz")
    assert (job.source.format, job.source.time) == ("csv", "at")
    assert job.source.options == {"header": "true", "inferSchema": "true"}
    assert job.locate(job.source.path[0]) == str(Path("data/trades.csv.gz").absolute())
    tabbed = job_on_table(file, "trades.tsv", options={"header": "false"})
    assert tabbed.source.options == {"header": "false", "inferSchema": "true", "sep": "\t"}
    assert job_on_table(file, "x${Y}", format="orc").locate("$${Y}") == str(Path("${Y}").absolute())


def test_the_files_of_a_folder_tell_its_format(tmp_path):
    file = tmp_path / "queries.sql"
    file.write_text(SQL)
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "part-0.parquet").touch()
    assert job_on_table(file, str(tmp_path / "rows")).source.format == "parquet"
    (tmp_path / "rows" / "other.csv").touch()
    with pytest.raises(JobError, match="give --format"):
        job_on_table(file, str(tmp_path / "rows"))


def test_queries_that_do_not_fit_a_stream_are_left_out_of_it(tmp_path):
    file = tmp_path / "queries.sql"
    other = SQL.replace("FROM t", "FROM u")
    file.write_text(f"{SQL}; {other}; {SQL.replace('at', 'ts')}; SELECT 1")
    job = job_on_table(file, "x.parquet", strict=False)
    assert [query.name for query in job.queries] == ["q1", "q2", "q3"]
    stream = as_stream(job)
    assert [query.name for query in stream.queries] == ["q1"]
    first, second, third = stream.refused
    assert "query 'q4': no SELECT of it groups rows by a window" in first
    assert "query 'q2' reads table 'u', and query 'q1' reads 't'; a stream has one" in second
    assert "query 'q3' has its windows over 'ts', and the time column is 'at'" in third
    with pytest.raises(JobError, match="'q2' reads table 'u'"):
        as_stream(job, strict=True)


def test_several_tables_have_their_own_sources(tmp_path):
    file = tmp_path / "queries.sql"
    file.write_text(f"{SQL}; {SQL.replace('FROM t', 'FROM u').replace('at', 'ts')}")
    job = job_on_table(file, {"t": "a.parquet", "u": "b.csv"})
    assert {name: one.format for name, one in job.tables.items()} == {"t": "parquet", "u": "csv"}
    assert [one.time for one in job.tables.values()] == ["at", "ts"]
    text = """sources:
      t: {format: parquet, path: a}
      u: {format: csv, path: b, watermark: 1 hour}
    queries: [{files: [queries.sql]}]"""
    (tmp_path / "job.yaml").write_text(dedent(f"    {text}"))
    loaded = load_job(tmp_path / "job.yaml")
    assert (loaded.source.format, list(loaded.tables)) == ("csv", ["t", "u"])
    (tmp_path / "bad.yaml").write_text(dedent(f"    {text}").replace("1 hour", "soon"))
    with pytest.raises(JobError, match=r"sources\.u\.watermark='soon'"):
        load_job(tmp_path / "bad.yaml")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("jdbc:db://h;user=ann;password=hunter22;x=1", "jdbc:db://h;user=ann;password=***;x=1"),
        ("https://ann:hunter22@host:8080/x", "https://ann:***@host:8080/x"),
        ("https://host:8080/x?accessKey=hunter22", "https://host:8080/x?accessKey=***"),
        ("jdbc:x?password=${DB_PASSWORD}", "jdbc:x?password=${DB_PASSWORD}"),
        ("host:9092,host2:9092", "host:9092,host2:9092"),
    ],
)  # fmt: skip
def test_a_secret_within_a_value_is_hidden_too(file, value, shown):
    job = replace(load_job(file, SECRETS), spark={"url": value})
    assert job.to_dict()["spark"] == {"url": shown}
    assert "hunter22" not in job.scrub(f"cannot open {value}")
