"""`weft query add --lateness`: the request that the stream gets."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from weft.cli import query as query_module
from weft.cli.main import cli
from weft.query.query import Query
from weft.query.window import Window
from weft.stream.catalogue import Settings
from weft.stream.catalogue_files import CatalogueFiles
from weft.stream.evolve import first_catalogue
from weft.stream.planning import stream_plan

SQL = "SELECT count(*) AS n FROM trades GROUP BY window(ts, '10 minutes')"
JOB = """
source: {format: parquet, path: in, watermark: 1 minute}
queries: [{name: hourly, aggs: {n: count(*)}, range: 1 hour}]
sink: {kind: parquet, path: out}
checkpoint: ck
"""


@pytest.fixture(autouse=True)
def stopped_stream(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job.yaml").write_text(JOB)
    hourly = Query("hourly", aggs={"n": "count(*)"}, window=Window(range="1 hour"))
    settings = Settings("ts", "timestamp", "1 minute", (0,), 1, "append")
    files = CatalogueFiles(str(tmp_path / "ck"))
    files.write(first_catalogue(stream_plan([hourly]), settings))


@pytest.mark.parametrize(
    ("sql", "options", "minutes"),
    [
        (SQL, ["--lateness", "10 minutes"], 10),
        (f"-- lateness: 5 minutes\n{SQL}", [], 5),
        (f"-- lateness: 5 minutes\n{SQL}", ["--lateness", "20 minutes"], 20),
        (SQL, [], 0),
    ],
)
def test_the_option_and_the_comment(monkeypatch, sql, options, minutes):
    asked: list[Query] = []
    monkeypatch.setattr(
        query_module,
        "make",
        lambda _, changes, *__: asked.extend(Query.from_dict(one["query"]) for one in changes),
    )
    said = CliRunner().invoke(cli, ["query", "add", "job.yaml", sql, "--name", "ten", *options])
    assert said.exit_code == 0, said.output
    assert [query.lateness for query in asked] == [minutes * 60_000_000]


def test_what_is_no_duration_is_refused():
    said = CliRunner().invoke(
        cli, ["query", "add", "job.yaml", SQL, "--name", "ten", "--lateness", "soon"]
    )
    assert said.exit_code == 2
    assert "query 'ten': lateness='soon' is not a duration" in said.stderr
