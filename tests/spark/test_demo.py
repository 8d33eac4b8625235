"""`weft demo` as a user runs it: a process of its own, from nothing to verified answers."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.integration


def test_the_demo_streams_changes_and_verifies():
    done = subprocess.run(
        [sys.executable, "-m", "weft.cli", "demo", "--rows", "10000"],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "24 queries" in done.stdout
    assert "+ quarter_hour_range" in done.stdout
    assert "- odd_lots" in done.stdout
    assert "equal: 24 of 24 queries" in done.stdout
