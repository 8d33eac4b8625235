"""`weft stream --late-to DIR` means late: deliver; DIR is relative to the current directory."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest
from click.testing import CliRunner

import weft.spark.jobs
from weft.cli import stream as stream_module
from weft.cli.main import cli
from weft.job.model import Job

JOB = """
source: {format: parquet, path: trades, watermark: 30 seconds}
queries: [{name: hourly, aggs: {n: count(*)}, range: 1 hour}]
sink: {kind: parquet, path: out}
checkpoint: ck
"""


class Enough(Exception):
    """Raised once the job is known, to end the command."""


@pytest.mark.parametrize(
    ("more", "options", "expected"),
    [
        ("", [], ("count", None)),
        ("", ["--late-to", "lost"], ("deliver", "here/lost")),
        ("late: deliver\nlate_to: gone\n", [], ("deliver", "jobs/gone")),
        ("late: deliver\nlate_to: gone\n", ["--late-to", "lost"], ("deliver", "here/lost")),
    ],
)
def test_where_lost_rows_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: str, options: list[str], expected: tuple
) -> None:
    for name in ("jobs", "here"):
        (tmp_path / name).mkdir()
    (tmp_path / "jobs" / "job.yaml").write_text(JOB + more)
    monkeypatch.chdir(tmp_path / "here")
    seen: list[Job] = []

    def started(spark: object, job: Job, **more: object) -> None:
        seen.append(job)
        raise Enough

    monkeypatch.setattr(stream_module, "spark_for", lambda *_: nullcontext())
    monkeypatch.setattr(stream_module, "started", started)
    monkeypatch.setattr(weft.spark.jobs, "within_windows", lambda spark, job, **_: job)
    result = CliRunner().invoke(cli, ["stream", str(tmp_path / "jobs" / "job.yaml"), *options])
    assert seen, result.output
    late_to = seen[0].late_to and seen[0].locate(seen[0].late_to)
    assert (seen[0].late, late_to) == (
        expected[0],
        expected[1] and str(tmp_path / expected[1]),
    )
