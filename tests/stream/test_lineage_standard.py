"""The events are valid OpenLineage, by the classes that are generated from the standard."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from lineage_cases import all_kinds

from beside import environ, installed

pytestmark = pytest.mark.integration
CLIENT = "openlineage-python==1.54.0"


def held_against_the_standard(lines: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(Path(__file__).with_name("lineage_standard.py"))],
        input=lines,
        env=environ(installed(CLIENT)),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_events_of_every_kind_are_those_of_the_standard():
    events = all_kinds()
    done = held_against_the_standard("\n".join(map(json.dumps, events)))
    assert done.returncode == 0, done.stderr[-2000:]
    told = json.loads(done.stdout)
    assert told["events"] == len(events)
    assert told["facets"] == [
        "columnLineage", "errorMessage", "jobType", "ownership", "processing_engine", "schema",
        "sql",
    ]  # fmt: skip


@pytest.mark.parametrize("broken", ["runId", "fields", "namespace"])
def test_what_is_not_is_found(broken):
    text = json.dumps(all_kinds()[0]).replace(f'"{broken}"', '"other"', 1)
    assert held_against_the_standard(text).returncode != 0
