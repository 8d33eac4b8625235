"""The driver killed again and again while queries come and go."""

from __future__ import annotations

import pytest

from tests.faults.chaos import chaos

pytestmark = pytest.mark.integration


def test_three_kills_lose_and_double_nothing(tmp_path):
    report = chaos(tmp_path / "chaos", kills=3, files=16)
    assert report.kills == 3
    assert report.rows > 200


def test_a_killed_executor_loses_and_doubles_nothing(tmp_path):
    report = chaos(tmp_path / "chaos", kills=0, executors=1, files=16)
    assert report.rows > 100
