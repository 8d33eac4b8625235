"""`weft stream --idle` overrides the job's own; a wrong duration is refused before Spark starts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from weft.cli import stream
from weft.cli.main import cli

JOB = """
source: {format: parquet, path: in, time: ts, watermark: 1 minute}
queries: [{name: n, aggs: {n: count(*)}, range: 1 hour}]
sink: {kind: console}
checkpoint: ck
idle: 5 minutes
"""


@pytest.fixture
def job(tmp_path: Path) -> str:
    file = tmp_path / "job.yaml"
    file.write_text(JOB)
    return str(file)


@pytest.mark.parametrize(
    ("given", "said"),
    [("never", "also accepted is 'off'"), ("0 seconds", "idle='0 seconds': must be positive")],
)
def test_what_is_no_duration_is_told(job: str, given: str, said: str) -> None:
    told = CliRunner().invoke(cli, ["stream", job, "--idle", given])
    assert told.exit_code == 2
    assert said in told.output


@pytest.mark.parametrize(
    ("options", "idle"),
    [([], "5 minutes"), (["--idle", "10 seconds"], "10 seconds"), (["--idle", "off"], "off")],
)
def test_the_option_goes_before_the_job(
    job: str, options: list[str], idle: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str | None] = []

    @contextmanager
    def reached(ctx: Any, job: Any) -> Iterator[None]:
        asked.append(job.idle)
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr(stream, "spark_for", reached)
    CliRunner().invoke(cli, ["stream", job, *options])
    assert asked == [idle]
