"""The driver is killed repeatedly while queries are added and dropped."""

from __future__ import annotations

import pytest

from tests.faults.chaos import chaos

pytestmark = pytest.mark.integration


def test_six_kills_lose_and_double_nothing(tmp_path):
    report = chaos(tmp_path / "chaos", kills=6, files=26)
    assert report.kills == 6
    assert report.rows > 200


def test_a_killed_executor_loses_and_doubles_nothing(tmp_path):
    report = chaos(tmp_path / "chaos", kills=0, executors=1, files=16)
    assert report.rows > 100
