"""The drawings of the documentation exist, and the script that makes them runs."""

from __future__ import annotations

import re
import sys

import pytest

from pages import ROOT


def test_every_drawing_is_made_and_used(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import drawings

    made = {path.name for path in drawings.draw(tmp_path)}
    sys.modules.pop("drawings")
    committed = {path.name for path in (ROOT / "docs" / "img").glob("*.svg")}
    pages = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.md"))
    assert made == committed == set(re.findall(r"\]\(img/([^)/]+\.svg)\)", pages))
