"""Every minor version of PySpark that pyproject.toml allows: batch, stream, kill and restart."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark import __version__ as INSTALLED

from oldest_pyspark import LAKES, environ, oldest_version

pytestmark = pytest.mark.integration
DRIVE = Path(__file__).with_name("versions_drive.py")
EVERY = (oldest_version(), LAKES, "4.2.1", INSTALLED)
"""One release of each minor version; all other tests run on the newest."""


def command(act: str, folder: Path) -> list[str]:
    return [sys.executable, str(DRIVE), act, str(folder)]


@pytest.mark.parametrize(
    "version",
    [*EVERY[:-1], pytest.param(INSTALLED, marks=pytest.mark.nightly)],
)
def test_a_batch_a_stream_a_kill_and_a_restart(version, tmp_path):
    env = dict(os.environ) if version == INSTALLED else environ(version)
    victim = subprocess.Popen(
        command("stream", tmp_path),
        stdout=subprocess.PIPE,
        stderr=(tmp_path / "stream.err").open("w"),
        env=env,
        text=True,
        start_new_session=True,
    )
    assert victim.stdout is not None
    try:
        seen = next((line for line in victim.stdout if line.startswith("batch 1")), None)
        assert seen is not None, (tmp_path / "stream.err").read_text()[-3000:]
    finally:
        os.killpg(victim.pid, signal.SIGKILL)
        victim.wait(30)
        victim.stdout.close()
    done = subprocess.run(
        command("finish", tmp_path),
        env=env,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["spark"] == version
    assert told["operator"]
    assert told["rewrite"]
    assert told["went on from"] >= 1
    for name in ("five", "ten", "most"):
        assert told[name] == [0, 0]
        assert told[f"{name} answers"] > 5
