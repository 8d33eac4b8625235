"""Every kind of mistake in a job file gives one message and exit code 2, and changes nothing.

`broken/<kind>.yaml` is the file, `broken/<kind>.txt` the message. The mistakes that only Spark can
find are in tests/spark/test_broken_on_spark.py.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from weft.cli import run as run_module
from weft.cli import stream as stream_module
from weft.cli.main import cli

BROKEN = Path(__file__).parent / "broken"
KINDS = sorted(path.stem for path in BROKEN.glob("*.yaml"))


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with the broken files, where Spark cannot be imported."""
    shutil.copytree(BROKEN, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)

    def no_spark(*_):
        raise AssertionError("Spark was started")

    monkeypatch.setattr(run_module, "spark_for", no_spark)
    monkeypatch.setattr(stream_module, "spark_for", no_spark)
    return tmp_path


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.*")}


def test_there_are_more_than_twenty_kinds():
    assert len(KINDS) > 40


@pytest.mark.parametrize("command", ["run", "stream"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_broken_job_is_one_message(here, kind, command):
    before = files(here)
    result = CliRunner().invoke(cli, [command, f"{kind}.yaml"])
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr == f"weft: {(BROKEN / f'{kind}.txt').read_text()}"
    assert "Traceback" not in result.stderr
    assert files(here) == before
    assert {path.name for path in here.iterdir()} == {path.name for path in BROKEN.iterdir()}


def test_a_mistake_is_named_with_its_place():
    for kind in KINDS:
        assert (BROKEN / f"{kind}.txt").read_text().startswith(f"{kind}.yaml:"), kind


def test_several_mistakes_are_told_at_once(here):
    (here / "job.yaml").write_text("source: {formt: csv}\nqueries: []\nplan: {rate: -1}\n")
    result = CliRunner().invoke(cli, ["run", "job.yaml"])
    places = [line.split(": ")[0] for line in result.stderr.removeprefix("weft: ").splitlines()]
    assert places == ["job.yaml:1:10", "job.yaml:2:10", "job.yaml:3:14"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "job.yaml: cannot be read (No such file or directory)"),
        (b"\xff\xfe", "job.yaml: is not UTF-8 text (byte 0)"),
    ],
)
def test_a_file_that_cannot_be_read(here, text, message):
    if text is not None:
        (here / "job.yaml").write_bytes(text)
    result = CliRunner().invoke(cli, ["run", "job.yaml"])
    assert (result.exit_code, result.stderr) == (2, f"weft: {message}\n")


def test_queries_alone_need_a_source(here):
    (here / "queries.sql").write_text("SELECT count(*) AS n FROM t GROUP BY window(ts, '1 hour')")
    result = CliRunner().invoke(cli, ["run", "queries.sql"])
    assert result.exit_code == 2
    assert "queries.sql: is not a job file" in result.stderr
    assert "--source" in result.stderr


def test_a_stream_says_what_it_lacks(here):
    (here / "job.yaml").write_text(
        "source: {format: rate}\nqueries: [{name: a, aggs: {n: count(*)}, range: 1 hour}]\n"
    )
    result = CliRunner().invoke(cli, ["stream", "job.yaml"])
    assert result.exit_code == 2
    told = [line.removeprefix("weft: ").split(": ")[:2] for line in result.stderr.splitlines()]
    lacking = ("checkpoint", "sink", "source.watermark")
    assert told == [["job.yaml:1:1", f"lacks {name}"] for name in lacking]
