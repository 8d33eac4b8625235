"""The faults of `make chaos`, and the soak, in short form, each in a separate process."""

import subprocess
import sys

import pytest

from tests.faults.__main__ import FAMILIES
from tests.faults.chaos import ROOT

pytestmark = pytest.mark.integration
KILLS = {"kills", "executors"}
"""Covered by the tests of chaos itself."""


def _run(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *words], cwd=ROOT, capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def test_every_family_of_faults_ends_as_it_should() -> None:
    names = [name for name in FAMILIES if name not in KILLS]
    said = _run("tests.faults", "--short", "--seed", "3", "--only", *names)
    table = said[said.index("| family |") :]
    for name in names:
        assert f"| {name} |" in table


@pytest.mark.nightly
def test_soak_answers_as_batch_does_while_queries_come_and_go() -> None:
    said = _run("tests.faults.soak", "--minutes", "0.7")
    figures = said[said.index("Run on") :]
    assert "rows of answers equal to the batch answer" in figures
    assert " 0 changes of queries" not in figures
    assert "| slices held |" in figures
