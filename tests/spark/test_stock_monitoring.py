"""The SIGMOD'06 template runs and agrees: trades joined with closing prices and membership."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

EXAMPLE = Path(__file__).parents[2] / "examples" / "stock_monitoring.py"


@pytest.mark.slow
def test_the_example_agrees_with_plain_spark(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = importlib.util.spec_from_file_location("stock_monitoring", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    monkeypatch.setattr(sys, "argv", ["stock_monitoring", "--rows", "3000", "--rules", "9"])
    assert example.main() == 0
    shown = capsys.readouterr().out
    assert "equal: 10 of 10 queries" in shown
    assert "large_caps" in shown
