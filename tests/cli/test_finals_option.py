"""`--finals` names a structure; an unknown name is refused before Spark starts."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from weft.cli.jobs import read_job
from weft.cli.main import cli

JOB = """
name: trades
source: {format: parquet, path: in, time: ts}
queries: [{name: n, aggs: {n: count(*)}, range: 1 hour}]
plan: {finals: daba}
"""


@pytest.fixture
def job(tmp_path: Path) -> Path:
    file = tmp_path / "job.yaml"
    file.write_text(JOB)
    return file


@pytest.mark.parametrize("command", ["run", "verify", "explain", "stream"])
def test_a_structure_that_is_none_is_told(job: Path, command: str) -> None:
    told = CliRunner().invoke(cli, [command, str(job), "--finals", "flatfitt"])
    assert told.exit_code == 2
    assert "did you mean 'flatfit'?" in told.output


def test_the_option_goes_before_the_job(job: Path) -> None:
    context = click.Context(click.Command("run"))
    assert read_job(context, job).plan["finals"] == "daba"
    assert read_job(context, job, finals="shift").plan["finals"] == "shift"
