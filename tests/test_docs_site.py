"""The site: its navigation lists all pages, links resolve, and it needs no network."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from pages import ROOT

DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))


def listed(nav: list[Any]) -> Iterator[str]:
    for entry in nav:
        if isinstance(entry, str):
            yield entry
        else:
            for below in entry.values():
                yield from listed(below) if isinstance(below, list) else [below]


def test_every_page_is_in_the_navigation_once() -> None:
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    assert sorted(listed(nav)) == [page.relative_to(DOCS).as_posix() for page in PAGES]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page) -> None:
    prose = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for link in re.findall(r"\]\(([^)#\s]+)", prose):
        if not link.startswith("https://"):
            assert (page.parent / link).exists(), link


def test_every_name_of_the_reference_is_there() -> None:
    names = re.findall(r"^::: (\S+)$", (DOCS / "api.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(names) >= 30
    for name in names:
        module, _, last = name.rpartition(".")
        if name == "weft.errors":
            continue
        assert hasattr(importlib.import_module(module), last), name


def test_the_reference_has_every_public_name() -> None:
    import weft

    text = (DOCS / "api.md").read_text(encoding="utf-8")
    for name in set(weft.__all__) - {"__version__", "WeftError"}:
        assert re.search(rf"^::: weft\.\S*\.{name}$", text, re.MULTILINE), name


@pytest.mark.slow
def test_it_is_built_without_warnings_and_loads_nothing_from_outside(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    done = subprocess.run(
        command,
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    built = sorted(tmp_path.rglob("*.html"))
    assert len(built) >= len(PAGES)
    for page in built:
        loaded = re.findall(
            r"<(?:script|img|iframe)[^>]*src=.https?://[^>]*>|<link[^>]*>", page.read_text()
        )
        outside = [tag for tag in loaded if "http" in tag and "canonical" not in tag]
        assert not outside, (page, outside)
