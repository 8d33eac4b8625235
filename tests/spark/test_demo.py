"""`weft demo` as a user runs it: a process of its own, from nothing to verified answers."""

import subprocess
import sys

import pytest


@pytest.mark.slow
def test_the_demo_plans_runs_and_verifies():
    done = subprocess.run(
        [sys.executable, "-m", "weft.cli", "demo", "--rows", "20000"],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "24 queries" in done.stdout
    assert "equal: 24 of 24 queries" in done.stdout
