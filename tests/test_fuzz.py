"""A few seconds of `make fuzz`: any input gives a result or one of weft's own errors."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

SCRIPT = Path(__file__).parent.parent / "scripts" / "fuzz.py"


def test_a_few_seconds_without_a_crash(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    spec = importlib.util.spec_from_file_location("weft_fuzz", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.SCRATCH = tmp_path
    counts, crashes = module.fuzz(6.0, 0, tmp_path / "crashes")
    assert crashes == []
    for target in module.TARGETS:
        assert counts[f"{target}: refused"] > 0
